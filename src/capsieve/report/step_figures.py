"""Figures of the paper that compare frames by the steps of Algorithm 1, drawn from explanations.

Every figure is a function of the frames, in the order of drawing, and of the parameters
that they were explained with.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from capsieve.parameters import Parameters
from capsieve.report import figures
from capsieve.report.figures import SOFT_INK, Drawing
from capsieve.report.panels import (
    draw_balls,
    draw_ellipses,
    draw_energy,
    draw_midpass,
    draw_segmentation,
    draw_texture,
    show_whole_frame,
)
from capsieve.report.text import math_symbols
from capsieve.results import Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 4
"""Panels side by side; also the most frames of :func:`errors_drawing`."""

# Inches. Every place is computed here: Matplotlib's constrained layout gives other last digits from
# run to run, and so other files for the same frames.
_PANEL = 2.35
_TEXTURE_PANEL = 2.6
_BAR = 0.55
_GAP = 0.10
_LINE = 0.155
_TITLE = 0.27
_SMALL = 8.0  # points


_BALLS = {
    "printed": "The ball is b = (R² − d²) / N_x², with d the distance to its centre, fitted to u.",
    "feature": "The ball is b = (R² − d²) / N_x², with d the distance to its centre, fitted to the "
    "part of u in the component.",
    "hemisphere": "The ball is b = √(R² − d²) / N_x, with d the distance to its centre, fitted to "
    "u.",
}


class ShownFrame(NamedTuple):
    """A frame of a figure.

    Attributes
    ----------
    explanation
        What :func:`capsieve.explain` returned; its label states whether the frame is flagged. None:
        the frame cannot be read.
    lines
        A title of at most three lines: the name of the polyp, the rule that decided, the place.
    """

    explanation: Explanation | None
    lines: Sequence[str] = ()


def texture_drawing(frames: Sequence[ShownFrame], parameters: Parameters) -> Drawing:
    """Draw frame, texture t and texture energy T of each frame in a row."""
    steps: dict[str, _Draw] = {
        "frame": lambda axes, e: axes.imshow(e.frame),
        "texture $t$": draw_texture,
        "texture energy $T$": lambda axes, e: draw_energy(axes, e, parameters),
    }
    figure = _by_rows(frames, steps, bar=_BAR, panel=_TEXTURE_PANEL)
    sigma = parameters.derived.energy_sigma
    caption = (
        f"Columns: frame; texture t; texture energy T, which is |t| to the power "
        f"{parameters.energy_power:g} smoothed with a Gaussian of {sigma:g} pixels. Small circle: "
        f"the place of T_max. Lines on the scale of T: T_L = {parameters.texture_low:g} and "
        f"T_U = {parameters.texture_high:g}, between which a frame passes pre-selection. "
        "The scale of t ends at its 99.7th percentile and differs from row to row."
    )
    return Drawing(figure, caption, "Texture of the frames")


def geometry_drawing(frames: Sequence[ShownFrame], parameters: Parameters) -> Drawing:
    """Draw frame, u, numbered components and ellipses of inertia of each frame in a row."""
    steps: dict[str, _Draw] = {
        "frame": lambda axes, e: axes.imshow(e.frame),
        "mid-pass $u$": lambda axes, e: draw_midpass(axes, e, bar=False),
        "components of $s$": draw_segmentation,
        "ellipses of inertia": draw_ellipses,
    }
    bounds = parameters.derived
    caption = (
        "Columns: frame; u, brightest at its maximum; connected components of the segmentation s, "
        "numbered; their ellipses of inertia, with centres of mass (green crosses). White with a "
        f"solid yellow ellipse: "
        f"components of S_L = {bounds.size_low} to S_U = {bounds.size_high} pixels and an "
        f"eccentricity of at most E_max = {parameters.eccentricity_max:g}. Grey and dashed: "
        "rejected, with the rule. The ellipse of a long component is longer than the component, "
        "because it has the axes of the tensor of inertia in the ratio E."
    )
    return Drawing(_by_rows(frames, steps), caption, "Components and ellipses of the frames")


def balls_drawing(frames: Sequence[ShownFrame], parameters: Parameters) -> Drawing:
    """Draw each frame next to its u, both with the circle of the best-fit ball."""
    pairs = max(1, min(len(frames), ACROSS // 2))
    down = -(-len(frames) // pairs)
    head = 2 * _LINE + 0.12
    width = _left(2 * pairs)
    height = _panel_height(frames)
    with figures.style():
        figure = _figure(width, down * (head + height + 2 * _GAP))
        for number, frame in enumerate(frames):
            row, pair = divmod(number, pairs)
            top = row * (head + height + 2 * _GAP)
            left = _left(2 * pair)
            _write(figure, left, top, frame.lines)
            axes = [_axes(figure, _left(2 * pair + k), top + head, height) for k in range(2)]
            if frame.explanation is None:
                _draw_unreadable(axes)
                continue
            axes[0].imshow(frame.explanation.frame)
            draw_midpass(axes[1], frame.explanation, bar=False)
            for place in axes:
                _draw_circle(place, frame.explanation, parameters, centre=place is axes[1])
    caption = (
        "Each frame next to its u. Circle: the best-fit ball with the radius R_max; green cross: "
        f"its centre, the centre of mass weighted with u. R_P = {parameters.radius_threshold}. "
        f"{_BALLS[str(parameters.to_dict().get('ball_fit', 'printed'))]}"
    )
    return Drawing(figure, caption, "Best-fit balls on the frames and on u")


def errors_drawing(frames: Sequence[ShownFrame], parameters: Parameters) -> Drawing:
    """Draw a column per frame: the frame, u, and the components with their ellipses of inertia."""
    height, head = _panel_height(frames), 3 * _LINE + 0.12
    with figures.style():
        figure = _figure(_left(len(frames)), head + 3 * (height + _GAP))
        for number, frame in enumerate(frames):
            left = _left(number)
            _write(figure, left, 0, frame.lines)
            tops = (head + row * (height + _GAP) for row in range(3))
            axes = [_axes(figure, left, top, height) for top in tops]
            if frame.explanation is None:
                _draw_unreadable(axes)
                continue
            axes[0].imshow(frame.explanation.frame)
            draw_midpass(axes[1], frame.explanation, bar=False)
            draw_ellipses(axes[2], frame.explanation)
            for place in axes[:2]:
                _draw_circle(place, frame.explanation, parameters, centre=place is axes[1])
            show_whole_frame(axes[2], frame.explanation)
    caption = (
        "Rows: frame; u, brightest at its maximum; components of s with their ellipses of inertia "
        "(yellow: passed the criteria; grey and dashed: rejected, with the rule). Circles: the "
        "best-fit ball with the "
        f"radius R_max, solid if the frame is flagged, else dashed; R_P = "
        f"{parameters.radius_threshold}. A frame without a circle has R_max = 0. If pre-selection "
        "stopped it, u and s show what the later steps would have seen."
    )
    return Drawing(figure, caption, "Frames, u and components of wrongly classified frames")


_Draw = Callable[["Axes", Explanation], object]


def _by_rows(
    frames: Sequence[ShownFrame],
    steps: dict[str, _Draw],
    *,
    bar: float = 0.0,
    panel: float = _PANEL,
) -> "Figure":
    """Draw a row per frame and a column per step; each but the first has a scale of width `bar`."""
    height, head = _panel_height(frames, panel), 2 * _LINE + 0.24
    places = range(len(steps))
    lefts = [_GAP + place * (panel + _GAP) + max(place - 1, 0) * bar for place in places]
    down = _TITLE + len(frames) * (head + height) + _GAP
    with figures.style():
        figure = _figure(lefts[-1] + panel + bar + _GAP, down)
        for left, (title, draw) in zip(lefts, steps.items(), strict=True):
            _text(figure, left, _TITLE - 0.06, title, fontsize=9.5, va="bottom")
            for row, frame in enumerate(frames):
                top = _TITLE + row * (head + height) + head
                axes = _axes(figure, left, top, height, panel)
                if frame.explanation is None:
                    _draw_unreadable([axes])
                else:
                    draw(axes, frame.explanation)
                    show_whole_frame(axes, frame.explanation)
        for row, frame in enumerate(frames):
            _write(figure, lefts[0], _TITLE + row * (head + height) + 0.12, frame.lines)
    return figure


def _draw_circle(axes: "Axes", e: Explanation, parameters: Parameters, *, centre: bool) -> None:
    if e.radius_max:
        draw_balls(axes, e, parameters, centres=centre)
    show_whole_frame(axes, e)


def _draw_unreadable(axes: Sequence["Axes"]) -> None:
    for place in axes:
        place.set(xticks=[], yticks=[])
        place.set_facecolor("#eef1f4")
    words = "The frame cannot\nbe read"
    axes[0].text(0.5, 0.5, words, ha="center", va="center", transform=axes[0].transAxes)


def _panel_height(frames: Sequence[ShownFrame], panel: float = _PANEL) -> float:
    """Return the height of the panels, that of the tallest frame."""
    shapes = [frame.explanation.mask.shape for frame in frames if frame.explanation is not None]
    return panel * min(max((rows / cols for rows, cols in shapes), default=1.0), 1.6)


def _left(panel: int) -> float:
    return _GAP + panel * (_PANEL + _GAP)


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), facecolor="white")


def _axes(
    figure: "Figure", left: float, top: float, height: float, width: float = _PANEL
) -> "Axes":
    """Add axes at a place in inches from the upper left corner."""
    across, down = figure.get_size_inches()
    place = left / across, 1 - (top + height) / down, width / across, height / down
    return figure.add_axes(place)


def _write(figure: "Figure", left: float, top: float, lines: Sequence[str]) -> None:
    """Write the lines of a frame: the first one bold."""
    for number, line in enumerate(lines):
        look = {"fontweight": "bold"} if not number else {"color": SOFT_INK}
        below = top + 0.06 + number * _LINE
        _text(figure, left, below, math_symbols(line), fontsize=_SMALL, va="top", **look)


def _text(figure: "Figure", left: float, top: float, text: str, **look: Any) -> None:
    across, down = figure.get_size_inches()
    figure.text(left / across, 1 - top / down, text, **look)
