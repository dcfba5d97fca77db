"""The steps of the algorithm, each drawn into its axes: nine panels (a) to (i), and galleries."""

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.ellipse import inertia_ellipse
from capsieve.parameters import Parameters
from capsieve.report import words
from capsieve.report.figures import GREEN, MUTED, YELLOW
from capsieve.report.text import math_symbols
from capsieve.results import Explanation, Feature, Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

PANEL_WIDTH = 2.70
"""Inches, of the nine panels."""

_OUTSIDE = "#101418"
_DECISION_COLOURS = {"polyp": "#b34700", "normal": "#2f5d8a"}
_LABEL_SIZE = 7.5
_MOST_NOTES = 12  # with more features only numbers are written
_DIRECTIONS, _RINGS = 16, 8  # candidate places of a label around its anchor


def draw_panels(axes: list["Axes"], e: Explanation, parameters: Parameters) -> None:
    """Draw the steps of the algorithm into nine axes."""
    titles = [
        "frame",
        {"gray": "grey", "red": "red channel", "lab-a": "Lab a*"}[parameters.channel],
        "normalised intensity inside the mask"
        if parameters.vignetting
        else "normalisation switched off",
        "extended beyond the mask, $f$",
        "texture $t$",
        "texture energy $T$",
        "mid-pass $u$",
        f"segmentation $s$, $N_C$ = {len(e.features)}",
        "ellipses of inertia",
    ]
    for axis, letter, title in zip(axes, "abcdefghi", titles, strict=True):
        axis.set_title(f"({letter})  {title}", loc="left", fontsize=9.5, pad=4)
    gray = {"cmap": "gray", "vmin": 0, "vmax": 255}
    axes[0].imshow(e.frame)
    axes[1].imshow(e.gray, **gray)
    # The correction ends at the mask: the rest was not corrected, and the next step replaces it.
    axes[2].set_facecolor(_OUTSIDE)
    axes[2].imshow(np.ma.masked_array(e.corrected, ~e.mask), **gray)
    axes[3].imshow(e.extended, **gray)
    draw_texture(axes[4], e)
    draw_energy(axes[5], e, parameters)
    draw_midpass(axes[6], e)
    for axis in (axes[0], axes[6]):
        draw_balls(axis, e, parameters, others=axis is axes[6], centres=axis is axes[6])
    draw_segmentation(axes[7], e)
    draw_ellipses(axes[8], e)
    for axis in axes:
        show_whole_frame(axis, e)


def show_whole_frame(axis: "Axes", e: Explanation) -> None:
    """Limit the view to the frame, because circles and ellipses may leave it; no ticks."""
    rows, cols = e.mask.shape
    axis.set(xlim=(-0.5, cols - 0.5), ylim=(rows - 0.5, -0.5), xticks=[], yticks=[])


def draw_texture(axis: "Axes", e: Explanation) -> None:
    """Draw the texture t of the whole frame."""
    # A single glint must not turn the rest into flat grey, nor rounding errors into texture.
    inside = np.abs(e.texture[e.mask])
    limit = max(float(np.percentile(inside, 99.7)) if inside.size else 0.0, 1.0)
    image = axis.imshow(e.texture, cmap="gray", vmin=-limit, vmax=limit)
    edge = f"{limit:.0f}" if limit >= 10 else f"{limit:.1f}"
    _colour_bar(axis, image, {-limit: f"\N{MINUS SIGN}{edge}", 0.0: "0", limit: f"+{edge}"})


def draw_energy(axis: "Axes", e: Explanation, parameters: Parameters) -> None:
    """Draw the texture energy T with T_max and the bounds of pre-selection."""
    # The same scale for every frame that passes: weak texture is dark. But a very high bound
    # must not turn the panel black.
    top = max(e.texture_max, parameters.texture_high, 1e-3)
    if top > 10 * max(e.texture_max, parameters.texture_low, 1.0):
        top = max(e.texture_max, parameters.texture_low, 1.0)
    image = axis.imshow(e.energy, cmap="magma", vmin=0, vmax=top)
    low, high = parameters.texture_low, parameters.texture_high
    ticks = {0.0: "0", top: f"{top:.0f}" if top >= 10 else f"{top:.1f}"}
    ticks |= {low: f"$T_L$ {low:g}", high: f"$T_U$ {high:g}"}
    _colour_bar(axis, image, ticks, lines=(low, high))
    if e.texture_max <= 0:
        return
    rows, cols = e.energy.shape
    row, col = np.unravel_index(int(np.argmax(e.energy)), e.energy.shape)
    axis.plot(col, row, marker="o", ms=7, mfc="none", mec="white", mew=1.2)
    # Towards the middle, away from the border.
    axis.annotate(
        math_symbols(f"T_max = {words.digits(e.texture_max, low, high)}"),
        (col, row),
        xytext=(8 if col < cols / 2 else -8, -9 if row < rows / 2 else 9),
        textcoords="offset points",
        ha="left" if col < cols / 2 else "right",
        va="center",
        color="white",
        fontsize=_LABEL_SIZE + 1,
        path_effects=_outline(2.6),
    )


def draw_midpass(axis: "Axes", e: Explanation, *, bar: bool = True) -> None:
    """Draw u, and the threshold Theta on its colour bar."""
    theta = e.segmentation_threshold or 0.0
    highest = e.midpass_max or 0.0
    top = max(highest, theta, 1e-3)
    image = axis.imshow(e.midpass, cmap="gray", vmin=0, vmax=top)
    if bar:
        ticks = {0.0: "0", top: f"{top:.2f}", theta: rf"$\Theta$ {theta:.2f}"}
        _colour_bar(axis, image, ticks, lines=(theta,))


def draw_balls(
    axis: "Axes",
    e: Explanation,
    parameters: Parameters,
    *,
    others: bool = False,
    centres: bool = False,
) -> None:
    """Draw the best-fit circle, solid if it flags the frame, else dashed.

    `others` also draws those of other features (thin), `centres` the centres.
    """
    from matplotlib.patches import Circle

    best = e.best
    for feature in e.features:
        if not feature.radius or (feature is not best and not others):
            continue
        counts = e.label == "polyp" and feature.radius >= parameters.radius_threshold
        width = 1.8 if feature is best else 0.9
        circle = Circle(
            (feature.ball_col, feature.ball_row),
            feature.radius,
            fill=False,
            edgecolor=YELLOW,
            linewidth=width,
            linestyle="-" if counts else (0, (4, 2.5)),
            path_effects=_outline(width + 1.2),
        )
        axis.add_patch(circle)
        if centres:
            _cross(axis, feature.ball_row, feature.ball_col)


def draw_segmentation(axis: "Axes", e: Explanation) -> None:
    """Draw s with the number of each feature; rejected ones are grey."""
    passed = [feature.number for feature in e.features if not feature.rejected]
    shades = np.where(np.isin(e.labels, passed), 1.0, 0.42)
    axis.imshow(np.where(e.labels > 0, shades, 0.0), cmap="gray", vmin=0, vmax=1)
    _mask_outline(axis, e.mask)
    _label_features(axis, e, {feature.number: "" for feature in e.features})


def draw_ellipses(axis: "Axes", e: Explanation) -> None:
    """Draw the ellipses of inertia with centres of mass, numbers and the rules that rejected."""
    axis.imshow(np.where(e.labels > 0, 0.30, 0.0), cmap="gray", vmin=0, vmax=1)
    _mask_outline(axis, e.mask)
    for feature in e.features:
        rows, cols = inertia_ellipse(feature)
        rejected = bool(feature.rejected)
        axis.plot(
            cols,
            rows,
            color=MUTED if rejected else YELLOW,
            linewidth=1.0 if rejected else 1.6,
            linestyle=(0, (3, 2)) if rejected else "-",
        )
        _cross(axis, feature.row, feature.col)
    noted = len(e.features) <= _MOST_NOTES
    _label_features(axis, e, {one.number: one.rejected if noted else "" for one in e.features})


def _label_features(axis: "Axes", e: Explanation, notes: dict[int, str]) -> None:
    """Write each feature's number, with its note if they all fit."""
    figure = axis.get_figure(root=True)
    assert figure is not None
    per_point = e.mask.shape[1] / (axis.get_window_extent().width / figure.dpi * 72)
    size = _LABEL_SIZE + 0.5
    # Features that passed, then large ones, get the better places.
    order = sorted(e.features, key=lambda feature: (bool(feature.rejected), -feature.size))
    texts = [f"{one.number} {notes[one.number]}".strip() for one in order]
    anchors = [(one.row, one.col) for one in order]
    occupied = _drawn_pixels(e)

    def boxes(texts: list[str]) -> list[tuple[float, float]]:
        return [
            (1.25 * size * per_point, (0.64 * size * len(text) + 2.0) * per_point) for text in texts
        ]

    places = _label_places(anchors, boxes(texts), occupied)
    if None in places:  # too crowded for the notes
        texts = [str(one.number) for one in order]
        places = _label_places(anchors, boxes(texts), occupied)
    for feature, text, place in zip(order, texts, places, strict=True):
        if place is None:
            continue
        colour = MUTED if feature.rejected else YELLOW
        if _needs_line(place, feature, order, per_point):
            axis.plot([feature.col, place[1]], [feature.row, place[0]], color=colour, lw=0.5)
        axis.text(
            place[1],
            place[0],
            text,
            color=colour,
            fontsize=size,
            fontweight="normal" if feature.rejected else "bold",
            ha="center",
            va="center",
            path_effects=_outline(2.2),
        )


def _needs_line(
    place: tuple[float, float], feature: Feature, features: list[Feature], per_point: float
) -> bool:
    """Return whether a label is far from its feature, or nearer to another one."""
    far = abs(place[0] - feature.row) > 22 * per_point
    away = math.dist(place, (feature.row, feature.col))
    nearer = any(math.dist(place, (other.row, other.col)) < away for other in features)
    return far or nearer or abs(place[1] - feature.col) > 45 * per_point


def _drawn_pixels(e: Explanation) -> NDArray[np.bool_]:
    """Pixels of the features, their ellipses and crosses, which a label should leave free."""
    drawn = e.labels > 0
    reach = max(2, drawn.shape[1] // 64)
    for feature in e.features:
        rows, cols = (np.rint(line).astype(int) for line in inertia_ellipse(feature, points=512))
        seen = (rows >= 0) & (rows < drawn.shape[0]) & (cols >= 0) & (cols < drawn.shape[1])
        drawn[rows[seen], cols[seen]] = True
        row, col = round(feature.row), round(feature.col)
        drawn[max(row - reach, 0) : row + reach + 1, max(col - reach, 0) : col + reach + 1] = True
    return drawn


def _mask_outline(axis: "Axes", mask: NDArray[np.bool_]) -> None:
    if mask.any() and not mask.all():
        axis.contour(mask, levels=[0.5], colors="#4a5563", linewidths=0.6)


def _cross(axis: "Axes", row: float, col: float) -> None:
    axis.plot(col, row, "x", color=GREEN, ms=5, mew=1.5, path_effects=_outline(2.6))


def _outline(width: float = 2.0) -> list[Any]:
    """A dark rim: yellow, green and white stay readable on bright tissue."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=width, foreground="#101418"), Normal()]


def _colour_bar(
    axis: "Axes", image: Any, ticks: dict[float, str], *, lines: tuple[float, ...] = ()
) -> None:
    """A slim bar at the panel's right side. Of two ticks that would touch, the later one stays."""
    from matplotlib.figure import Figure

    scale = axis.inset_axes((1.025, 0.0, 0.035, 1.0))
    figure = axis.get_figure(root=True)
    assert isinstance(figure, Figure)
    low, high = image.get_clim()
    kept: dict[float, str] = {}
    for value in reversed(ticks):
        apart = all(abs(value - other) >= 0.07 * (high - low) for other in kept)
        if apart and low <= value <= high:
            kept[value] = ticks[value]
    bar = figure.colorbar(image, cax=scale)
    bar.set_ticks(list(kept), labels=list(kept.values()))
    bar.outline.set_linewidth(0.5)  # pyright: ignore[reportCallIssue]
    scale.tick_params(length=2, width=0.5, pad=1.5, labelsize=_LABEL_SIZE)
    for value in lines:
        if low <= value <= high:
            scale.axhline(value, color="white", linewidth=1.0, path_effects=_outline())


def draw_decision(header: "SubFigure", decision: str, label: Label, left: float) -> None:
    """Write a decision into the header of a figure of ten inches: a coloured word and the rule.

    Parameters
    ----------
    header
        The upper part of the figure.
    decision
        "Word: rule."
    label
        Decides the colour.
    left
        Position of the word, as a fraction of the width.
    """
    word, rule = decision.split(": ", 1)
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
            "facecolor": _DECISION_COLOURS[label],
            "edgecolor": "none",
        },
    )
    rule = rule[0].upper() + rule[1:]
    lines = list(map(math_symbols, textwrap.wrap(rule, 104 - len(word))))
    size = 12 if len(lines) == 1 and len(rule) < 74 else 10
    start = left + 0.042 + 0.0092 * len(word)
    header.text(start, 0.46, "\n".join(lines), fontsize=size, va="center")


def _label_places(
    anchors: Sequence[tuple[float, float]],
    boxes: Sequence[tuple[float, float]],
    occupied: NDArray[np.bool_],
) -> list[tuple[float, float] | None]:
    """Find a centre for each label, near its anchor and off the occupied pixels.

    Labels are placed in the order given: the first ones get the best places.

    Parameters
    ----------
    anchors
        (row, col) of what each label belongs to.
    boxes
        (rows, cols) that each label takes.
    occupied
        Pixels that a label should not cover if possible; labels stay inside this array.

    Returns
    -------
    list
        (row, col) of each label's centre; None if every place would cover another label.
    """
    covered = np.pad(occupied, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
    taken: list[tuple[float, float, float, float]] = []
    places: list[tuple[float, float] | None] = []
    for anchor, box in zip(anchors, boxes, strict=True):
        best: tuple[float, float] | None = None
        least = math.inf
        for place in _candidates(anchor, box):
            bounds = _bounds(place, box)
            if not _inside(bounds, occupied.shape) or any(_meet(bounds, one) for one in taken):
                continue
            cost = _gap(anchor, bounds) / box[0] + 12.0 * _share(covered, bounds)
            if cost < least:
                best, least = place, cost
        places.append(best)
        if best is not None:
            taken.append(_bounds(best, box))
    return places


def _candidates(anchor: tuple[float, float], box: tuple[float, float]) -> list[tuple[float, float]]:
    """Rings around the anchor; never on it, because the centre of mass is marked."""
    found = []
    for step in range(1, _RINGS + 1):
        for k in range(_DIRECTIONS):
            angle = 2 * math.pi * k / _DIRECTIONS
            row = anchor[0] - math.sin(angle) * box[0] * (0.5 + 0.6 * step)
            col = anchor[1] + math.cos(angle) * (box[1] / 2 + box[0] * 0.6 * step)
            found.append((row, col))
    return found


def _bounds(
    place: tuple[float, float], box: tuple[float, float]
) -> tuple[float, float, float, float]:
    top, left = place[0] - box[0] / 2, place[1] - box[1] / 2
    return top, left, top + box[0], left + box[1]


def _inside(bounds: tuple[float, float, float, float], shape: tuple[int, ...]) -> bool:
    top, left, bottom, right = bounds
    return top >= 0 and left >= 0 and bottom <= shape[0] and right <= shape[1]


def _gap(anchor: tuple[float, float], bounds: tuple[float, float, float, float]) -> float:
    """Distance from the anchor to the nearest edge of the box."""
    top, left, bottom, right = bounds
    away_row = max(top - anchor[0], anchor[0] - bottom, 0.0)
    away_col = max(left - anchor[1], anchor[1] - right, 0.0)
    return math.hypot(away_row, away_col)


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _share(covered: NDArray[np.int_], bounds: tuple[float, float, float, float]) -> float:
    """Fraction of occupied pixels in the box, from the summed-area table."""
    top, left = int(bounds[0]), int(bounds[1])
    bottom, right = max(math.ceil(bounds[2]), top + 1), max(math.ceil(bounds[3]), left + 1)
    total = (
        covered[bottom, right] - covered[top, right] - covered[bottom, left] + covered[top, left]
    )
    return float(total) / ((bottom - top) * (right - left))
