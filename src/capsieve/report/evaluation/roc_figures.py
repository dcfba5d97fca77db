"""ROC curves per frame and per polyp, whole and up to 20 % false positives."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from capsieve.report.evaluation.cells import decimals, rate_text
from capsieve.report.evaluation.drawing import (
    BLUE,
    GREY,
    MARKS,
    SKY,
    VERMILLION,
    axes_labels,
    drawing_style,
    legends_below,
    mathematical,
    new_figure,
    panel_title,
    percent_axis,
)
from capsieve.report.evaluation.finding import area_of
from capsieve.report.evaluation.operating import distinct_points, place_of, threshold_name
from capsieve.report.evaluation.thinning import thinned
from capsieve.report.formats import plain, plural
from capsieve.report.style import INK
from capsieve.statistics.curves import Band, RocCurve
from capsieve.statistics.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LOW_END", "draw_curve", "end_notes", "roc_figure"]

LOW_END = 0.2
"""The part of the curve that matters: what is flagged has to be read."""

_MOST_DRAWN = 2000


def roc_figure(evaluation: Evaluation, *, low: bool = False) -> "Figure | None":
    """Draw the curves side by side; `low` shows false positive rates up to 20 % alone."""
    curves = [
        (curve, band)
        for curve, band in (
            (evaluation.roc_frames, evaluation.roc_frames_band),
            (evaluation.roc_polyps, evaluation.roc_polyps_band),
        )
        if curve is not None
    ]
    if not curves:
        return None
    with drawing_style():
        figure, panels = new_figure(len(curves), notes=_notes(curves, LOW_END if low else 1.0))
        for axes, letter, (curve, band) in zip(panels, "ab", curves, strict=False):
            _draw_panel(axes, letter if len(curves) > 1 else "", evaluation, curve, band, low)
        legends_below(figure, panels)
        return figure


def _draw_panel(
    axes: "Axes", letter: str, evaluation: Evaluation, curve: RocCurve, band: Band | None, low: bool
) -> None:
    if band is not None and band.x.size:
        axes.fill_between(
            band.x, band.low, band.high, color=SKY, alpha=0.35, linewidth=0,
            label=f"95 %, {plain(band.method)}",
        )  # fmt: skip
    draw_curve(axes, curve, color=BLUE, dashes="-", label=_area_label(evaluation, curve, low))
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.9, label="no discrimination")
    end = LOW_END if low else 1.0
    for mark, point in zip(MARKS, distinct_points(evaluation.points), strict=False):
        place = place_of(curve.thresholds, point.threshold)
        if place < 0 or curve.false_positive_rate[place] > end:
            continue
        x, y = curve.false_positive_rate[place], curve.true_positive_rate[place]
        name = threshold_name(evaluation, point)
        axes.plot(
            [x], [y], mark, color=VERMILLION, markersize=10, markeredgewidth=2.2, zorder=5,
            clip_on=False, linestyle="none",
            label=mathematical(
                f"{name}: {rate_text(float(y), curve.positives)} found at "
                f"{rate_text(float(x), curve.negatives)}"
            ),
        )  # fmt: skip
    what = f"per {curve.unit}"
    axes.set_xlim(0, end)
    axes.set_ylim(0, 1.02)
    axes.set_xticks(np.linspace(0, end, 5 if low else 6))
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    found = "polyp frames" if curve.unit == "frame" else f"{curve.unit}s"
    axes_labels(axes, "false positive rate (normal frames flagged)", f"{found} found")
    panel_title(axes, f"ROC {what}{', up to 20 %' if low else ''}", letter)


def draw_curve(axes: "Axes", curve: RocCurve, *, color: str, dashes: str, label: str) -> None:
    """Draw a curve, its end, and the way from there to (1, 1) that is only a guess."""
    x, y = curve.false_positive_rate, curve.true_positive_rate
    chosen = thinned(x, y, most=_MOST_DRAWN)
    axes.plot(x[chosen], y[chosen], dashes, color=color, label=mathematical(label), zorder=3)
    if x.size and (x[-1] < 1 or y[-1] < 1):
        axes.plot([x[-1], 1], [y[-1], 1], ":", color=GREY, linewidth=1.3)
        axes.plot([x[-1]], [y[-1]], "o", color=color, markerfacecolor="white", zorder=4)


def end_notes(curves: Sequence[RocCurve], *, end: float = 1.0) -> list[str]:
    """Explain the open circle and what follows it, where a curve has them."""
    if not any(_stops(curve, end) for curve in curves):
        return []
    return [
        "Open circle: here pre-selection stops the curve, for what it rejects has no score. "
        "Dotted: the way from there to (100 %, 100 %), a guess."
    ]


def _area_label(evaluation: Evaluation, curve: RocCurve, low: bool) -> str:
    area = area_of(evaluation, curve.unit, low=low)
    if area is None or area.value is None:
        return f"per {curve.unit}"
    return f"area under the curve {'up to 20 % ' if low else ''}{decimals(area.value, digits=3)}"


def _notes(curves: list[tuple[RocCurve, Band | None]], end: float) -> list[str]:
    notes: list[str] = []
    counts = [
        f"{plural(curve.positives, 'polyp frame' if curve.unit == 'frame' else curve.unit)}"
        for curve, _ in curves
    ]
    notes.append(f"{' and '.join(counts)}; {plural(curves[0][0].negatives, 'normal frame')}.")
    notes += end_notes([curve for curve, _ in curves], end=end)
    why = {
        f"per {curve.unit}": band.why
        for curve, band in curves
        if band is not None and not band.x.size and band.why
    }
    for reason in dict.fromkeys(why.values()):
        missing = [name for name, other in why.items() if other == reason]
        notes.append(f"No band {' and '.join(missing)} ({plain(reason)}).")
    return notes


def _stops(curve: RocCurve, end: float) -> bool:
    """Whether the curve ends where it is seen, short of (1, 1)."""
    x, y = curve.false_positive_rate, curve.true_positive_rate
    return bool(x.size and x[-1] <= end and (x[-1] < 1 or y[-1] < 1))
