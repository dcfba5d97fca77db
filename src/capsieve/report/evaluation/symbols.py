"""The paper's symbols in plain texts: T_max, R_P, sigma1. How each format sets them."""

import re
from collections.abc import Callable

from markupsafe import Markup, escape

__all__ = ["html_symbols", "is_symbol", "math_symbols", "tex_symbols"]

_GREEK = {
    "delta": "\N{GREEK SMALL LETTER DELTA}",
    "sigma": "\N{GREEK SMALL LETTER SIGMA}",
    "Theta": "\N{GREEK CAPITAL LETTER THETA}",
}

# A letter with what stands below it, or a Greek letter by its name.
_SYMBOL = re.compile(
    r"(?<![\w\\])(?:([DEMNRST])_(max|mask|norm|[FLNPSUx])|(sigma)_?([12t])?|(delta)(?=\()|(Theta))"
    r"(?![\w])"
)


def is_symbol(text: str) -> bool:
    """Return whether the whole text is one symbol, such as ``sigma1``."""
    return _SYMBOL.fullmatch(text) is not None


def html_symbols(text: str) -> Markup:
    """Return the text escaped for HTML, with the symbols set: letters, Greek and below the line."""
    return Markup(
        _set(
            text,
            lambda letter, below: (
                f"{_GREEK.get(letter, letter)}{f'<sub>{below}</sub>' if below else ''}"
            ),
            lambda between: str(escape(between)),
        )
    )


def tex_symbols(text: str, escaped: Callable[[str], str]) -> str:
    """Return the text for LaTeX, with the symbols as mathematics; the rest goes to `escaped`."""
    return _set(text, lambda letter, below: f"${_math(letter, below)}$", escaped)


def math_symbols(text: str) -> str:
    """Return the text for Matplotlib, with the symbols as mathematics.

    A dollar sign of the text stays a dollar sign.
    """
    return _set(
        text,
        lambda letter, below: f"${_math(letter, below)}$",
        lambda between: between.replace("$", r"\$"),
    )


def _math(letter: str, below: str) -> str:
    symbol = f"\\{letter}" if letter in _GREEK else letter
    if not below:
        return symbol
    return f"{symbol}_{{{below}}}" if len(below) == 1 else f"{symbol}_{{\\mathrm{{{below}}}}}"


def _set(text: str, symbol: Callable[[str, str], str], between: Callable[[str], str]) -> str:
    parts: list[str] = []
    place = 0
    for found in _SYMBOL.finditer(text):
        letter, below, sigma, number, delta, theta = found.groups()
        parts.append(between(text[place : found.start()]))
        parts.append(symbol(letter or sigma or delta or theta, below or number or ""))
        place = found.end()
    return "".join([*parts, between(text[place:])])
