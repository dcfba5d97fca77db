"""The figure of a detector other than the paper's: the frame and the evidence map.

Made like the nine panels: with Matplotlib's objects alone, and every position is computed here, so
the same frame gives the same file.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.frame_images import rgb
from capsieve.report import figures
from capsieve.report.figures import GREEN, SOFT_INK, YELLOW
from capsieve.report.panels import draw_decision
from capsieve.report.text import number
from capsieve.results import Evidence, FrameResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Inches; the figure grows downwards with the frame's height.
_WIDTH = 10.0
_MARGIN = 0.16
_PANEL = 4.5  # two of them leave space for a colour bar
_TALLEST = 1.5 * _PANEL
_TITLE = 0.36
_HEADER = 0.60
_FOOTER = 0.34
_LEFT = _MARGIN / _WIDTH


def learned_panels(
    pixels: NDArray[Any],
    result: FrameResult,
    evidence: Evidence,
    *,
    decision: str,
) -> "Figure":
    """Draw why a detector that fits no ball flagged a frame, or did not.

    Parameters
    ----------
    pixels
        The frame, RGB or grey.
    result, evidence
        Of the detector.
    decision
        See :func:`capsieve.report.words.score_decision`.

    Returns
    -------
    Figure
        (a) the frame with the spot, solid if it is flagged, else dashed; (b) the evidence map over
        it, if the detector has one.
    """
    from matplotlib.figure import Figure

    rows, cols = pixels.shape[:2]
    height = min(_PANEL * rows / cols, _TALLEST)
    body = height + _TITLE
    with figures.style():
        figure = Figure()
        figure.set_layout_engine("none")
        figure.set_size_inches(_WIDTH, _HEADER + body + _FOOTER)
        figure.set_facecolor("white")
        parts: Any = figure.subfigures(3, 1, height_ratios=[_HEADER, body, _FOOTER], hspace=0.0)
        header, middle, below = parts
        draw_decision(header, decision, result.label, _LEFT + 0.009)
        shown = rgb(pixels)
        frame = _panel_axes(middle, 0, height, body)
        _draw_frame(frame, shown, result, "(a)  frame")
        if evidence.map is not None:
            axes = _panel_axes(middle, 1, height, body)
            _draw_map(
                axes,
                shown,
                evidence.map,
                result,
                "(b)  evidence map, from its median up",
            )
        _draw_footer(below, result)
    return figure


def _panel_axes(middle: "SubFigure", place: int, height: float, body: float) -> "Axes":
    """A panel that hangs from the top, below its title."""
    left = _MARGIN + place * (_PANEL + (_MARGIN if place == 1 else 0.0))
    axes = middle.add_axes(
        (left / _WIDTH, (body - _TITLE - height) / body, _PANEL / _WIDTH, height / body)
    )
    axes.set_xticks([])
    axes.set_yticks([])
    return axes


def _draw_frame(axes: "Axes", shown: NDArray[np.uint8], result: FrameResult, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=9.5, pad=4)
    axes.imshow(shown, aspect="auto")
    _draw_spot(axes, result)
    _stay(axes, shown)


def _draw_map(
    axes: "Axes",
    shown: NDArray[np.uint8],
    values: NDArray[np.float32],
    result: FrameResult,
    title: str,
) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    axes.set_title(title, loc="left", fontsize=9.5, pad=4)
    grey = shown.astype(np.float32).mean(axis=2)
    axes.imshow(0.75 * grey, cmap="gray", vmin=0, vmax=255, aspect="auto")
    known = values[np.isfinite(values)]
    low = float(np.median(known)) if known.size else 0.0
    high = float(known.max()) if known.size else 1.0
    high = high if high > low else low + 1.0
    level = np.clip((np.nan_to_num(values, nan=low) - low) / (high - low), 0, 1)
    rows, cols = shown.shape[:2]
    axes.imshow(
        np.nan_to_num(values, nan=low),
        cmap="inferno",
        vmin=low,
        vmax=high,
        alpha=0.85 * np.sqrt(level),
        extent=(-0.5, cols - 0.5, rows - 0.5, -0.5),
        aspect="auto",
    )
    _draw_spot(axes, result, thin=True)
    _stay(axes, shown)
    bar_axes = axes.inset_axes((1.025, 0.0, 0.03, 1.0))
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    bar = figure.colorbar(ScalarMappable(Normalize(low, high), "inferno"), cax=bar_axes)
    bar.set_ticks([low, high], labels=[number(low), number(high)])
    bar.outline.set_linewidth(0.5)  # pyright: ignore[reportCallIssue]
    bar_axes.tick_params(length=2, width=0.5, pad=1.5, labelsize=7.5)


def _draw_spot(axes: "Axes", result: FrameResult, *, thin: bool = False) -> None:
    from matplotlib.patches import Circle
    from matplotlib.patheffects import Normal, Stroke

    if result.place is None:
        return
    row, col, radius = result.place
    width = 1.0 if thin else 1.8

    def rim(outer: float) -> list[Any]:
        return [Stroke(linewidth=outer, foreground="#101418"), Normal()]

    axes.add_patch(
        Circle(
            (col, row),
            radius,
            fill=False,
            edgecolor=YELLOW,
            linewidth=width,
            linestyle="-" if result.label == "polyp" else (0, (4, 2.5)),
            path_effects=rim(width + 1.2),
        )
    )
    axes.plot(col, row, "x", color=GREEN, ms=5, mew=1.5, path_effects=rim(2.6))


def _stay(axes: "Axes", shown: NDArray[np.uint8]) -> None:
    """Keep the view on the frame, though a circle may leave it."""
    rows, cols = shown.shape[:2]
    axes.set_xlim(-0.5, cols - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)


def _draw_footer(below: "SubFigure", result: FrameResult) -> None:
    notice = f"capsieve {__version__} - research software, not a medical device"
    small: dict[str, Any] = {"fontsize": 7, "color": SOFT_INK, "va": "bottom"}
    below.text(_LEFT, 0.22, notice, **small)
    if result.place is not None:
        row, col, radius = result.place
        legend = (
            f"circle: place found by the detector, row {row:.0f}, column {col:.0f}, radius "
            f"{radius:.0f}; solid: flagged, dashed: not"
        )
        below.text(1 - _LEFT, 0.22, legend, ha="right", **small)
