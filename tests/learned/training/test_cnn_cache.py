from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.learned.network.architecture import layers_of, lower_blocks
from capsieve.learned.network.graph import lower_graph
from capsieve.learned.network.running import Runner, as_input
from capsieve.learned.training.augmentation import Augmentation, augment
from capsieve.learned.training.cnn_cache import LowerFeatures, fill_cache, plan_cache
from capsieve.learned.training.cnn_settings import NetworkSettings
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from learned.training.disc_frames import disc_frames

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

FRAMES = disc_frames(24)
SETTINGS = NetworkSettings(
    size=64, frozen=0, polyp_versions=5, normal_versions=3, other_versions=2, threads=1
)


def stem_weights(seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Return drawn weights of the stem, the one layer below the first bottleneck."""
    assert [layer.name for layer in layers_of(lower_blocks(0))] == ["stem"]
    rng = np.random.default_rng(seed)
    shapes = {"weight": (32, 3, 3, 3), "gamma": 32, "beta": 32, "mean": 32}
    drawn = {f"stem.{kind}": rng.normal(0, 0.3, shape) for kind, shape in shapes.items()}
    drawn["stem.deviation"] = np.ones(32)
    return {name: array.astype(np.float32) for name, array in drawn.items()}


WEIGHTS = stem_weights()
PLAN = plan_cache(FRAMES, SETTINGS, WEIGHTS)


def silent(_what: str, _done: int, _total: int) -> None:
    """Say nothing."""


def filled(folder: Path) -> LowerFeatures:
    return fill_cache(PLAN, FRAMES, SETTINGS, WEIGHTS, folder=folder, tell=silent)


def test_each_kind_has_its_versions_and_foreign_frames_none() -> None:
    foreign = FRAMES.source == 1
    assert (PLAN.versions[foreign] == 0).all()
    for kind, versions in ((POLYP, 5), (NORMAL, 3), (OTHER, 2)):
        assert (PLAN.versions[(FRAMES.truth == kind) & ~foreign] == versions).all()
    assert PLAN.total == PLAN.first[-1] + PLAN.versions[-1]


def test_foreign_and_unlabelled_frames_have_what_batches_draw() -> None:
    truth = FRAMES.truth.copy()
    truth[0] = UNLABELLED
    settings = replace(SETTINGS, foreign=0.2, foreign_versions=2)
    plan = plan_cache(replace(FRAMES, truth=truth), settings, WEIGHTS)
    assert plan.versions[0] == 0
    assert (plan.versions[FRAMES.source == 1] == 2).all()


def test_stored_features_are_those_of_the_versions(tmp_path: Path) -> None:
    stored = filled(tmp_path).stored
    assert stored.shape == (PLAN.total, 32, 32, 32)
    assert FRAMES.crops is not None
    run = Runner(lower_graph(WEIGHTS, 0))
    for frame, number in ((0, 2), (20, 0)):
        version = augment(FRAMES.crops[frame], np.random.default_rng([0, frame, number]))
        expected = run(as_input(version[None]))[0][0]
        found = stored[PLAN.first[frame] + number]
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.4, 0.9999])
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path, share: float) -> None:
    filled(tmp_path / "whole")
    (whole,) = (tmp_path / "whole").glob("lower-*.npy")
    content = whole.read_bytes()
    (tmp_path / "killed").mkdir()
    killed = tmp_path / "killed" / whole.name
    killed.write_bytes(content[: int(share * len(content))])
    filled(tmp_path / "killed")
    assert killed.read_bytes() == content


def test_a_full_cache_is_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = filled(tmp_path)
    monkeypatch.setattr("capsieve.learned.training.cnn_cache.augment", None)
    assert np.array_equal(filled(tmp_path).stored, first.stored)


def test_progress_goes_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    fill_cache(
        PLAN, FRAMES, SETTINGS, WEIGHTS, folder=tmp_path,
        tell=lambda _, done, total: told.append((done, total)),
    )  # fmt: skip
    assert told[0] == (0, PLAN.total)
    assert told[-1] == (PLAN.total, PLAN.total)
    assert told == sorted(told)


def test_draws_are_of_the_frame_and_of_all_its_versions(tmp_path: Path) -> None:
    lower = filled(tmp_path)
    rows = np.full(60, 1)
    found = lower.draw(rows, np.random.default_rng(0))
    assert found.dtype == np.float32
    begin = PLAN.first[1]
    versions = lower.stored[begin : begin + PLAN.versions[1]].astype(np.float32)
    which = [int(np.flatnonzero((versions == one).all((1, 2, 3)))[0]) for one in found]
    assert set(which) == set(range(int(PLAN.versions[1])))


def test_the_key_depends_on_frames_settings_and_weights() -> None:
    assert FRAMES.crops is not None
    crops = FRAMES.crops.copy()
    crops[3, 5, 5, 1] ^= 1
    keys = {
        plan.key
        for plan in (
            PLAN,
            plan_cache(replace(FRAMES, crops=crops), SETTINGS, WEIGHTS),
            plan_cache(FRAMES, replace(SETTINGS, polyp_versions=4), WEIGHTS),
            plan_cache(FRAMES, replace(SETTINGS, augmentation=Augmentation(shift=0.1)), WEIGHTS),
            plan_cache(FRAMES, replace(SETTINGS, augmentation_seed=1), WEIGHTS),
            plan_cache(FRAMES, SETTINGS, stem_weights(1)),
        )
    }
    assert len(keys) == 6


def test_the_key_does_not_depend_on_the_steps() -> None:
    assert plan_cache(FRAMES, replace(SETTINGS, steps=7, rate=0.1), WEIGHTS).key == PLAN.key


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FileError, match="cannot keep features"):
        filled(tmp_path / "file")
