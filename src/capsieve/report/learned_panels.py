"""The figure of a detector that shows evidence: frame, evidence map, and what weighed most.

Made like the nine panels: with Matplotlib's objects alone, and every place computed here, so that
the same frame gives the same file.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.engine.evidence import strongest
from capsieve.report import score_words
from capsieve.report.formats import number, plain
from capsieve.report.style import GREEN, INK, SOFT_INK, STYLE, YELLOW
from capsieve.results import Evidence, FrameResult, Weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["learned_panels"]

_VERDICT_COLOURS = {"polyp": "#b34700", "normal": "#2f5d8a"}
_FOR, _AGAINST = _VERDICT_COLOURS["polyp"], _VERDICT_COLOURS["normal"]

# Inches; the figure grows downwards with the frame's height.
_WIDTH = 11.0
_MARGIN = 0.16
_PANEL = 3.0
_BAR = 0.55  # room for a colour bar
_TALLEST = 1.5 * _PANEL
_TITLE = 0.36
_HEADER = 0.60
_FOOTER = 0.34
_ROW = 0.5  # of the bar chart, for three lines of words
_LEFT = _MARGIN / _WIDTH
_NAMES = 1.95  # inches, and letters of a line, for the names beside the bars
_NAME_WIDTH = 32


def learned_panels(
    pixels: NDArray[Any],
    result: FrameResult,
    evidence: Evidence,
    *,
    threshold: float,
    probability: bool,
    words: Mapping[str, str] | None = None,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw why a detector that fits no ball flagged a frame, or did not.

    Parameters
    ----------
    pixels
        The frame, RGB or grey.
    result, evidence
        What the detector said of it.
    threshold, probability
        The least score that it flags, and whether scores are probabilities.
    words
        Words for the names of values, where the detector has them.
    figure
        Where to draw, for instance a window's figure; by default a new one.

    Returns
    -------
    Figure
        (a) the frame with the spot, solid where it is flagged, else dashed; (b) the evidence map
        over it; (c) the values that weighed most. (b) and (c) where the detector has them.
    """
    import matplotlib.style
    from matplotlib.figure import Figure

    weights = strongest(evidence.weights)
    rows, cols = pixels.shape[:2]
    height = min(_PANEL * rows / cols, _TALLEST)
    body = max(height, _ROW * len(weights)) + _TITLE
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure() if figure is None else figure
        figure.set_layout_engine("none")
        figure.set_size_inches(_WIDTH, _HEADER + body + _FOOTER)
        figure.set_facecolor("white")
        parts: Any = figure.subfigures(3, 1, height_ratios=[_HEADER, body, _FOOTER], hspace=0.0)
        header, middle, below = parts
        _draw_header(header, result, threshold, probability)
        shown = _eight_bits(pixels)
        letters = iter("abc")
        frame = _panel_axes(middle, 0, height, body)
        _draw_frame(frame, shown, result, f"({next(letters)})  frame")
        if evidence.map is not None:
            axes = _panel_axes(middle, 1, height, body)
            _draw_map(
                axes,
                shown,
                evidence.map,
                result,
                f"({next(letters)})  evidence map, from its median up",
            )
        if weights:
            place = 1 if evidence.map is None else 2
            # Where there is a map, the picture counts too, and has no bar.
            title = "what weighed most" if evidence.map is None else "beside the picture"
            _draw_weights(middle, weights, words, place, body, f"({next(letters)})  {title}")
        _draw_footer(below, result)
    return figure


def _eight_bits(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    image = pixels if pixels.dtype == np.uint8 else (pixels >> 8).astype(np.uint8)
    return np.stack([image] * 3, axis=-1) if image.ndim == 2 else image[:, :, :3]


def _draw_header(
    header: "SubFigure", result: FrameResult, threshold: float, probability: bool
) -> None:
    verdict = score_words.score_verdict(result, threshold=threshold, probability=probability)
    rule = verdict.split(": ", 1)[1]
    header.text(
        _LEFT + 0.009,
        0.46,
        "FLAGGED: POLYP" if result.label == "polyp" else "NORMAL",
        fontsize=11.5,
        fontweight="bold",
        color="white",
        va="center",
        bbox={
            "boxstyle": "round,pad=0.45,rounding_size=0.35",
            "facecolor": _VERDICT_COLOURS[result.label],
            "edgecolor": "none",
        },
    )
    start = 0.2 if result.label == "polyp" else 0.13
    header.text(start, 0.46, rule[0].upper() + rule[1:], fontsize=12, va="center")


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
    room = axes.inset_axes((1.025, 0.0, 0.03, 1.0))
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    bar = figure.colorbar(ScalarMappable(Normalize(low, high), "inferno"), cax=room)
    bar.set_ticks([low, high], labels=[number(low), number(high)])
    bar.outline.set_linewidth(0.5)  # pyright: ignore[reportCallIssue]
    room.tick_params(length=2, width=0.5, pad=1.5, labelsize=7.5)


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


def _draw_weights(
    middle: "SubFigure",
    weights: Sequence[Weight],
    words: Mapping[str, str] | None,
    place: int,
    body: float,
    title: str,
) -> None:
    """Bars to the right for a polyp, to the left against; names and values on their left."""
    left = _MARGIN + place * (_PANEL + _MARGIN) + (_BAR if place == 2 else 0.2)
    height = _ROW * len(weights)
    axes = middle.add_axes(
        (
            (left + _NAMES) / _WIDTH,
            (body - _TITLE - height) / body,
            (_WIDTH - _MARGIN - left - _NAMES) / _WIDTH,
            height / body,
        )
    )
    longest = max(abs(weight.change) for weight in weights)
    middle.text(
        left / _WIDTH,
        (body - _TITLE + 4 / 72) / body,
        title,
        fontsize=9.5,
        va="baseline",
    )
    for place_, weight in enumerate(weights):
        change = weight.change
        axes.barh(place_, change, height=0.5, color=_FOR if change > 0 else _AGAINST)
        axes.annotate(
            score_words.change_text(change),
            (change, place_),
            xytext=(3 if change > 0 else -3, 0),
            textcoords="offset points",
            ha="left" if change > 0 else "right",
            va="center",
            fontsize=7.5,
        )
        name = _two_lines(score_words.value_name(weight.name, words))
        middle.text(
            left / _WIDTH,
            (body - _TITLE - _ROW * (place_ + 0.5)) / body,
            f"{name}\n{number(weight.value)}, commonly {number(weight.typical)}",
            fontsize=7.5,
            va="center",
            linespacing=1.25,
            color=INK,
        )
    axes.axvline(0, color=SOFT_INK, linewidth=0.8)
    low, high = (
        min(0.0, *(weight.change for weight in weights)),
        max(0.0, *(weight.change for weight in weights)),
    )
    room = 0.42 * longest  # for the numbers at the bars' ends, and the words above
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(len(weights) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)
    small: dict[str, Any] = {"fontsize": 7, "color": SOFT_INK, "va": "bottom"}
    for shift, side in ((-5, "right"), (5, "left")):
        axes.annotate(
            "against" if shift < 0 else "for a polyp",
            (0, 1),
            xycoords=("data", "axes fraction"),
            xytext=(shift, 1),
            textcoords="offset points",
            ha=side,
            **small,
        )


def _two_lines(name: str) -> str:
    """Cut what does not fit into two lines."""
    lines = textwrap.wrap(plain(name), _NAME_WIDTH, max_lines=2, placeholder=" ...")
    return "\n".join(lines)


def _draw_footer(below: "SubFigure", result: FrameResult) -> None:
    notice = f"capsieve {__version__} - research software, not a medical device"
    small: dict[str, Any] = {"fontsize": 7, "color": SOFT_INK, "va": "bottom"}
    below.text(_LEFT, 0.22, notice, **small)
    if result.place is not None:
        row, col, radius = result.place
        legend = (
            f"circle: where the detector points, row {row:.0f}, column {col:.0f}, radius "
            f"{radius:.0f}; solid: flagged, dashed: not"
        )
        below.text(1 - _LEFT, 0.22, legend, ha="right", **small)
