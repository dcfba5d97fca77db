from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.report.evaluation.cells import (
    cell_text,
    decimals,
    interval_text,
    metric_text,
    percent_text,
    share_text,
    shown_columns,
    value_text,
)
from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.table import Column, Table

PAPER = [
    (13, 16, "81.25 %"),
    (109, 230, "47.4 %"),
    (16901, 18738, "90.2 %"),
    (34, 422, "8.1 %"),
    (55, 1008, "5.5 %"),
    (671, 4666, "14.4 %"),
    (767, 8567, "9.0 %"),
    (310, 4075, "7.6 %"),
]


@pytest.mark.parametrize(("numerator", "denominator", "shown"), PAPER)
def test_the_papers_counts_print_the_papers_figures(
    numerator: int, denominator: int, shown: str
) -> None:
    assert share_text(numerator, denominator) == shown


def test_a_share_without_its_counts_is_rounded_half_up() -> None:
    assert percent_text(13 / 16) == "81.3 %"
    assert percent_text(13 / 16, digits=2) == "81.25 %"
    assert percent_text(0.8125, digits=0) == "81 %"
    assert percent_text(0.125, digits=0) == "13 %"
    assert decimals(2.5, digits=0) == "3"
    assert decimals(0.5, digits=0) == "1"


@given(st.integers(1, 3000), st.data())
def test_a_printed_share_is_off_by_half_a_digit_at_most(
    denominator: int, data: st.DataObject
) -> None:
    numerator = data.draw(st.integers(0, denominator))
    text = share_text(numerator, denominator)
    exact = Fraction(numerator, denominator) * 100
    if text.startswith("<"):
        assert 0 < exact < Fraction(1, 10)
    elif text.startswith(">"):
        assert Fraction(999, 10) < exact < 100
    else:
        shown = Fraction(text.removesuffix(" %"))
        assert -Fraction(1, 20) < shown - exact <= Fraction(1, 20)


@given(st.integers(1, 400), st.data())
def test_two_digits_are_printed_only_where_they_are_exact(
    denominator: int, data: st.DataObject
) -> None:
    numerator = data.draw(st.integers(0, denominator))
    text = share_text(numerator, denominator)
    if "." in text and len(text.removesuffix(" %").partition(".")[2]) == 2:
        assert Fraction(text.removesuffix(" %")) / 100 == Fraction(numerator, denominator)


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.0001, "< 0.1 %"),
        (0.9999, "> 99.9 %"),
        (-0.017, "−1.7 %"),
        (-0.0001, "> −0.1 %"),
        (1 - 0.0975, "90.3 %"),  # in floating point 0.9025 lies a hair below
    ],
)
def test_what_is_not_nothing_does_not_read_as_nothing(share: float, shown: str) -> None:
    assert percent_text(share) == shown


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (None, "share", "–"),
        (float("nan"), "number", "–"),
        (float("inf"), "number", "∞"),
        (18738, "count", "18,738"),
        (-3, "count", "−3"),
        (0.0805, "share", "8.1 %"),
        (True, "flag", "yes"),
        (False, "flag", "no"),
        (12.34, "seconds", "12.3 s"),
        ("a\u202eb\n", "text", "a\ufffdb\ufffd"),
        ("unknown", "count", "unknown"),
    ],
)
def test_every_kind_of_cell_is_shown(value: object, kind: str, shown: str) -> None:
    assert cell_text(value, Column("key", "Label", kind)) == shown  # pyright: ignore[reportArgumentType]


def test_numbers_that_are_all_whole_have_no_decimals() -> None:
    columns = (Column("a", "A", "number", 3), Column("b", "B", "number", 3))
    table = Table("t", "T", columns, ((37.0, 37.0), (None, 0.5)))
    assert [column.digits for column in shown_columns(table)] == [0, 3]


def test_a_share_is_shown_with_its_counts() -> None:
    metric = Metric("k", "n", 13 / 16, "d", numerator=13, denominator=16)
    assert metric_text(metric) == "81.25 % (13 of 16)"


def test_a_mean_is_not_taken_for_a_share() -> None:
    metric = Metric("k", "n", 1837 / 5, "d", "frames", 1837, 5)
    assert metric_text(metric) == "367 (1,837 over 5)"


def test_the_reason_stands_in_place_of_an_interval() -> None:
    none = Interval("bootstrap over patients", None, None, "5 patients: too few")
    assert interval_text(none, "share") == "no interval: 5 patients: too few"
    assert interval_text(Interval("Wilson", 0.57, 0.934), "share") == "57.0 to 93.4 %"
    assert interval_text(Interval("Wilson", 0.0, 0.0004), "share") == "0.0 to < 0.1 %"


def test_differences_carry_their_sign() -> None:
    metric = Metric("k", "n", 0.061, "d")
    assert value_text(metric, signed=True) == "+6.1 points"
    interval = Interval("bootstrap", -0.02, 0.1)
    assert interval_text(interval, "share", signed=True) == "−2.0 to +10.0 points"
