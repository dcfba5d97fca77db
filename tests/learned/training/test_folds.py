import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.folds import CrossFit, align_folds
from capsieve.statistics.judged import POLYP
from learned.made_examples import made_examples

EXAMPLES = made_examples(groups=12)
PART = np.where(EXAMPLES.source == 0, EXAMPLES.group % 4, -1)
SHOWN = EXAMPLES.truth == POLYP


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


def test_folds_on_one_scale_need_a_nested_fit() -> None:
    with pytest.raises(ParameterError, match="nested"):
        align_folds(CrossFit(np.zeros(len(EXAMPLES)), None), EXAMPLES, PART)
