from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.folds import CrossFit, align_folds, cross_fit
from capsieve.learned.training.trainer import GraphPart, Tell
from capsieve.statistics.judged import POLYP
from learned.made_examples import made_examples

EXAMPLES = made_examples(groups=12)
PART = np.where(EXAMPLES.source == 0, EXAMPLES.group % 4, -1)
SHOWN = EXAMPLES.truth == POLYP


def quiet(what: str, done: int, of: int) -> None:
    pass


@dataclass
class Remembering:
    """Its logit tells which folds it learned from, as bits."""

    name: str = "remembering"
    looks_at: frozenset[str] = frozenset()
    bits: int = 0

    def fit(
        self, examples: Examples, chosen: NDArray[np.int64], *, seed: int, folder: Path, tell: Tell
    ) -> "Remembering":
        return Remembering(bits=sum(1 << int(fold) for fold in np.unique(PART[chosen])))

    def logits(self, examples: Examples, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.full(len(chosen), float(self.bits))

    def graph(self, prefix: str) -> GraphPart:
        raise NotImplementedError


def fit(*, nested: bool, folder: Path, part: NDArray[np.int64] = PART) -> CrossFit:
    return cross_fit(
        Remembering(), EXAMPLES, part, seed=0, folder=folder, tell=quiet, nested=nested
    )


def test_no_model_scores_a_fold_that_it_learned_from(tmp_path: Path) -> None:
    found = fit(nested=True, folder=tmp_path)
    assert found.inner is not None
    for fold in range(4):
        here = np.equal(PART, fold)
        assert (found.logits[here] == 0b1111 - (1 << fold)).all()
        for other in range(4):
            if other == fold:
                assert np.isnan(found.inner[here, other]).all()
            else:
                expected = 0b1111 - (1 << fold) - (1 << other)
                assert (found.inner[here, other] == expected).all()
    assert np.isnan(found.logits[PART < 0]).all()


def test_every_fit_has_a_folder_of_its_own(tmp_path: Path) -> None:
    fit(nested=True, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4 + 6


def test_folds_of_different_scale_are_brought_together() -> None:
    chance = np.random.default_rng(0)
    evidence = chance.normal(size=len(EXAMPLES)) + 1.5 * SHOWN
    scale, shift = np.array([1.0, 5.0, 0.2, 30.0]), np.array([0.0, 10.0, -3.0, 50.0])
    # The models without fold k, and without k and another, have the scale of k.
    inner = evidence[:, None] * scale + shift
    inner[np.arange(len(PART)), PART] = np.nan
    logits = np.where(PART >= 0, evidence * scale[PART] + shift[PART], np.nan)
    aligned, maps = align_folds(CrossFit(logits, inner), EXAMPLES, PART)
    used = PART >= 0
    assert np.corrcoef(aligned[used], evidence[used])[0, 1] > 0.99
    assert all(platt.slope > 0 for platt in maps.values())


def test_a_fold_has_no_say_in_its_own_scale() -> None:
    chance = np.random.default_rng(0)
    inner = chance.normal(size=(len(EXAMPLES), 4)) + SHOWN[:, None]
    _, before = align_folds(CrossFit(inner[:, 0], inner), EXAMPLES, PART)
    changed = np.where((PART == 1)[:, None], -inner, inner)
    _, after = align_folds(CrossFit(changed[:, 0], changed), EXAMPLES, PART)
    assert before[1] == after[1]
    assert before[0] != after[0]


def test_a_group_in_two_folds_is_refused(tmp_path: Path) -> None:
    part = PART.copy()
    part[0] = 3
    with pytest.raises(ParameterError, match="group stands in two"):
        fit(nested=False, folder=tmp_path, part=part)


def test_folds_on_one_scale_need_a_nested_fit(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="nested"):
        align_folds(fit(nested=False, folder=tmp_path), EXAMPLES, PART)
