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
    "legends_below",
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
_LEGEND_LINE = 0.185
_LEGEND_ROOM = 0.12  # below the last line


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw with our settings alone: a user's own do not change our figures."""
    import matplotlib.style

    with matplotlib.style.context(["default", _STYLE]):
        yield


def new_figure(
    panels: int,
    *,
    width: float | Sequence[float] = 3.5,
    height: float = 3.5,
    left: float | Sequence[float] = _LEFT,
    right: float | Sequence[float] = _RIGHT,
    top: float = _TITLE,
    notes: Sequence[str] = (),
) -> "tuple[Figure, list[Axes]]":
    """Return a figure with panels side by side and notes below them.

    Sizes are in inches; `width` and the margins beside a panel are for all, or one for each.
    """
    from matplotlib.figure import Figure

    lefts, widths, rights = (_each(size, panels) for size in (left, width, right))
    steps = [sum(sizes) for sizes in zip(lefts, widths, rights, strict=True)]
    whole = sum(steps)
    lines = [
        line
        for text in notes
        for line in textwrap.wrap(plain(text), round(whole * 15.5), break_on_hyphens=False)
    ]
    below = _BOTTOM + (0.1 + _NOTE_LINE * len(lines) if lines else 0)
    tall = below + height + top
    figure = Figure(figsize=(whole, tall))
    axes = [
        figure.add_axes(
            (
                (sum(steps[:panel]) + lefts[panel]) / whole,
                below / tall,
                widths[panel] / whole,
                height / tall,
            )
        )
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


def legends_below(figure: "Figure", panels: "Sequence[Axes]") -> None:
    """Give each panel its legend below it, where it hides nothing, and the figure the room."""
    lines = max(len(panel.get_legend_handles_labels()[1]) for panel in panels)
    if not lines:
        return
    extra = _LEGEND_LINE * lines + _LEGEND_ROOM
    width, tall = figure.get_size_inches()
    share = tall / (tall + extra)
    for text in figure.texts:  # notes, which stay at the bottom
        text.set_y(text.get_position()[1] * share)
    for panel in panels:
        box = panel.get_position()
        bottom = (box.y0 * tall + extra) / (tall + extra)
        panel.set_position((box.x0, bottom, box.width, box.height * share))
        if panel.get_legend_handles_labels()[1]:
            legend(
                panel, loc="upper left", bbox_to_anchor=(0, -_BOTTOM / (box.height * tall)),
                borderaxespad=0, borderpad=0, frameon=False,
            )  # fmt: skip
    figure.set_size_inches(width, tall + extra)


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


def _each(size: float | Sequence[float], panels: int) -> list[float]:
    return [float(size)] * panels if isinstance(size, int | float) else list(size)
