"""Calibration and fusion of out-of-fold logits."""

import numpy as np
import pytest

from capsieve.engine.training_folds import OutOfFold
from capsieve.engine.training_join import join
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.folds import CrossFit

COUNT = 6000
FOLDS = 3


@pytest.fixture(scope="module")
def drawn():
    """Return examples whose log-odds are known: N(+1, 1) against N(-1, 1) has log-odds 2 x."""
    rng = np.random.default_rng(0)
    truth = (np.arange(COUNT) % 2).astype(np.int8)
    x = rng.normal(np.where(truth, 1.0, -1.0), 1.0)
    group = np.arange(COUNT) // 100
    nothing = np.full(COUNT, -1, np.int32)
    examples = Examples(
        truth=truth,
        groups=tuple(map(str, range(COUNT // 100))),
        group=group.astype(np.int32),
        sources=("one",),
        source=np.zeros(COUNT, np.int32),
        polyps=(),
        polyp=nothing,
        findings=(),
        finding=nothing,
        value_names=(),
        values=np.zeros((COUNT, 0), np.float32),
    )
    return examples, (group % FOLDS).astype(np.int16), x


def scored(logits, part, *, nested):
    inner = None
    if nested:
        inner = np.repeat(logits[:, None], FOLDS, axis=1)
        inner[np.arange(len(part)), part] = np.nan
    return OutOfFold(CrossFit(logits, inner), np.zeros(0))


@pytest.mark.parametrize("nested", [False, True])
def test_one_model_gets_the_scale_of_its_log_odds(drawn, nested):
    examples, part, x = drawn
    joined = join([scored(5 * x + 3, part, nested=nested)], examples, part)
    assert joined.nested is nested
    assert joined.weights[0] == pytest.approx(2 / 5, rel=0.05)
    assert joined.intercept == pytest.approx(-3 * 2 / 5, abs=0.1)
    assert np.abs(joined.probability - 1 / (1 + np.exp(-2 * x))).max() < 0.03


@pytest.mark.parametrize("nested", [False, True])
def test_folds_of_other_scales_are_put_on_one_where_nested_fits_tell_it(drawn, nested):
    examples, part, x = drawn
    scale = 1.0 + 2.0 * part
    fit = scored(x * scale, part, nested=nested)
    if nested:
        # What a fit without fold k says of the others has the scale of fold k's own fit.
        inner = x[:, None] * (1.0 + 2.0 * np.arange(FOLDS))
        inner[np.arange(COUNT), part] = np.nan
        fit = OutOfFold(CrossFit(fit.fit.logits, inner), fit.weighing)
    found = join([fit], examples, part).probability
    far = np.abs(found - 1 / (1 + np.exp(-2 * x))).max()
    assert bool(far < 0.05) is nested


def test_a_model_that_knows_nothing_gets_no_weight(drawn):
    examples, part, x = drawn
    noise = np.random.default_rng(1).normal(size=COUNT)
    fits = [scored(column, part, nested=False) for column in (x, noise)]
    knowing, ignorant = join(fits, examples, part).weights
    assert knowing == pytest.approx(2.0, rel=0.1)
    assert abs(ignorant) < 0.1


def test_two_views_of_one_thing_are_better_than_each(drawn):
    examples, part, x = drawn
    rng = np.random.default_rng(2)
    views = [x + rng.normal(0, 1, COUNT) for _ in range(2)]

    def loss(columns):
        fits = [scored(column, part, nested=True) for column in columns]
        p = join(fits, examples, part).probability
        return -np.log(np.where(examples.truth, p, 1 - p)).mean()

    assert loss(views) < min(loss(views[:1]), loss(views[1:])) - 0.02


def test_a_nested_fusion_of_a_fold_uses_nothing_that_saw_it(drawn):
    """Scores of the other folds by models that learned from the fold may be anything."""
    examples, part, x = drawn
    rng = np.random.default_rng(3)
    views = [x + rng.normal(0, 1, COUNT) for _ in range(2)]
    honest = [scored(view, part, nested=True) for view in views]
    changed = [
        OutOfFold(CrossFit(np.where(part == 0, view, 7 * view - 2), fit.fit.inner), fit.weighing)
        for view, fit in zip(views, honest, strict=True)
    ]
    before, after = (join(fits, examples, part).probability for fits in (honest, changed))
    np.testing.assert_array_equal(before[part == 0], after[part == 0])
    assert (before[part != 0] != after[part != 0]).any()
