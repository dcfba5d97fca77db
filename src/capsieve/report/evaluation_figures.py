"""Figures of an evaluation: ROC curves, reading effort, FROC, histograms, comparison."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from capsieve.report import text
from capsieve.report.evaluation_tables import source_subsets
from capsieve.report.figures import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SKY,
    VERMILLION,
    Drawing,
    figure,
    percent_axis,
)
from capsieve.report.point_tables import point_text
from capsieve.report.text import math_symbols
from capsieve.statistics.results import Evaluation, Histogram, Metric, OperatingPoint, RocCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LOW_END = 0.2  # the part of the curve that matters: flagged frames have to be read
_MARKS = ("X", "P", "D", "^")
_MARK_SIZE, _END_SIZE = 8, 12  # points


def drawings(evaluation: Evaluation) -> dict[str, Drawing]:
    """Return the figures by the names of their files; those without data are left out."""
    by_name = {
        "roc": roc_drawing(evaluation),
        "roc-low": roc_drawing(evaluation, end=_LOW_END),
        "reading-effort": _effort(evaluation),
        "froc": _froc(evaluation),
        "comparison": _comparison(evaluation),
    }
    by_name |= {f"histogram-{each.key}": histogram_drawing(each) for each in evaluation.histograms}
    return {name: drawing for name, drawing in by_name.items() if drawing is not None}


def roc_drawing(evaluation: Evaluation, *, end: float = 1.0) -> Drawing | None:
    """Draw the curves per frame and per polyp, with the operating points; None without curves.

    `end` is the largest false positive rate that is shown.
    """
    curves = [each for each in (evaluation.roc_frames, evaluation.roc_polyps) if each is not None]
    if not curves:
        return None
    with figure(len(curves), width=4.9, height=5.0) as (drawing, panels):
        for axes, curve in zip(panels, curves, strict=True):
            if curve.band_rate is not None and curve.band_low is not None:
                look: dict[str, Any] = {"color": SKY, "alpha": 0.35, "linewidth": 0}
                bounds = curve.band_low, np.asarray(curve.band_high)
                axes.fill_between(curve.band_rate, *bounds, label="95 % band", **look)
            key = "frames.auc" if curve.unit == "frame" else "polyps.auc"
            label = _area_label("detector", evaluation.metrics, key)
            _draw_roc(axes, curve, color=BLUE, line="-", label=label, end=end)
            for mark, point in zip(_MARKS, _distinct_points(evaluation), strict=False):
                x, y, found = _rates(evaluation, point, curve)
                if x <= end:
                    name = f"{point_text(evaluation, point)}: {found}"
                    _draw_mark(axes, x, y, mark, name)
            _finish_roc(axes, f"ROC per {curve.unit}", curve, end)
    counts = " and ".join(
        text.plural(each.positives, "polyp frame" if each.unit == "frame" else each.unit)
        for each in curves
    )
    caption = f"{counts}; {text.plural(curves[0].negatives, 'normal frame')}."
    if source_subsets(evaluation):
        caption += " All sources, pooled."
    if end < 1:
        caption = f"The same curves up to {text.percent(end)} false positives."
    return Drawing(drawing, caption + _end_note(curves, end), "ROC curves")


def _comparison(evaluation: Evaluation) -> Drawing | None:
    both = evaluation.comparison
    if both is None:
        return None
    with figure(1, width=5.4, height=5.2) as (drawing, [axes]):
        looks = (BLUE, "-"), (VERMILLION, "--")
        for name, curve, metrics, (color, line) in zip(
            both.names, both.rocs, (both.first, both.second), looks, strict=True
        ):
            label = _area_label(name, metrics, "frames.auc")
            _draw_roc(axes, curve, color=color, line=line, label=label)
            passed, hit = (
                _known(metrics, f"frames.{key}") for key in ("specificity", "sensitivity")
            )
            if passed and hit:
                _draw_mark(axes, 1 - (passed.value or 0), hit.value or 0, "X", "", color=color)
        _finish_roc(axes, "ROC per frame", both.rocs[0], 1.0)
    caption = "Crosses: the operating points that are compared."
    return Drawing(drawing, caption + _end_note(both.rocs, 1.0), "ROC curves of both detectors")


def _effort(evaluation: Evaluation) -> Drawing | None:
    curve = evaluation.effort
    if curve is None:
        return None
    with figure(1, width=6.4, height=4.4) as (drawing, [axes]):
        if curve.polyps:
            axes.plot(curve.share, curve.polyps_found, color=BLUE, label=f"{curve.unit}s found")
        axes.plot(curve.share, curve.frames_found, "--", color=ORANGE, label="polyp frames found")
        axes.plot([0, 1], [0, 1], ":", color=GREY, linewidth=1.2, label="frames in random order")
        read = _known(evaluation.metrics, "effort.share_of_frames")
        key = "polyps.sensitivity" if curve.polyps else "frames.sensitivity"
        hit = _known(evaluation.metrics, key)
        if evaluation.points and read and hit:
            name = point_text(evaluation, evaluation.points[0])
            found = f"{text.metric(hit)} found, {text.metric(read)} read"
            _draw_mark(axes, read.value or 0, hit.value or 0, _MARKS[0], f"{name}: {found}")
        axes.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="found", title="Reading effort")
        axes.set_xlabel("share of each exam that is read, highest scores first")
        percent_axis(axes.xaxis)
        percent_axis(axes.yaxis)
        axes.legend(loc="lower right")
    counts = [text.plural(curve.exams, "exam")]
    if curve.polyps:
        counts.append(text.plural(curve.polyps, curve.unit))
    return Drawing(drawing, f"{', '.join(counts)}.", "Polyps found against the share read")


def _froc(evaluation: Evaluation) -> Drawing | None:
    curve = evaluation.froc
    if curve is None or not curve.thresholds.size:
        return None
    with figure(1, width=6.4, height=4.2) as (drawing, [axes]):
        axes.plot(curve.false_marks_per_frame, curve.sensitivity, color=BLUE)
        axes.set(ylim=(0, 1.02), title="FROC", ylabel="outlines hit")
        axes.set_xlabel("false marks per frame")
        axes.set_xlim(left=0)
        percent_axis(axes.yaxis)
    outlines = text.plural(curve.outlines, "outline")
    caption = f"{outlines}, {text.plural(curve.frames, 'frame')}."
    return Drawing(drawing, caption, "FROC curve")


def histogram_drawing(histogram: Histogram) -> Drawing | None:
    """Draw the distributions in both classes as shares of all frames; None if no bin has any."""
    if not histogram.polyp.sum() + histogram.normal.sum():
        return None
    normal, polyp = histogram.normal_frames, histogram.polyp_frames
    plain = {"facecolor": "#a9cbe4", "edgecolor": BLUE, "linewidth": 0.8}
    striped = {"facecolor": "none", "edgecolor": "#9c4400", "linewidth": 1.0, "hatch": "////"}
    looks: list[tuple[str, Any, int, dict[str, Any]]] = [
        ("normal", histogram.normal, normal, plain),
        ("polyp", histogram.polyp, polyp, striped),
    ]
    with figure(1, width=5.4, height=3.7) as (drawing, [axes]):
        for name, counts, whole, look in looks:
            label = f"{name}: {text.count(int(counts.sum()))} of {text.plural(whole, 'frame')}"
            axes.stairs(counts / max(whole, 1), histogram.edges, fill=True, label=label, **look)
        for line, (name, value) in zip(
            ("--", "-.", ":") * 4, histogram.bounds.items(), strict=False
        ):
            if histogram.edges[0] <= value <= histogram.edges[-1]:
                label = math_symbols(f"{name} = {text.distinct(value)}")
                axes.axvline(value, color=INK, linestyle=line, linewidth=1.2, label=label)
        axes.set(
            xlim=(histogram.edges[0], histogram.edges[-1]),
            ylabel="share of all frames of the class",
        )
        axes.set_xlabel(math_symbols(histogram.label))
        axes.set_title(math_symbols(histogram.label))
        percent_axis(axes.yaxis)
        axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.2), borderaxespad=0, ncols=2)
    caption = "The last bin also counts values beyond it."
    caption = f"{text.sentence(histogram.left_out)} {caption}".strip()
    return Drawing(drawing, caption, f"Histogram of {text.plain(histogram.label)}")


def _draw_roc(
    axes: "Axes", curve: RocCurve, *, color: str, line: str, label: str, end: float = 1.0
) -> None:
    """Draw a curve, its end, and the straight line from there to (1, 1)."""
    x, y = curve.false_positive_rate, curve.true_positive_rate
    axes.plot(x, y, line, color=color, label=math_symbols(label), zorder=3)
    if _stops(curve):
        axes.plot([x[-1], 1], [y[-1], 1], ":", color=GREY, linewidth=1.3)
    if _stops(curve) and x[-1] <= end:
        # Larger than a mark: an operating point is often the end of the curve.
        axes.plot(
            x[-1:], y[-1:], "o", color=color, markersize=_END_SIZE, markeredgewidth=1.6,
            markerfacecolor="white", zorder=4, clip_on=False,
        )  # fmt: skip


def _draw_mark(
    axes: "Axes", x: float, y: float, mark: str, name: str, color: str = VERMILLION
) -> None:
    label = math_symbols(name) if name else "_"
    axes.plot(
        [x], [y], mark, color=color, markersize=_MARK_SIZE, markeredgecolor="white",
        linestyle="none", label=label, zorder=5, clip_on=False,
    )  # fmt: skip


def _finish_roc(axes: "Axes", title: str, curve: RocCurve, end: float) -> None:
    axes.plot([0, 1], [0, 1], ":", color=INK, linewidth=0.9)
    found = "polyp frames" if curve.unit == "frame" else f"{curve.unit}s"
    axes.set(xlim=(0, end), ylim=(0, 1.02), title=title, ylabel=f"{found} found")
    axes.set_xlabel("normal frames flagged")
    axes.set_xticks(np.linspace(0, end, 5 if end < 1 else 6))
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.14), borderaxespad=0)


def _distinct_points(evaluation: Evaluation) -> list[OperatingPoint]:
    """The operating points without those that flag the same frames as an earlier one."""
    found: list[OperatingPoint] = []
    for point in evaluation.points:
        if not any(np.array_equal(point.flagged, other.flagged) for other in found):
            found.append(point)
    return found


def _rates(
    evaluation: Evaluation, point: OperatingPoint, curve: RocCurve
) -> tuple[float, float, str]:
    """Return false positive rate and sensitivity of an operating point, and both as a text."""
    frames, flagged = evaluation.frames, point.flagged
    false = int(np.count_nonzero(flagged & frames.normal_frames))
    hit = int(np.count_nonzero(flagged & frames.polyp_frames))
    if curve.unit != "frame":
        named = frames.polyp_frames & (frames.polyp.code >= 0)
        hit = np.unique(frames.polyp.code[named & flagged]).size
    negatives, positives = max(curve.negatives, 1), max(curve.positives, 1)
    shown = f"{text.share(hit, positives)} found, {text.share(false, negatives)} of normal flagged"
    return false / negatives, hit / positives, shown


def _end_note(curves: Any, end: float) -> str:
    if not any(_stops(curve) and curve.false_positive_rate[-1] <= end for curve in curves):
        return ""
    return " Open circle: the end of the curve; the frames beyond it were rejected before scoring."


def _stops(curve: RocCurve) -> bool:
    x, y = curve.false_positive_rate, curve.true_positive_rate
    return bool(x.size and (x[-1] < 1 or y[-1] < 1))


def _known(metrics: Iterable[Metric], key: str) -> Metric | None:
    """Return the metric of all frames, if it has a value."""
    known = (m for m in metrics if m.key == key and m.subset == "all" and m.value is not None)
    return next(known, None)


def _area_label(name: str, metrics: Iterable[Metric], key: str) -> str:
    area = _known(metrics, key)
    return name if area is None else f"{name}, AUC {text.metric(area)}"
