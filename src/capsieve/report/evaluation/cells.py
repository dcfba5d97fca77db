"""How a value is shown to people: one way for pages, tables, figures and the terminal.

Digits are rounded half up on exact decimals: 13 of 16 is 81.25 %, with one digit 81.3 %. (Rounding
half to even, as computers do, would print 81.2 %.)
"""

import math
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from capsieve.report.formats import count, plain
from capsieve.statistics.metric import Interval, Metric, Unit
from capsieve.statistics.table import Column, Table

__all__ = [
    "DASH",
    "cell_text",
    "counts_text",
    "decimals",
    "interval_text",
    "metric_text",
    "percent_text",
    "plain_value",
    "points_text",
    "rate_text",
    "share_text",
    "shown_columns",
    "value_text",
]

DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_SMALL_COUNT = 400  # up to here two digits of a percentage can be exact
_NOUNS: dict[Unit, str] = {"minutes": " min", "seconds": " s"}


def plain_value(value: Any) -> Any:
    """Return a cell as a plain Python value: NumPy's scalars as Python's, not-a-number as None."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def shown_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns as they are shown: numbers that are all whole have no decimals."""
    rows = [*table.rows, *([] if table.total is None else [table.total])]

    def whole(place: int) -> bool:
        values = [plain_value(row[place]) for row in rows]
        return all(
            v is None or (isinstance(v, int | float) and float(v).is_integer()) for v in values
        )

    return tuple(
        replace(column, digits=0) if column.kind == "number" and whole(place) else column
        for place, column in enumerate(table.columns)
    )


def cell_text(value: Any, column: Column) -> str:
    """Return a cell as people read it; a dash where there is no value."""
    value = plain_value(value)
    if value is None:
        return DASH
    if column.kind == "flag" and isinstance(value, bool | int):
        return "yes" if value else "no"
    if column.kind == "text" or not isinstance(value, int | float):
        return plain(value)
    if column.kind == "share":
        return percent_text(value, digits=column.digits)
    if column.kind == "seconds":
        return f"{decimals(value, digits=column.digits)} s"
    if column.kind == "count" and float(value).is_integer():
        return _minus(count(int(value)))
    return decimals(value, digits=column.digits)


def decimals(value: float | Fraction, *, digits: int) -> str:
    """Return a number with so many digits after the point, rounded half up, with commas."""
    if not isinstance(value, Fraction) and not math.isfinite(value):
        return "\N{INFINITY}" if value > 0 else f"{_MINUS}\N{INFINITY}"
    rounded = _exact(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return _minus(f"{rounded + 0:,f}")  # + 0: no minus before a zero


def percent_text(share: float | Fraction, *, digits: int = 1) -> str:
    """Return a share of 1 in percent; what is not zero never reads as zero, nor 100 as all."""
    if not isinstance(share, Fraction) and not math.isfinite(share):
        return decimals(share, digits=digits)
    least = Decimal(1).scaleb(-digits)
    whole = _exact(share) * 100
    rounded = whole.quantize(least, ROUND_HALF_UP)
    if rounded == 0 and whole != 0:
        return f"{'<' if whole > 0 else '>'} {_minus(f'{least.copy_sign(whole):f}')} %"
    if rounded == 100 and whole < 100:
        return f"> {100 - least:f} %"
    return f"{_minus(f'{rounded + 0:,f}')} %"


def share_text(numerator: int, denominator: int) -> str:
    """Return a share of counts in percent: one digit, or two where these make it exact.

    13 of 16 is 81.25 %, 109 of 230 is 47.4 %.
    """
    share = Fraction(numerator, denominator)
    exact = denominator <= _SMALL_COUNT and (share * 10_000).denominator == 1
    return percent_text(share, digits=2 if exact and (share * 1000).denominator > 1 else 1)


def rate_text(rate: float, denominator: int) -> str:
    """Return a share of so many in percent; see :func:`share_text`. A dash where there is none."""
    if math.isnan(rate):
        return "\N{EN DASH}"
    numerator = round(rate * denominator)
    if denominator and math.isclose(numerator / denominator, rate, rel_tol=1e-9, abs_tol=1e-12):
        return share_text(numerator, denominator)
    return percent_text(rate)


def counts_text(metric: Metric) -> str:
    """Return the counts of a share, ``13 of 16``, or of a mean, ``1,837 over 5``; or ""."""
    if metric.numerator is None or metric.denominator is None:
        return ""
    word = "of" if metric.unit == "share" else "over"  # 1,837 frames over 5 exams
    return f"{count(metric.numerator)} {word} {count(metric.denominator)}"


def metric_text(metric: Metric) -> str:
    """Return a metric's value with its counts: ``81.25 % (13 of 16)``."""
    value = value_text(metric)
    counts = counts_text(metric)
    return f"{value} ({counts})" if counts else value


def value_text(metric: Metric, *, signed: bool = False) -> str:
    """Return a metric's value without its counts; differences with their sign where asked for."""
    if metric.value is None or math.isnan(metric.value):
        return DASH
    if metric.unit == "share" and metric.denominator and not signed:
        return rate_text(metric.value, metric.denominator)
    return points_text(metric.value, metric.unit) if signed else _in_unit(metric.value, metric.unit)


def points_text(value: float, unit: Unit) -> str:
    """Return a difference with its sign; of shares in percentage points."""
    points = f"{decimals(100 * value, digits=1)} points"
    text = points if unit == "share" else _in_unit(value, unit)
    return text if text.startswith(_MINUS) or value == 0 else f"+{text}"


def interval_text(interval: Interval, unit: Unit, *, signed: bool = False) -> str:
    """Return the bounds, or why there are none."""
    if interval.low is None or interval.high is None:
        return f"no interval: {plain(interval.why)}" if interval.why else "no interval"
    if signed:
        low, high = points_text(interval.low, unit), points_text(interval.high, unit)
        return f"{low.removesuffix(' points')} to {high}"
    low, high = _in_unit(interval.low, unit), _in_unit(interval.high, unit)
    for noun in (" %", *_NOUNS.values()):
        if low.endswith(noun) and high.endswith(noun) and low[0] not in "<>":
            low = low.removesuffix(noun)
    return f"{low} to {high}"


def _in_unit(value: float, unit: Unit) -> str:
    if unit == "share":
        return percent_text(value)
    if unit == "area":
        return decimals(value, digits=3)
    if unit == "score":
        return _minus(f"{value:.6g}") if math.isfinite(value) else decimals(value, digits=0)
    digits = 0 if float(value).is_integer() or abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return decimals(value, digits=digits) + _NOUNS.get(unit, "")


def _exact(value: float | Fraction) -> Decimal:
    if isinstance(value, Fraction):
        # Long division to 30 digits: a tie is a finite decimal, and comes out exact.
        return Decimal(value.numerator) / Decimal(value.denominator)
    # Twelve digits: 1 - 0.0975 is 0.9025 and not 0.90249999999999997.
    return Decimal(f"{value:.12g}")


def _minus(text: str) -> str:
    return text.replace("-", _MINUS, 1) if text.startswith("-") else text
