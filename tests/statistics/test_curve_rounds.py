"""Curves of bootstrap rounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from capsieve.errors import ParameterError
from capsieve.statistics import curve_rounds as module
from capsieve.statistics.areas import area, partial_area
from capsieve.statistics.bootstrap import draws
from capsieve.statistics.curve_rounds import (
    CurveRounds,
    curve_band,
    curve_rounds,
    pair_sums,
    threshold_grid,
)
from capsieve.statistics.roc import roc_curve, sensitivity_at_specificity
from support.score_sets import labelled, scores

GRID = np.linspace(0, 1, 11)


def drawn_again(values: np.ndarray, units: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The values of a round, each as often as its unit was drawn."""
    return np.repeat(values, weights[units].astype(int))


def check_rounds(
    found: CurveRounds,
    positives: np.ndarray,
    negatives: np.ndarray,
    positive_units: np.ndarray,
    negative_units: np.ndarray | None,
    weights: np.ndarray,
) -> None:
    for place, weight in enumerate(weights):
        true = drawn_again(positives, positive_units, weight)
        false = negatives
        if negative_units is not None:
            false = drawn_again(negatives, negative_units, weight)
        if not len(true) or not len(false):
            assert np.isnan(found.area[place])
            assert np.isnan(found.true_positive_rate[place]).all()
            continue
        curve = roc_curve(true, false)
        assert found.area[place] == pytest.approx(roc_auc_score(*labelled(true, false)))
        assert found.partial_area[place] == pytest.approx(partial_area(curve))
        heights = np.interp(GRID, curve.false_positive_rate, curve.true_positive_rate)
        np.testing.assert_allclose(found.true_positive_rate[place], heights, atol=1e-12)
        for column, specificity in enumerate(found.specificities):
            at = sensitivity_at_specificity(curve, specificity)
            assert at is not None
            assert found.sensitivity[place, column] == pytest.approx(at[0])


@settings(max_examples=40)
@given(scores(least=1), scores(least=1), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_rounds_over_groups_are_those_of_the_frames_drawn_again(
    positives: np.ndarray, negatives: np.ndarray, groups: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    of_positive = generator.integers(0, groups, len(positives))
    of_negative = generator.integers(0, groups, len(negatives))
    found = curve_rounds(
        positives,
        negatives,
        positive_units=10 * of_positive,
        negative_units=10 * of_negative,
        kind="patient",
        grid=GRID,
        specificities=(0.9, 0.5),
        rounds=8,
        seed=seed,
    )
    present = np.unique(np.r_[of_positive, of_negative])
    weights = np.zeros((8, groups))
    weights[:, present] = draws(len(present), rounds=8, seed=seed)
    check_rounds(found, positives, negatives, of_positive, of_negative, weights)
    assert found.left_out == np.count_nonzero(np.isnan(found.area))
    assert found.units == min(len(np.unique(of_positive)), len(np.unique(of_negative)))


@settings(max_examples=20)
@given(scores(least=1), scores(least=1), st.integers(0, 2**32 - 1))
def test_rounds_over_polyps_keep_the_normal_frames(
    positives: np.ndarray, negatives: np.ndarray, seed: int
) -> None:
    units = np.arange(len(positives))
    found = curve_rounds(
        positives,
        negatives,
        positive_units=units,
        negative_units=None,
        kind="polyp",
        grid=GRID,
        rounds=8,
        seed=seed,
    )
    weights = draws(len(positives), rounds=8, seed=seed)
    check_rounds(found, positives, negatives, units, None, weights)
    assert found.units == len(positives)


@pytest.mark.parametrize(("positives", "negatives"), [([], [1.0, 2.0]), ([1.0], []), ([], [])])
def test_an_empty_class_leaves_every_round_out(
    positives: list[float], negatives: list[float]
) -> None:
    found = curve_rounds(
        positives,
        negatives,
        positive_units=np.zeros(len(positives), dtype=int),
        negative_units=np.arange(len(negatives)),
        kind="patient",
        rounds=5,
    )
    assert found.left_out == 5
    assert found.interval(found.area).low is None
    assert curve_band(found).x.size == 0


def test_unscored_frames_follow_the_rule() -> None:
    def area_of(positives: list[float], negatives: list[float], groups: list[int]) -> np.ndarray:
        return curve_rounds(
            positives,
            negatives,
            positive_units=[0, 1, 2],
            negative_units=groups,
            kind="patient",
            rounds=20,
        ).area

    # Group 2 keeps its place through its positive, so that both draw the same rounds.
    nan = np.nan
    np.testing.assert_array_equal(
        area_of([5.0, nan, 1.0], [2.0, nan, 3.0], [0, 2, 1]),
        area_of([5.0, -1.0, 1.0], [2.0, 3.0], [0, 1]),
    )


def test_two_detectors_see_the_same_rounds() -> None:
    generator = np.random.default_rng(6)
    group = np.repeat(np.arange(12), 9)
    truth = np.arange(len(group)) % 3 == 0
    score = generator.random(len(group)) + truth

    def rounds_of(values: np.ndarray) -> CurveRounds:
        return curve_rounds(
            values[truth],
            values[~truth],
            positive_units=group[truth],
            negative_units=group[~truth],
            kind="patient",
            rounds=30,
        )

    # A rising function of the score has the same curve in every round.
    np.testing.assert_array_equal(rounds_of(score).area, rounds_of(score**3).area)


def test_pair_sums_are_counted_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CELLS", 20)  # so that there are several blocks
    generator = np.random.default_rng(8)
    x, y = generator.integers(0, 8, 30).astype(float), generator.integers(0, 8, 50).astype(float)
    i, j = generator.permutation(np.arange(30) % 4), generator.permutation(np.arange(50) % 7)
    expected = np.zeros((4, 7))
    for a, row in zip(x, i, strict=True):
        for b, col in zip(y, j, strict=True):
            expected[row, col] += 1.0 if a > b else 0.5 if a == b else 0.0
    np.testing.assert_array_equal(pair_sums(x, i, y, j), expected)


def test_few_scores_are_all_thresholds() -> None:
    grid = threshold_grid(np.array([3.0, 0.0, 1.0]), np.array([2.0, 3.0, 0.0]))
    assert grid.tolist() == [np.inf, 3.0, 2.0, 1.0]


def test_many_scores_are_thinned_with_little_loss() -> None:
    generator = np.random.default_rng(9)
    positives, negatives = generator.gamma(4, 9, 3000), generator.gamma(3, 8, 30_000)
    negatives[generator.random(len(negatives)) < 0.4] = 0
    grid = threshold_grid(positives, negatives)
    assert len(grid) <= 2001
    assert np.mean(negatives >= grid[1000]) < 0.2  # half of them where few are flagged
    found = curve_rounds(
        positives,
        negatives,
        positive_units=np.zeros(len(positives)),
        negative_units=np.zeros(len(negatives)),
        kind="patient",
        rounds=1,
    )
    curve = roc_curve(positives, negatives)
    assert found.area[0] == pytest.approx(area(curve), abs=1e-12)
    assert found.partial_area[0] == pytest.approx(partial_area(curve), abs=1e-4)
    heights = np.interp(
        found.false_positive_rate, curve.false_positive_rate, curve.true_positive_rate
    )
    np.testing.assert_allclose(found.true_positive_rate[0], heights, atol=2e-3)
    exact = sensitivity_at_specificity(curve, 0.9)
    assert exact is not None
    assert found.sensitivity[0, 0] == pytest.approx(exact[0], abs=2e-3)


def many_patients(groups: int) -> CurveRounds:
    generator = np.random.default_rng(10)
    group = np.repeat(np.arange(groups), 40)
    truth = np.arange(len(group)) % 4 == 0
    score = (
        generator.integers(1, 9, len(group)) + 3.0 * truth + generator.normal(size=groups)[group]
    )
    score[generator.random(len(group)) < 0.3] = 0
    return curve_rounds(
        score[truth],
        score[~truth],
        positive_units=group[truth],
        negative_units=group[~truth],
        kind="patient",
        rounds=200,
    )


def test_a_band_holds_its_level_of_the_rounds_at_every_point() -> None:
    rounds = many_patients(30)
    band = curve_band(rounds, end=0.6, level=0.9)
    assert band.x[-1] == pytest.approx(0.6)
    heights = rounds.true_positive_rate[:, 1 : len(band.x)]
    inside = np.mean((heights >= band.low[1:]) & (heights <= band.high[1:]), axis=0)
    # More than the level where many rounds share a bound.
    assert inside.min() >= 0.9
    assert np.median(inside) < 0.92
    assert band.units == 30


def test_few_patients_get_no_band_and_the_reason() -> None:
    band = curve_band(many_patients(5))
    assert band.x.size == 0
    assert band.why.startswith("only 5 patients")


def test_units_must_fit_the_scores() -> None:
    with pytest.raises(ParameterError, match="positive"):
        curve_rounds([1.0, 2.0], [1.0], positive_units=[0], negative_units=[0], kind="patient")
    with pytest.raises(ParameterError, match="negative"):
        curve_rounds([1.0], [1.0, 2.0], positive_units=[0], negative_units=[0], kind="patient")
