"""Intervals of shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from capsieve.errors import ParameterError
from capsieve.statistics.intervals import (
    least_count,
    normal_quantile,
    percentile_interval,
    share_metric,
    wilson,
)
from capsieve.statistics.metric import Interval


@given(st.integers(1, 20_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(counts: tuple[int, int]) -> None:
    expected = binomtest(*counts).proportion_ci(method="wilson")
    assert wilson(*counts) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.floats(0.01, 0.999))
def test_wilson_agrees_at_every_level(level: float) -> None:
    expected = binomtest(13, 16).proportion_ci(level, method="wilson")
    assert wilson(13, 16, level) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert normal_quantile(level) == pytest.approx(norm.ppf((1 + level) / 2), abs=1e-9)


def test_wilson_of_nothing_is_nothing() -> None:
    assert wilson(0, 0) is None


def test_wilson_keeps_to_the_ends() -> None:
    assert wilson(0, 7)[0] == 0.0  # pyright: ignore[reportOptionalSubscript]
    assert wilson(7, 7)[1] == 1.0  # pyright: ignore[reportOptionalSubscript]


@pytest.mark.parametrize("k", [-1, 4])
def test_wilson_refuses_impossible_counts(k: int) -> None:
    with pytest.raises(ParameterError, match="no share"):
        wilson(k, 3)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_levels_out_of_bounds_are_refused(level: float) -> None:
    with pytest.raises(ParameterError, match="level"):
        wilson(1, 2, level)


def test_percentiles_leave_out_undefined_rounds() -> None:
    values = np.r_[np.linspace(0, 1, 201), np.nan]
    assert percentile_interval(values, 0.9) == pytest.approx((0.05, 0.95))
    assert percentile_interval([np.nan]) is None
    assert percentile_interval([]) is None


@pytest.mark.parametrize(
    ("share", "n", "least"),
    [(0.07, 100, 7), (0.9, 10, 9), (0.9, 11, 10), (0.29, 100, 29), (1.0, 3, 3), (0.0, 3, 0)],
)
def test_least_counts_are_those_of_the_written_share(share: float, n: int, least: int) -> None:
    assert least_count(share, n) == least


def test_a_share_without_cases_has_no_value_and_says_why() -> None:
    metric = share_metric(
        "k", "n", "d", numerator=0, denominator=0, empty="there are no polyps", note="More."
    )
    assert metric.value is None
    assert metric.intervals == ()
    assert metric.note == "No value: there are no polyps. More."


def test_the_bootstrap_stands_before_wilson_even_without_bounds() -> None:
    declined = Interval("bootstrap over patients", None, None, "only 5 patients")
    metric = share_metric("k", "n", "d", numerator=13, denominator=16, resampled=[declined])
    assert [interval.method for interval in metric.intervals] == [declined.method, "Wilson"]
    assert metric.value == 0.8125
    assert metric.intervals[1].units == 16
