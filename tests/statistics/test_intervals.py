"""Intervals of proportions and means."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from capsieve.errors import ParameterError
from capsieve.frame_table import NORMAL, UNLABELLED, Coded
from capsieve.statistics.intervals import (
    FEW_GROUPS,
    FEWEST_GROUPS,
    draws,
    least_count,
    mean_per_exam,
    normal_quantile,
    percentile_interval,
    proportion,
    ratio_interval,
    resampled_interval,
    wilson,
)
from capsieve.statistics.options import EvaluationOptions
from support.labelled_frames import labelled_frames, many_patients

OPTIONS = EvaluationOptions(bootstrap_samples=500)


def renumbered(coded, order):
    """The same names, with other codes."""
    place = np.empty(len(order) + 1, np.int32)
    place[order] = np.arange(len(order))
    place[-1] = -1
    return Coded(tuple(coded.names[code] for code in order), place[coded.code])


@given(st.integers(1, 20_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(counts):
    expected = binomtest(*counts).proportion_ci(method="wilson")
    assert wilson(*counts) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.floats(0.01, 0.999))
def test_wilson_agrees_at_every_level(level):
    expected = binomtest(13, 16).proportion_ci(level, method="wilson")
    assert wilson(13, 16, level) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert normal_quantile(level) == pytest.approx(norm.ppf((1 + level) / 2), abs=1e-9)


def test_wilson_ends_exactly_at_0_and_1():
    assert wilson(0, 0) is None
    none, every = np.array([wilson(0, 7), wilson(7, 7)])
    assert (none[0], every[1]) == (0.0, 1.0)


@pytest.mark.parametrize("wrong", [(-1, 3), (4, 3), (1, 2, 0.0), (1, 2, 95.0)])
def test_wilson_refuses_impossible_counts_and_levels(wrong):
    with pytest.raises(ParameterError):
        wilson(*wrong)


@pytest.mark.parametrize(
    ("share", "n", "least"),
    [(0.07, 100, 7), (0.9, 10, 9), (0.9, 11, 10), (0.29, 100, 29), (1.0, 3, 3), (0.0, 3, 0)],
)
def test_least_counts_are_those_of_the_share_as_written(share, n, least):
    assert least_count(share, n) == least


def test_a_sample_draws_as_many_units_as_there_are_evenly_with_replacement():
    drawn = draws(4, samples=20_000, seed=5)
    assert (drawn.sum(axis=1) == 4).all()
    for times in range(5):
        share = np.mean(drawn == times, axis=0)
        assert share == pytest.approx(binom.pmf(times, 4, 0.25), abs=0.015)
    assert draws(0, samples=3, seed=0).shape == (3, 0)


def test_draws_depend_on_units_samples_and_seed_alone():
    np.testing.assert_array_equal(draws(5, samples=9, seed=1), draws(5, samples=9, seed=1))
    assert (draws(5, samples=9, seed=1) != draws(5, samples=9, seed=2)).any()


def test_percentiles_leave_out_undefined_samples():
    values = np.r_[np.linspace(0, 1, 201), np.nan]
    assert percentile_interval(values, 0.9) == pytest.approx((0.05, 0.95))
    assert percentile_interval([np.nan]) is None


def test_samples_with_an_empty_class_are_left_out_and_counted():
    samples = np.r_[np.linspace(0, 1, 1990), np.full(10, np.nan)]
    interval = resampled_interval(samples, kind="patient", units=40)
    assert "10 of 2,000" in interval.why
    assert [interval.low, interval.high] == pytest.approx([0.025, 0.975])


@pytest.mark.parametrize(
    ("hits", "every", "units"), [([1] * 5, [2] * 5, 5), ([5] * 9 + [0] * 31, [9] * 9 + [0] * 31, 9)]
)
def test_below_10_groups_with_the_class_there_is_no_interval_but_a_reason(hits, every, units):
    interval = ratio_interval(hits, every, kind="patient", options=OPTIONS)
    assert (interval.low, interval.high, interval.units) == (None, None, units)
    assert f"only {units} patients" in interval.why


def test_equal_or_undefined_samples_give_no_interval_but_a_reason():
    for samples in (np.ones(50), np.full(50, np.nan)):
        interval = resampled_interval(samples, kind="patient", units=40)
        assert interval.low is None
        assert interval.why


def test_few_groups_and_blocks_get_a_caution():
    counts = np.random.default_rng(7).integers(0, 9, 60)
    for units in (FEWEST_GROUPS, FEW_GROUPS - 1, FEW_GROUPS):
        found = ratio_interval(counts[:units], [9] * units, kind="patient", options=OPTIONS)
        assert found.low is not None
        assert ("few" in found.why) == (units < FEW_GROUPS)
    assert "patient" in ratio_interval(counts, [9] * 60, kind="block", options=OPTIONS).why
    assert ratio_interval(counts, [9] * 60, kind="patient", options=OPTIONS).why == ""


def coverage(patients, *, studies, samples):
    """How often the percentiles contain the true specificity of unequal patients."""
    generator = np.random.default_rng(1)
    held = 0
    for seed in range(studies):
        frames = generator.integers(200, 2001, patients)
        passed = generator.binomial(frames, generator.beta(9, 1, patients))
        drawn = draws(patients, samples=samples, seed=seed)
        bounds: Any = percentile_interval((drawn @ passed) / (drawn @ frames))
        held += bounds[0] <= 0.9 <= bounds[1]
    return held / studies


def test_coverage_is_near_nominal_with_30_patients_and_too_low_with_5():
    assert coverage(30, studies=600, samples=500) > 0.89
    assert coverage(5, studies=600, samples=500) < 0.85


@pytest.mark.soak
def test_coverage_by_number_of_patients():
    measured = [coverage(patients, studies=8000, samples=1000) for patients in (5, 10, 20, 30, 50)]
    print(measured)
    assert measured == pytest.approx([0.79, 0.87, 0.90, 0.92, 0.93], abs=0.006)


def test_a_proportion_is_that_of_the_frames_drawn_again():
    frames = many_patients(12)
    hit, among = frames.score < 40, frames.truth == NORMAL
    metric: Any = proportion(
        "frames.specificity", hit=hit, among=among, frames=frames, options=OPTIONS
    )
    values = []
    for weights in draws(12, samples=500, seed=0):
        again = np.repeat(hit[among], weights[frames.group.code[among]].astype(int))
        values.append(again.mean())
    assert metric.value == hit[among].mean()
    assert [metric.interval.low, metric.interval.high] == pytest.approx(
        np.quantile(values, [0.025, 0.975]), abs=1e-12
    )


def test_an_interval_does_not_depend_on_the_numbering_of_patients():
    frames = many_patients(15)
    order = np.random.default_rng(1).permutation(15)
    # Patients that are not among the frames take numbers, too.
    more = Coded((*frames.group.names, "absent"), frames.group.code)
    other = replace(frames, group=renumbered(more, np.r_[order[:4], 15, order[4:]]))
    among = frames.truth == NORMAL
    found = [
        proportion(
            "frames.specificity", hit=each.score < 40, among=among, frames=each, options=OPTIONS
        )
        for each in (frames, other)
    ]
    assert found[0] == found[1]


def test_the_bootstrap_comes_before_wilson_even_without_bounds():
    frames = many_patients(5)
    metric: Any = proportion(
        "frames.specificity",
        hit=frames.score < 40,
        among=frames.truth == NORMAL,
        frames=frames,
        options=OPTIONS,
    )
    assert [each.method for each in metric.intervals] == ["bootstrap over patients", "Wilson"]
    assert metric.interval.low is None
    assert metric.interval.why


def test_a_proportion_of_nothing_has_no_value_and_says_why():
    frames = labelled_frames([1.0], [NORMAL])
    metric: Any = proportion(
        "frames.sensitivity",
        hit=np.ones(1, bool),
        among=np.zeros(1, bool),
        frames=frames,
        options=OPTIONS,
        note="More.",
    )
    assert (metric.value, metric.numerator, metric.denominator) == (None, 0, 0)
    assert metric.intervals == ()
    assert "polyp frames" in metric.note
    assert metric.note.endswith("More.")


def per_exam(frames, counted=None) -> Any:
    counted = np.ones(len(frames), bool) if counted is None else counted
    return mean_per_exam("effort.frames_per_exam", counted=counted, frames=frames, options=OPTIONS)


def test_exams_that_are_cut_into_blocks_are_drawn_as_a_whole():
    exam = np.repeat(np.arange(12), 50)
    counted = np.random.default_rng(1).random(600) < 0.3
    frames = labelled_frames(
        np.ones(600),
        np.full(600, NORMAL),
        exam=exam,
        group=np.repeat(np.arange(60), 10),
        group_kind="block",
    )
    metric = per_exam(frames, counted)
    assert (metric.numerator, metric.denominator) == (counted.sum(), 12)
    assert (metric.interval.method, metric.interval.units) == ("bootstrap over exams", 12)
    assert metric.interval.low < metric.value < metric.interval.high


def test_exams_of_one_patient_are_drawn_together():
    counted = np.random.default_rng(1).random(600) < 0.3
    frames = labelled_frames(
        np.ones(600),
        np.full(600, NORMAL),
        exam=np.repeat(np.arange(24), 25),
        patient=np.repeat(np.arange(12), 50),
    )
    metric = per_exam(frames, counted)
    assert metric.denominator == 24
    assert (metric.interval.method, metric.interval.units) == ("bootstrap over patients", 12)


def test_frames_that_may_be_of_any_exam_leave_no_interval():
    patient = np.where(np.arange(600) % 2, np.repeat(np.arange(12), 50), -1)
    truth = np.where(patient < 0, UNLABELLED, NORMAL)
    metric = per_exam(labelled_frames(np.ones(600), truth, patient=patient))
    assert metric.value == 50
    assert metric.interval.low is None
    assert "300" in metric.interval.why


def test_a_screened_folder_is_no_exam_if_the_labels_name_none():
    frames = labelled_frames(np.ones(4), np.full(4, NORMAL), exam=[0, 0, 1, 1], unit=np.full(4, -1))
    assert per_exam(frames).value is None


def test_without_an_exam_there_is_no_mean():
    assert per_exam(labelled_frames([], [])).value is None
