"""How the figures look: fonts, colours, symbols."""

import re
from typing import Any

__all__ = ["DPI", "GREEN", "INK", "MUTED", "SOFT_INK", "STYLE", "YELLOW", "symbols"]

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
