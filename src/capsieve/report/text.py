"""Numbers, times and names as people read them, in pages, tables, figures and terminals.

Digits are rounded half up on exact decimals: 13 of 16 is 81.25 %, with one digit 81.3 %. A printed
value never contradicts a bound: a share that is not 0 is never printed as 0 %, and one below 1
never as 100 %.
"""

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

if TYPE_CHECKING:
    from capsieve.result_table import Column, Table
    from capsieve.statistics.definitions import Unit
    from capsieve.statistics.results import Interval, Metric

DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SMALL_COUNT = 400  # up to here two digits of a percentage can be exact


def plain(text: object) -> str:
    """Return a text of unknown origin with control and bidirectional characters replaced.

    They can disguise a file name as another one. Escaping is the task of the template.
    """
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if letter in _DIRECTIONS or unicodedata.category(letter) in ("Cc", "Cs")
        else letter
        for letter in str(text)
    )


def sentence(text: object) -> str:
    """Return a text of unknown origin with a capital letter and a final stop."""
    shown = plain(" ".join(str(text).split()))
    if not shown:
        return ""
    return f"{shown[0].upper()}{shown[1:]}{'' if shown.endswith(('.', '!', '?')) else '.'}"


def count(value: int) -> str:
    """Return a whole number with commas between thousands."""
    return _minus(f"{value:,}")


def plural(value: int, noun: str) -> str:
    """Return a count with its noun: ``1 frame``, ``2 frames``."""
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"


def number(value: float | None, *, digits: int = 3) -> str:
    """Return a measured number with few significant digits; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return DASH
    if abs(value) >= 10**digits:
        return _minus(f"{value:,.0f}")
    return _minus(f"{value:.{digits}g}")


_LARGE = 1e15  # larger numbers are written with an exponent


def decimals(value: float | Fraction, digits: int = 1) -> str:
    """Return a number with this many digits after the point, and commas between thousands."""
    if not isinstance(value, Fraction) and not math.isfinite(value):
        return (
            DASH if math.isnan(value) else "\N{INFINITY}" if value > 0 else f"{_MINUS}\N{INFINITY}"
        )
    if abs(value) >= _LARGE:
        return _minus(f"{float(value):.3g}")
    rounded = _exact(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return _minus(f"{rounded + 0:,f}")  # + 0: no minus before a zero


def signed(value: float) -> str:
    """Return a number with its sign: ``+10``, ``−2.5``; 0 has none."""
    return _minus(f"{value:+g}") if value else "0"


def percent(value: float | Fraction | None, digits: int | None = None) -> str:
    """Return a proportion in percent.

    Without `digits`, one digit near both ends (below 10 %, above 99 %) and none between.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return DASH
    if digits is None:
        digits = 1 if 0 < value < 0.1 or 0.99 < value < 1 else 0
    least = Decimal(1).scaleb(-digits)
    whole = _exact(value) * 100
    rounded = whole.quantize(least, ROUND_HALF_UP)
    if rounded == 0 and value != 0:
        return f"{'<' if value > 0 else '>'} {_minus(f'{least.copy_sign(whole):f}')} %"
    if rounded == 100 and value < 1:
        return f"> {100 - least:f} %"
    return f"{_minus(f'{rounded + 0:,f}')} %"


def share(numerator: int, denominator: int) -> str:
    """Return a proportion of counts in percent: one digit, or two if these make it exact.

    13 of 16 is 81.25 %, 109 of 230 is 47.4 %.
    """
    if denominator == 0:
        return DASH
    value = Fraction(numerator, denominator)
    return percent(value, _share_digits(value) if denominator <= _SMALL_COUNT else 1)


def _share_digits(value: float | Fraction) -> int:
    """Two digits if these make the percentage exact and one does not, else one."""
    hundredths = _exact(value) * 10_000
    return 2 if hundredths == hundredths.to_integral_value() and hundredths % 10 else 1


def clock(seconds: float | None, *, fraction: bool = False) -> str:
    """Return a time as h:mm:ss, with tenths if `fraction`; a dash if it is unknown."""
    if seconds is None or not math.isfinite(seconds):
        return DASH
    # Cut, not rounded: a player that shows 0:01:59 has not reached 0:02:00.
    tenths = math.floor(round(abs(seconds) * 1000) / 100)
    whole, tenth = divmod(tenths, 10)
    sign = _MINUS if seconds < 0 and tenths else ""
    text = f"{sign}{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{text}.{tenth}" if fraction else text


def bytes_text(size: int) -> str:
    """Return the size of a file in a suitable unit."""
    if size < 1000:
        return f"{size} bytes"
    for unit, factor in (("kB", 1e3), ("MB", 1e6)):
        if size < 1000 * factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size / 1e9:,.1f} GB"


def digits(value: float, *bounds: float, least: int = 2) -> str:
    """Return the value with enough digits to be on its own side of every bound.

    Without bounds it is printed in full. ``digits(2.9996, 3)`` is ``2.9996``, not
    ``3.00``: a reader must not doubt the rule because of the rounding.
    """
    if math.isinf(value):
        return "infinite"
    if not bounds:
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    places = range(0 if abs(value) >= 1000 else least, 18)
    texts = (f"{value:.{places}f}" for places in places)
    return next((text for text in texts if _same_sides(text, value, bounds)), repr(value))


def distinct(value: float | None, others: Iterable[float] = ()) -> str:
    """Return a score with 3 significant digits, or more to distinguish it from other scores.

    The printed number is on the same side of each of `others` as the value; equal ones are
    ignored.
    """
    if value is None or not math.isfinite(value):
        return DASH
    bounds = [other for other in others if math.isfinite(other) and other != value]
    if float(value).is_integer():
        return count(int(value))
    texts = (f"{value:.{places}g}" for places in range(3, 18))
    return _minus(next((text for text in texts if _same_sides(text, value, bounds)), repr(value)))


def metric(metric: "Metric") -> str:
    """Return the value of a metric; a dash if there is none."""
    if metric.value is None or math.isnan(metric.value):
        return DASH
    if metric.unit == "share" and metric.denominator and metric.numerator is not None:
        return share(metric.numerator, metric.denominator)
    return _in_unit(metric.value, metric.unit)


def counts(metric: "Metric") -> str:
    """Return the counts of a share, ``13 of 16``, or of a mean, ``1,837 in 5``; or ""."""
    if metric.numerator is None or not metric.denominator:
        return ""
    word = "of" if metric.unit == "share" else "in"  # 1,837 frames in 5 exams
    return f"{count(metric.numerator)} {word} {count(metric.denominator)}"


def interval(interval: "Interval | None", unit: "Unit", *, signed: bool = False) -> str:
    """Return the bounds, ``54.4 to 96.0 %``, or why there are none."""
    if interval is None:
        return ""
    if interval.low is None or interval.high is None:
        return f"no interval: {plain(interval.why)}" if interval.why else "no interval"
    show = difference if signed else _in_unit
    low, high = show(interval.low, unit), show(interval.high, unit)
    for end in (" points", " %"):
        if high.endswith(end) and low[0] not in "<>":
            low = low.removesuffix(end)
    return f"{low} to {high}"


def difference(value: float | None, unit: "Unit") -> str:
    """Return a difference with its sign; of shares in percentage points."""
    if value is None or math.isnan(value):
        return DASH
    text = f"{decimals(100 * value)} points" if unit == "share" else _in_unit(value, unit)
    return f"+{text}" if value > 0 else text


def plain_value(value: Any) -> Any:
    """Return a value of a table, also NumPy's, as Python's; None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def cell(value: Any, column: "Column") -> str:
    """Return a cell of a table; a dash if there is no value."""
    value = plain_value(value)
    if value is None:
        return DASH
    if column.kind == "flag" and isinstance(value, bool | int):
        return "yes" if value else "no"
    if column.kind == "text" or not isinstance(value, int | float):
        return plain(value)
    if column.kind == "share":
        # Two digits as in share(): 13 of 16 is 81.25 %, and 12 of 16 is 75.0 %.
        return percent(value, min(column.digits, _share_digits(value)))
    if column.kind == "count" and float(value).is_integer():
        return count(int(value))
    least = 10.0**-column.digits
    small = 0 < abs(value) < least / 2  # a p-value of 0.0001 is not 0.000
    shown = f"< {least:.{column.digits}f}" if small else decimals(value, column.digits)
    return f"{shown} s" if column.kind == "seconds" else shown


def cells(table: "Table") -> tuple[list[list[str]], list[str]]:
    """Return the texts of all rows, and those of the last row (or []); see :func:`cell`.

    Numbers of a column that are all whole have no decimals. A column without a total is blank in
    the last row.
    """
    rows = [*table.rows, *([] if table.total is None else [table.total])]
    columns = list(table.columns)
    for place, column in enumerate(columns):
        values = [row[place] for row in rows if row[place] is not None]
        if column.kind == "number" and all(
            isinstance(value, int | float) and float(value).is_integer() for value in values
        ):
            columns[place] = replace(column, digits=0)
    texts = [
        [cell(value, column) for value, column in zip(row, columns, strict=True)] for row in rows
    ]
    total = [] if table.total is None else ["" if text == DASH else text for text in texts.pop()]
    return texts, total


# The paper's symbols in plain texts: a letter with its index, or a Greek letter by its name.
_SYMBOL = re.compile(
    r"(?<![\w\\])(?:([DEKMNRSTn])_(max|mask|norm|iter|[EFGLNPSUxy])|(sigma)_?([12t])?|(delta)(?=\()|(Theta))"
    r"(?![^\W²])"
)
_CHANGE = re.compile(rf" [+{_MINUS}][\d.]+ %$")
_GREEK = {
    "delta": "\N{GREEK SMALL LETTER DELTA}",
    "sigma": "\N{GREEK SMALL LETTER SIGMA}",
    "Theta": "\N{GREEK CAPITAL LETTER THETA}",
}


def is_symbol(text: str) -> bool:
    """Return whether the whole text is one symbol, or one with its change: ``sigma1 +10 %``."""
    return _SYMBOL.fullmatch(_CHANGE.sub("", text)) is not None


def symbols(text: str) -> Markup:
    """Return a text escaped for HTML, with the paper's symbols: T_max, R_P, sigma1, Theta."""

    def html(letter: str, index: str) -> str:
        return _GREEK.get(letter, letter) + (f"<sub>{index}</sub>" if index else "")

    return Markup(_replace_symbols(plain(text), html, lambda rest: str(escape(rest))))


def math_symbols(text: str) -> str:
    """Return a text for Matplotlib, with the paper's symbols; a dollar sign stays a dollar sign."""
    return _replace_symbols(plain(text), _math, lambda rest: rest.replace("$", r"\$"))


def tex_symbols(text: str, escaped: Any) -> str:
    """Return a text for LaTeX, with the paper's symbols; `escaped` converts the rest."""
    return _replace_symbols(plain(text), _math, escaped)


def _replace_symbols(text: str, symbol: Any, between: Any) -> str:
    parts: list[str] = []
    place = 0
    for found in _SYMBOL.finditer(text):
        letter, index, sigma, which, delta, theta = found.groups()
        parts += [between(text[place : found.start()])]
        parts += [symbol(letter or sigma or delta or theta, index or which or "")]
        place = found.end()
    return "".join([*parts, between(text[place:])])


def _math(letter: str, index: str) -> str:
    name = f"\\{letter}" if letter in _GREEK else letter
    low = index if len(index) == 1 else f"\\mathrm{{{index}}}"
    return f"${name}_{{{low}}}$" if index else f"${name}$"


def _in_unit(value: float, unit: "Unit") -> str:
    if unit == "share":
        return percent(value, 1)
    if unit == "area":
        return decimals(value, 3)
    if unit == "score":
        return distinct(value)
    places = 0 if float(value).is_integer() or abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return decimals(value, places)


def _same_sides(text: str, value: float, bounds: Iterable[float]) -> bool:
    shown = float(text)
    return all(
        (shown < bound) == (value < bound) and (shown > bound) == (value > bound)
        for bound in bounds
    )


def _exact(value: float | Fraction) -> Decimal:
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / value.denominator
    # Twelve digits: 1 - 0.0975 is 0.9025 and not 0.90249999999999997.
    return Decimal(f"{value:.12g}")


def _minus(text: str) -> str:
    return text.replace("-", _MINUS, 1) if text.startswith("-") else text
