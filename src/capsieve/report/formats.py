"""Numbers, times and names as a page shows them."""

import math
import unicodedata

__all__ = ["bytes_text", "clock", "count", "number", "percent", "plain", "plural"]

_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def count(value: int) -> str:
    """Return a whole number with commas between thousands."""
    return f"{value:,}"


def plural(value: int, noun: str) -> str:
    """Return a count with its noun: ``1 frame``, ``2 frames``."""
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"


def number(value: float | None, *, digits: int = 3) -> str:
    """Return a measured number with few significant digits; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "\N{EN DASH}"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def percent(share: float) -> str:
    """Return a share of 1 in percent; what is not zero never reads as zero, nor 100 as all."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def clock(seconds: float | None, *, fraction: bool = False) -> str:
    """Return a time as h:mm:ss, with tenths where asked for; a dash where it is unknown."""
    if seconds is None or not math.isfinite(seconds):
        return "\N{EN DASH}"
    # Cut, not rounded: a player that shows 0:01:59 has not yet come to 0:02:00.
    tenths = math.floor(round(abs(seconds) * 1000) / 100)
    whole, tenth = divmod(tenths, 10)
    sign = "\N{MINUS SIGN}" if seconds < 0 and tenths else ""
    text = f"{sign}{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{text}.{tenth}" if fraction else text


def bytes_text(size: int) -> str:
    """Return a file's size in the unit that suits it."""
    value = float(size)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"


def plain(text: object) -> str:
    """Return a text of unknown origin without what could disguise it.

    Control characters and marks that turn the direction of writing become the replacement
    character: a file name must look like what it is. Escaping is the template's task.
    """
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if letter in _DIRECTIONS or unicodedata.category(letter) in ("Cc", "Cs")
        else letter
        for letter in str(text)
    )
