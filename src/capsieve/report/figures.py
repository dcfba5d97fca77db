"""Figures: settings, colours, panels, and files.

The colours are those of Okabe and Ito, which people with every kind of colour vision distinguish.
Lines also differ in their dashes, marks in their shape and areas in their hatching, for copies in
grey.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError
from capsieve.processes import ignored_warnings
from capsieve.user_files import PathLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# M. Okabe and K. Ito, Color Universal Design, 2008.
BLUE = "#0072B2"
VERMILLION = "#D55E00"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREY = "#8a949e"

# Over frames: visible on dark and bright tissue.
YELLOW = "#ffd92e"
GREEN = "#2be07f"
MUTED = "#9fb6cc"

INK = "#1d2733"
SOFT_INK = "#5b6875"

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # part of Matplotlib: the same on every computer
    "font.size": 8.6,
    "text.color": INK,
    "axes.edgecolor": "#c3ccd5",
    "axes.linewidth": 0.6,
    "xtick.color": SOFT_INK,
    "ytick.color": SOFT_INK,
    "savefig.dpi": 130,
    "svg.hashsalt": "capsieve",  # the same names of elements in two runs
}
_CHART: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#7b8793",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "grid.color": "#dfe5ea",
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}
_ENDINGS = (".png", ".svg", ".pdf")


class Drawing(NamedTuple):
    """A figure, its caption, and a short text for those who cannot see it."""

    figure: "Figure"
    caption: str
    alt: str


@contextmanager
def style(*, chart: bool = False) -> Iterator[None]:
    """Draw with the same settings on every computer, without those of the user."""
    import matplotlib.style

    with matplotlib.style.context(["default", _STYLE | (_CHART if chart else {})]):
        yield


@contextmanager
def figure(
    columns: int = 1, *, width: float = 4.6, height: float = 3.6, **options: Any
) -> "Iterator[tuple[Figure, list[Axes]]]":
    """Yield a figure and its panels, side by side; width and height of a panel are in inches.

    The options are those of :meth:`matplotlib.figure.Figure.subplots`.
    """
    from matplotlib.figure import Figure

    with style(chart=True):
        drawing = Figure(figsize=(columns * width, height))
        axes = drawing.subplots(1, columns, squeeze=False, **options)
        yield drawing, list(axes[0])


def percent_axis(axis: Any) -> None:
    """Label shares of 1 in percent."""
    axis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")


def save(figure: "Figure", path: PathLike) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the file; complete or not at all."""
    ending = check_ending(path)
    with atomic_write(path) as temporary:
        temporary.write_bytes(content(figure, ending[1:]))


def content(figure: "Figure", kind: str) -> bytes:
    """Return a figure as a file of the kind "png", "svg" or "pdf"."""
    who = "Software" if kind == "png" else "Creator"
    metadata: dict[str, Any] = {who: f"capsieve {__version__}"}
    metadata |= {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    # Names can be in any script; a letter that the font lacks becomes a box.
    without_font = ignored_warnings("Glyph .* missing from", UserWarning)
    with without_font, style(), BytesIO() as drawn:
        logging.getLogger("matplotlib.mathtext").setLevel(logging.ERROR)  # the same, as a log entry
        figure.savefig(drawn, format=kind, metadata=metadata)
        figure.set_layout_engine("none")  # a second file needs no second layout
        return drawn.getvalue()


def check_ending(path: PathLike) -> str:
    """Return the ending of the file of a figure in small letters; FileError if it is another."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        what = f"not {ending!r}" if ending else "and this name has no ending"
        raise FileError(f"cannot write {path}: figures end in .png, .svg or .pdf, {what}")
    return ending
