"""Numbers, times and names as people read them."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.report import text
from capsieve.result_table import Column, Table
from capsieve.statistics.results import Interval, Metric

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.995, "99.5 %"),
        (0.9999, "> 99.9 %"),
        (0.0004, "< 0.1 %"),
        (0.05, "5.0 %"),
        (0.5, "50 %"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_percent(value, shown):
    assert text.percent(value) == shown


def test_the_review_page_writes_shares_as_reports_do():
    table = Path(__file__).parents[2] / "web" / "test" / "shares.txt"
    lines = table.read_text().splitlines()
    for part, whole, words in (line.split(" ", 2) for line in lines):
        assert text.percent(int(part) / int(whole)) == words


@given(value=SHARES, digits=st.sampled_from([None, 0, 1, 2]))
def test_only_nothing_is_0_percent_and_only_all_is_100_percent(value, digits):
    shown = text.percent(value, digits)
    number = shown.removesuffix(" %")
    assert shown.startswith("<") or (float(number.lstrip("> ")) == 0) == (value == 0)
    assert shown.startswith(">") or (float(number.lstrip("< ")) == 100) == (value == 1)


def test_shares_are_rounded_half_up_on_exact_decimals():
    assert text.share(13, 16) == "81.25 %"
    assert text.share(109, 230) == "47.4 %"
    assert text.share(16901, 18738) == "90.2 %"
    assert text.share(1, 0) == "–"
    assert text.percent(Fraction(13, 16), 1) == "81.3 %"


def test_a_share_has_one_format_in_texts_and_tables():
    column = Column("found", "Found", "share", 2)
    for hits in range(17):
        assert text.cell(hits / 16, column) == text.share(hits, 16)
    assert text.percent(1 - 0.0975, 1) == "90.3 %"


def test_counts_and_nouns():
    assert text.count(1234567) == "1,234,567"
    assert text.count(-3) == "\N{MINUS SIGN}3"
    assert text.plural(1, "frame") == "1 frame"
    assert text.plural(2000, "frame") == "2,000 frames"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0:00:00"), (119.99, "0:01:59"), (3661, "1:01:01"), (-5, "\N{MINUS SIGN}0:00:05")],
)
def test_times_are_cut_and_not_rounded(seconds, shown):
    assert text.clock(seconds) == shown


def test_unknown_values_are_a_dash():
    assert text.clock(None) == text.number(math.nan) == text.decimals(math.nan) == "–"


@pytest.mark.parametrize(
    ("value", "bounds", "shown"),
    [
        (2.9996, (3.0,), "2.9996"),
        (2.9, (3.0,), "2.90"),
        (3.0, (3.0,), "3.00"),
        (8.0001, (3.0, 8.0), "8.0001"),
        (math.nextafter(3.0, 0.0), (3.0,), "2.9999999999999996"),
        (149.637, (6.5,), "149.64"),
        (123456.7, (6.5,), "123457"),
        (math.inf, (6.5,), "infinite"),
        (0.1, (), "0.1"),
        (3.0, (), "3"),
        (6.123456789, (), "6.123456789"),
    ],
)
def test_digits(value, bounds, shown):
    assert text.digits(value, *bounds) == shown


@given(value=st.floats(-1e6, 1e6), bound=st.floats(-1e6, 1e6))
def test_a_printed_value_is_on_its_side_of_the_bound(value, bound):
    shown = float(text.digits(value, bound))
    assert (shown < bound) == (value < bound)
    assert (shown > bound) == (value > bound)


def test_scores_have_few_digits_unless_others_are_near():
    assert text.distinct(0.6745585163128499) == "0.675"
    assert text.distinct(0.6745585163128499, [0.6745585163128499, 0.7]) == "0.675"
    assert text.distinct(0.6745585163128499, [0.67456]) == "0.674559"
    assert text.distinct(37.0, [38.0]) == "37"


@pytest.mark.parametrize("letter", ["\u202e", "\u2066", "\x1b", "\n", "\udce9"])
def test_letters_that_disguise_a_name_are_replaced(letter):
    assert text.plain(f"a{letter}b") == "a\N{REPLACEMENT CHARACTER}b"


def test_a_metric_with_its_counts_and_interval():
    low = Interval("Wilson", 0.5699, 0.9341, units=16)
    metric = Metric("polyps.sensitivity", 0.8125, 13, 16, (low,))
    assert text.metric(metric) == "81.25 %"
    assert text.counts(metric) == "13 of 16"
    assert text.interval(low, "share") == "57.0 to 93.4 %"
    none = Interval("bootstrap over patients", None, None, "only 5 patients")
    assert text.interval(none, "share") == "no interval: only 5 patients"
    assert text.metric(Metric("frames.auc", None)) == "–"


def test_differences_have_a_sign():
    assert text.difference(0.07, "share") == "+7.0 points"
    assert text.difference(-0.07, "share") == "\N{MINUS SIGN}7.0 points"
    assert text.difference(0.0, "area") == "0.000"
    interval = Interval("paired", -0.01, 0.02)
    assert text.interval(interval, "share", signed=True) == "\N{MINUS SIGN}1.0 to +2.0 points"


def test_cells_of_a_column_of_whole_numbers_have_no_decimals():
    columns = (Column("a", "A", "number"), Column("b", "B", "number", 3), Column("c", "C", "flag"))
    rows = ((1.0, 0.00001, True), (None, 0.25, False))
    assert text.cells(Table("t", "T", columns, rows, total=(3, None, None))) == (
        [["1", "< 0.001", "yes"], ["–", "0.250", "no"]],
        ["3", "", ""],
    )


def test_symbols_are_set_and_everything_else_is_escaped():
    assert text.symbols("T_max <b>") == "T<sub>max</sub> &lt;b&gt;"
    assert text.symbols("sigma1 and Theta") == "σ<sub>1</sub> and Θ"
    assert text.math_symbols("R_P costs $5") == r"$R_{P}$ costs \$5"
    assert text.symbols("my_T_max") == "my_T_max"
    assert text.symbols("K_G and K_E") == "K<sub>G</sub> and K<sub>E</sub>"
    assert text.symbols("N_y, n_iter") == "N<sub>y</sub>, n<sub>iter</sub>"


def test_very_large_numbers_are_written_with_an_exponent():
    assert text.decimals(-2.5e300) == "\N{MINUS SIGN}2.5e+300"
