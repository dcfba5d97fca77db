"""What the figures of an evaluation share: panels, colours, lines, marks.

The colours are Okabe and Ito's, told apart with every kind of colour vision. None speaks alone:
lines differ in their dashes, marks in their shape, areas in their hatching, so that a copy in grey
says the same. Every place is computed: Matplotlib's own layouts give other last digits from run to
run, and so other files for the same numbers.
"""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from capsieve.report.evaluation.symbols import math_symbols
from capsieve.report.formats import plain
from capsieve.report.style import INK, SOFT_INK, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "GREY",
    "MARKS",
    "ORANGE",
    "SKY",
    "VERMILLION",
    "axes_labels",
    "count_axis",
    "drawing_style",
    "legend",
    "mathematical",
    "new_figure",
    "note",
    "panel_title",
    "percent_axis",
]

# M. Okabe and K. Ito, Color Universal Design, 2008.
BLUE = "#0072B2"
VERMILLION = "#D55E00"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREY = "#8a949e"

MARKS = ("x", "+", "1", "2")
"""Of operating points, in their order; the first is the paper's cross."""

_STYLE: dict[str, Any] = STYLE | {
    "font.size": 9.0,
    "axes.edgecolor": "#7b8793",
    "axes.labelcolor": INK,
    "axes.labelsize": 9.5,
    "axes.axisbelow": True,
    "grid.color": "#dfe5ea",
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.7,
    "lines.linewidth": 1.8,
    "legend.fontsize": 8.2,
    "legend.frameon": True,
    "legend.framealpha": 0.92,
    "legend.edgecolor": "#d3dae1",
    "legend.fancybox": False,
    "legend.handlelength": 2.6,
}
_TITLE = 0.34  # inches above a panel
_LEFT = 0.72
_BOTTOM = 0.56
_RIGHT = 0.32
_NOTE_LINE = 0.16


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw with our settings alone: a user's own do not change our figures."""
    import matplotlib.style

    with matplotlib.style.context(["default", _STYLE]):
        yield


def new_figure(
    panels: int,
    *,
    width: float = 3.5,
    height: float = 3.5,
    left: float = _LEFT,
    right: float = _RIGHT,
    top: float = _TITLE,
    notes: Sequence[str] = (),
) -> "tuple[Figure, list[Axes]]":
    """Return a figure with panels side by side, sizes in inches, and notes below them."""
    from matplotlib.figure import Figure

    step = left + width + right
    whole = panels * step
    lines = [
        line
        for text in notes
        for line in textwrap.wrap(plain(text), round(whole * 15.5), break_on_hyphens=False)
    ]
    below = _BOTTOM + (0.1 + _NOTE_LINE * len(lines) if lines else 0)
    tall = below + height + top
    figure = Figure(figsize=(whole, tall))
    axes = [
        figure.add_axes(((left + panel * step) / whole, below / tall, width / whole, height / tall))
        for panel in range(panels)
    ]
    for number, line in enumerate(reversed(lines)):
        figure.text(
            0.14 / whole,
            (0.08 + number * _NOTE_LINE) / tall,
            mathematical(line),
            fontsize=7.8,
            color=SOFT_INK,
            va="bottom",
        )
    for panel in axes:
        panel.grid(True)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return figure, axes


def panel_title(axes: "Axes", text: str, letter: str = "", *, pad: float = 8) -> None:
    """Write a panel's title above it, so many points high, with its letter if there are several."""
    title = f"({letter}) {text}" if letter else text
    axes.set_title(mathematical(title), loc="left", fontsize=10, fontweight="bold", pad=pad)


def axes_labels(axes: "Axes", x: str, y: str) -> None:
    """Name both axes."""
    axes.set_xlabel(mathematical(x))
    axes.set_ylabel(mathematical(y))


def percent_axis(axis: Any) -> None:
    """Show shares of 1 in percent, with as many digits as the ticks need."""
    axis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")


def count_axis(axis: Any) -> None:
    """Show counts with commas between thousands."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def legend(axes: "Axes", **options: Any) -> None:
    """Place the legend where it is told to; nothing is searched, which could differ."""
    options = {"loc": "lower right", "borderpad": 0.6, "labelspacing": 0.45} | options
    axes.legend(**options)


def note(axes: "Axes", x: float, y: float, text: str, **options: Any) -> None:
    """Write a small text into a panel, on a ground that keeps it legible."""
    options = {
        "fontsize": 8.2,
        "color": INK,
        "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5},
    } | options
    axes.text(x, y, mathematical(text), **options)


def mathematical(text: str) -> str:
    """Return a text of any origin for Matplotlib: symbols set, dollar signs harmless."""
    return math_symbols(plain(text))
