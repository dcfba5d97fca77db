"""Two detectors or settings on the same frames: both curves, and the differences."""

from typing import TYPE_CHECKING

from capsieve.report.evaluation.cells import interval_text, value_text
from capsieve.report.evaluation.drawing import (
    BLUE,
    VERMILLION,
    axes_labels,
    drawing_style,
    legend,
    mathematical,
    new_figure,
    panel_title,
    percent_axis,
)
from capsieve.report.evaluation.roc_figures import draw_curve
from capsieve.report.style import INK, SOFT_INK
from capsieve.statistics.evaluation import Evaluation
from capsieve.statistics.metric import Interval, Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["comparison_figure"]

_MOST_ROWS = 12


def comparison_figure(evaluation: Evaluation) -> "Figure | None":
    """Draw both ROC curves and, beside them, each difference with the interval to quote."""
    comparison = evaluation.comparison
    if comparison is None:
        return None
    differences = [
        metric
        for metric in comparison.metrics
        if metric.unit in ("share", "area") and metric.value is not None
    ][:_MOST_ROWS]
    notes = [
        f"Differences: {comparison.name} minus {comparison.other}; bars hold 95 %. Shares in "
        "percentage points, areas in hundredths."
    ]
    without = [metric.name for metric in differences if _quoted(metric) is None]
    if without:
        notes.append(f"No honest interval, and so no bar: {', '.join(without)}.")
    with drawing_style():
        figure, panels = new_figure(2 if differences else 1, width=3.9, height=3.7, notes=notes)
        _draw_curves(panels[0], evaluation)
        if differences:
            _draw_differences(panels[1], differences)
        return figure


def _draw_curves(axes: "Axes", evaluation: Evaluation) -> None:
    comparison = evaluation.comparison
    assert comparison is not None
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.9)
    draw_curve(axes, comparison.roc, color=BLUE, dashes="-", label=_short(comparison.name))
    draw_curve(
        axes, comparison.other_roc, color=VERMILLION, dashes="--", label=_short(comparison.other)
    )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes_labels(axes, "false positive rate", "polyp frames found")
    panel_title(axes, "ROC per frame", "a")
    legend(axes)


def _draw_differences(axes: "Axes", metrics: list[Metric]) -> None:
    reach = 1.0
    for place, metric in enumerate(metrics):
        interval = _quoted(metric)
        value = 100 * (metric.value or 0.0)
        ends = [value]
        text = value_text(metric, signed=True)
        if interval is not None and interval.low is not None and interval.high is not None:
            ends = [100 * interval.low, 100 * interval.high]
            axes.plot(ends, [place, place], color=BLUE, linewidth=1.8)
            text = f"{text}  ({interval_text(interval, metric.unit, signed=True)})"
        axes.plot([value], [place], "s", color=BLUE, markersize=6)
        axes.text(
            0.015, place - 0.17, f"{mathematical(_short(metric.name, 58))}:\n{mathematical(text)}",
            transform=axes.get_yaxis_transform(), fontsize=8, color=INK, va="bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )  # fmt: skip
        reach = max(reach, *(abs(end) for end in [*ends, value]))
    axes.axvline(0, color=SOFT_INK, linewidth=1.1)
    axes.set_xlim(-1.15 * reach, 1.15 * reach)
    axes.set_ylim(len(metrics) - 0.5, -0.75)
    axes.set_yticks([])
    axes.grid(False, axis="y")
    axes_labels(axes, "difference (points of 100)", "")
    panel_title(axes, "Differences", "b")


def _quoted(metric: Metric) -> Interval | None:
    """The interval to quote, where it has bounds."""
    first = metric.intervals[0] if metric.intervals else None
    return first if first is not None and first.low is not None else None


def _short(name: str, most: int = 30) -> str:
    return name if len(name) <= most else f"\N{HORIZONTAL ELLIPSIS}{name[1 - most :]}"
