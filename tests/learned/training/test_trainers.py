from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.forest import ForestTrainer
from capsieve.learned.training.libraries import one_thread
from capsieve.learned.training.registry import TRAINERS
from capsieve.learned.training.svm import SvmTrainer
from capsieve.learned.training.trainer import Fitted, Trainer
from capsieve.statistics.judged import POLYP
from learned.made_examples import made_examples
from learned.training.running import run_part

EXAMPLES = made_examples()
TRAINED = np.flatnonzero(EXAMPLES.group < 6)
TESTED = np.flatnonzero((EXAMPLES.group >= 6) & (EXAMPLES.source == 0))
SMALL: dict[str, Trainer] = {
    "svm": SvmTrainer(),
    "forest": ForestTrainer(trees=40),
}


def quiet(what: str, done: int, of: int) -> None:
    pass


def fitted(name: str, folder: Path, *, seed: int = 0, rows: NDArray[np.int64] = TRAINED) -> Fitted:
    return SMALL[name].fit(EXAMPLES, rows, seed=seed, folder=folder, tell=quiet)


def area(logits: np.ndarray, polyp: np.ndarray) -> float:
    return float(np.mean(logits[polyp][:, None] > logits[~polyp][None]))


@pytest.mark.parametrize("name", SMALL)
def test_polyps_of_other_exams_are_told_apart(name: str, tmp_path: Path) -> None:
    logits = fitted(name, tmp_path).logits(EXAMPLES, TESTED)
    # Two features that are one deviation higher: 0.84 at best.
    assert 0.7 < area(logits, EXAMPLES.truth[TESTED] == POLYP) < 0.95


@pytest.mark.parametrize("name", SMALL)
def test_onnxruntime_agrees_with_the_model(name: str, tmp_path: Path) -> None:
    model = fitted(name, tmp_path)
    chance = np.random.default_rng(9)
    values = chance.normal(size=(500, EXAMPLES.values.shape[1])).astype(np.float32)
    values *= chance.choice([0.1, 1.0, 100.0, 1e6], size=values.shape).astype(np.float32)
    examples = replace(made_examples(groups=10, per_group=50), values=values)
    expected = model.logits(examples, np.arange(500))
    np.testing.assert_allclose(run_part(model.graph("m_"), values), expected, atol=2e-5, rtol=1e-5)


def test_values_at_a_threshold_go_the_same_way(tmp_path: Path) -> None:
    model = fitted("forest", tmp_path)
    part = model.graph("m_")
    by_name = {attribute.name: attribute for attribute in part.nodes[0].attribute}
    features = np.array(by_name["nodes_featureids"].ints)
    thresholds = np.array(by_name["nodes_values"].floats, dtype=np.float32)
    inner = np.array(by_name["nodes_modes"].strings) == b"BRANCH_LEQ"
    values = np.repeat(EXAMPLES.values[:1], 3 * inner.sum(), axis=0)
    at = thresholds[inner]
    up, down = np.float32(np.inf), np.float32(-np.inf)
    placed = np.concatenate([np.nextafter(at, down), at, np.nextafter(at, up)])
    values[np.arange(len(values)), np.tile(features[inner], 3)] = placed
    examples = replace(EXAMPLES, values=values)
    expected = model.logits(examples, np.arange(len(values)))
    assert len(np.unique(expected)) > 10
    np.testing.assert_allclose(run_part(part, values), expected, atol=2e-5)


@pytest.mark.parametrize("name", SMALL)
def test_the_same_seed_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    first, second = (fitted(name, tmp_path, seed=5).graph("m_") for _ in range(2))
    assert [node.SerializeToString() for node in first.nodes] == [
        node.SerializeToString() for node in second.nodes
    ]
    assert [tensor.SerializeToString() for tensor in first.weights] == [
        tensor.SerializeToString() for tensor in second.weights
    ]


def test_another_seed_gives_another_model(tmp_path: Path) -> None:
    first, second = (fitted("forest", tmp_path, seed=seed) for seed in (1, 2))
    assert not np.array_equal(first.logits(EXAMPLES, TESTED), second.logits(EXAMPLES, TESTED))


@pytest.mark.parametrize("name", SMALL)
def test_a_source_without_polyps_does_not_change_the_model(name: str, tmp_path: Path) -> None:
    square = np.flatnonzero(EXAMPLES.source == 1)
    alone = fitted(name, tmp_path).logits(EXAMPLES, TESTED)
    beside = fitted(name, tmp_path, rows=np.concatenate([TRAINED, square]))
    np.testing.assert_array_equal(alone, beside.logits(EXAMPLES, TESTED))


@pytest.mark.parametrize("name", SMALL)
def test_too_little_to_learn_from_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="too few"):
        fitted(name, tmp_path, rows=TRAINED[:90])


def test_support_vectors_are_bounded(tmp_path: Path) -> None:
    model = SvmTrainer(frames=120).fit(EXAMPLES, TRAINED, seed=0, folder=tmp_path, tell=quiet)
    (vectors,) = (w for w in model.graph("m_").weights if w.name == "m_vectors")
    assert vectors.dims[1] <= 120
    assert area(model.logits(EXAMPLES, TESTED), EXAMPLES.truth[TESTED] == POLYP) > 0.7


def test_every_trainer_has_its_name() -> None:
    assert {name: make().name for name, make in TRAINERS.items()} == {n: n for n in TRAINERS}


def test_training_keeps_to_one_thread() -> None:
    from threadpoolctl import threadpool_info

    with one_thread():
        assert {library["num_threads"] for library in threadpool_info()} == {1}
