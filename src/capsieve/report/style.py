"""How the figures look: fonts, colours, symbols."""

import re
import textwrap
from typing import TYPE_CHECKING, Any

from capsieve.results import Label

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure

__all__ = [
    "DPI",
    "GREEN",
    "INK",
    "MUTED",
    "SOFT_INK",
    "STYLE",
    "YELLOW",
    "draw_verdict",
    "symbols",
]

_VERDICT_COLOURS = {"polyp": "#b34700", "normal": "#2f5d8a"}

# Told apart with every kind of colour vision, and on dark and bright tissue. Colour never speaks
# alone: what passed is drawn solid, what was rejected dashed.
YELLOW = "#ffd92e"
GREEN = "#2be07f"
MUTED = "#9fb6cc"
INK = "#1d2733"
SOFT_INK = "#5b6875"

DPI = 110

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # it comes with Matplotlib: the same everywhere
    "font.size": 8.6,
    "text.color": INK,
    "axes.edgecolor": "#c3ccd5",
    "axes.linewidth": 0.6,
    "xtick.color": SOFT_INK,
    "ytick.color": SOFT_INK,
    "savefig.dpi": DPI,
    # Ids and dates would make two runs on the same frame differ.
    "svg.hashsalt": "capsieve",
}
"""Settings for Matplotlib, on top of its defaults: a user's own do not change our figures."""


def symbols(text: str) -> str:
    """Set the paper's symbols as such: T_max with a subscript, Theta as the letter."""
    text = re.sub(r"\b([TRSE])_(max|L|U|P)\b", r"$\1_{\\mathrm{\2}}$", text)
    text = re.sub(r"\bTheta\b", r"$\\Theta$", text)
    return re.sub(r"\bmax u\b", r"max $u$", re.sub(r"\bR =", r"$R$ =", text))


def draw_verdict(header: "SubFigure", verdict: str, label: Label, left: float) -> None:
    """Write a verdict into the header of a figure of ten inches: a coloured word and the rule.

    Parameters
    ----------
    header
        The upper part of the figure.
    verdict
        "Word: rule."
    label
        Decides the colour.
    left
        Position of the word, as a share of the width.
    """
    word, rule = verdict.split(": ", 1)
    word = "FLAGGED: POLYP" if word == "Polyp" else word.upper()
    header.text(
        left,
        0.46,
        word,
        fontsize=11.5,
        fontweight="bold",
        color="white",
        va="center",
        bbox={
            "boxstyle": "round,pad=0.45,rounding_size=0.35",
            "facecolor": _VERDICT_COLOURS[label],
            "edgecolor": "none",
        },
    )
    rule = rule[0].upper() + rule[1:]
    lines = textwrap.wrap(rule, 104 - len(word))
    size = 12 if len(lines) == 1 and len(rule) < 74 else 10
    start = left + 0.051 + 0.0096 * len(word)
    header.text(start, 0.46, symbols("\n".join(lines)), fontsize=size, va="center")
