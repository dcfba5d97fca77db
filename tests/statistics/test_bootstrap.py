"""The cluster bootstrap."""

import numpy as np
import pytest
from scipy.stats import binom

from capsieve.errors import ParameterError
from capsieve.statistics.bootstrap import (
    FEW_GROUPS,
    FEWEST_GROUPS,
    draws,
    few_units,
    plural,
    ratio_interval,
    resampled_interval,
    resampled_ratio,
)
from capsieve.statistics.intervals import percentile_interval


def coverage(patients: int, *, studies: int, rounds: int = 1000) -> float:
    """How often the percentiles hold the true specificity of unequal patients.

    A patient's specificity is drawn from a beta distribution with the mean 0.9, her frames are 200
    to 2,000.
    """
    generator = np.random.default_rng(1)
    held = 0
    for seed in range(studies):
        frames = generator.integers(200, 2001, patients)
        passed = generator.binomial(frames, generator.beta(9, 1, patients))
        bounds = percentile_interval(resampled_ratio(passed, frames, rounds=rounds, seed=seed))
        assert bounds is not None
        held += bounds[0] <= 0.9 <= bounds[1]
    return held / studies


def test_a_round_draws_as_many_units_as_there_are() -> None:
    drawn = draws(7, rounds=600, seed=3)
    assert drawn.shape == (600, 7)
    assert (drawn.sum(axis=1) == 7).all()


def test_units_are_drawn_evenly_with_replacement() -> None:
    drawn = draws(4, rounds=20_000, seed=5)
    for times in range(5):
        share = np.mean(drawn == times, axis=0)
        assert share == pytest.approx(binom.pmf(times, 4, 0.25), abs=0.015)


def test_the_seed_decides() -> None:
    np.testing.assert_array_equal(draws(5, seed=1), draws(5, seed=1))
    assert (draws(5, seed=1) != draws(5, seed=2)).any()


def test_no_units_and_no_rounds() -> None:
    assert draws(0, rounds=3).shape == (3, 0)
    with pytest.raises(ParameterError, match="rounds"):
        draws(5, rounds=0)


def test_ratios_are_those_of_the_frames_drawn_again() -> None:
    generator = np.random.default_rng(2)
    group = np.repeat(np.arange(6), [3, 9, 1, 4, 0, 8])
    hit = generator.random(len(group)) < 0.5
    found = resampled_ratio(
        np.bincount(group[hit], minlength=6), np.bincount(group, minlength=6), rounds=50, seed=9
    )
    for value, weights in zip(found, draws(6, rounds=50, seed=9), strict=True):
        again = np.concatenate(
            [np.tile(hit[group == unit], int(times)) for unit, times in enumerate(weights)]
        )
        assert value == pytest.approx(again.mean())


def test_rounds_with_an_empty_class_are_left_out_and_counted() -> None:
    # Ten of 40 units hold the class; few rounds draw none of them.
    samples = np.r_[np.linspace(0, 1, 1990), np.full(10, np.nan)]
    interval = resampled_interval(samples, kind="patient", units=40)
    assert interval.why == "10 of 2,000 rounds are left out: a class is empty in them"
    assert [interval.low, interval.high] == pytest.approx([0.025, 0.975])
    assert interval.rounds == 2000


def test_an_empty_denominator_is_no_number_and_no_warning() -> None:
    assert np.isnan(resampled_ratio([0, 0], [0, 0], rounds=3)).all()


def test_with_too_few_units_there_is_no_interval() -> None:
    interval = ratio_interval([1] * 5, [2] * 5, kind="patient")
    assert (interval.low, interval.high) == (None, None)
    assert interval.why.startswith("only 5 patients: too few")
    assert interval.units == 5


def test_units_without_the_class_do_not_count() -> None:
    denominator = [10] * 9 + [0] * 31
    interval = ratio_interval([5] * 9 + [0] * 31, denominator, kind="exam")
    assert interval.why.startswith("only 9 exams")


def test_few_units_are_said_to_be_few() -> None:
    generator = np.random.default_rng(7)
    for units in (FEWEST_GROUPS, FEW_GROUPS - 1, FEW_GROUPS):
        interval = ratio_interval(generator.integers(0, 9, units), [9] * units, kind="patient")
        assert interval.low is not None
        assert ("few" in interval.why) == (units < FEW_GROUPS)


def test_blocks_are_never_taken_for_patients() -> None:
    counts = np.random.default_rng(7).integers(0, 9, 60)
    interval = ratio_interval(counts, [9] * 60, kind="patient or block")
    assert interval.low is not None
    assert "several are of one patient" in interval.why
    assert ratio_interval(counts, [9] * 60, kind="patient").why == ""


def test_rounds_that_all_agree_give_no_interval() -> None:
    interval = ratio_interval([3] * 40, [3] * 40, kind="patient")
    assert interval.low is None
    assert "same value" in interval.why


def test_a_class_empty_in_every_round_gives_no_interval() -> None:
    interval = resampled_interval([np.nan, np.nan], kind="patient", units=40)
    assert interval.low is None
    assert "every round" in interval.why


def test_kinds_are_named_in_the_plural() -> None:
    assert plural("patient or block") == "patients or blocks"
    assert few_units(1, "patient or block").startswith("only 1 patient or block:")
    assert few_units(0, "polyp").startswith("no polyps")
    assert few_units(10, "patient").startswith("rests on 10 patients")


def test_coverage_is_near_nominal_with_thirty_patients_and_too_low_with_five() -> None:
    assert coverage(30, studies=600, rounds=500) > 0.89
    assert coverage(5, studies=600, rounds=500) < 0.85


@pytest.mark.soak
def test_coverage_by_number_of_patients() -> None:
    measured = [coverage(patients, studies=8000) for patients in (5, 10, 20, 30, 50)]
    print(measured)
    assert measured == pytest.approx([0.79, 0.87, 0.90, 0.92, 0.93], abs=0.006)
