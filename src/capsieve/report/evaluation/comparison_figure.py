"""Two detectors or settings on the same frames: both curves, and the differences."""

import textwrap
from typing import TYPE_CHECKING

from capsieve.report.evaluation.cells import interval_text, percent_text, value_text
from capsieve.report.evaluation.drawing import (
    BLUE,
    MARKS,
    VERMILLION,
    axes_labels,
    drawing_style,
    legends_below,
    mathematical,
    new_figure,
    panel_title,
    percent_axis,
)
from capsieve.report.evaluation.roc_figures import draw_curve, end_notes
from capsieve.report.formats import plain
from capsieve.report.style import INK
from capsieve.statistics.evaluation import Comparison, Evaluation
from capsieve.statistics.metric import Interval, Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["comparison_figure"]

_MOST_ROWS = 12
_ROW = 0.37  # inches
_NAME = 34  # letters in a line of a name
_PREFIX = "Difference in "


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
    with drawing_style():
        two = bool(differences)
        figure, panels = new_figure(
            1 + two,
            width=(3.5, 2.7)[: 1 + two],
            left=(0.72, 2.3)[: 1 + two],
            right=(0.3, 1.6)[: 1 + two],
            height=max(3.5, _ROW * len(differences) + 0.2),
            notes=_notes(comparison, differences),
        )
        _draw_curves(panels[0], comparison, "a" if two else "")
        if two:
            _draw_differences(panels[1], differences)
        legends_below(figure, panels)
        return figure


def _draw_curves(axes: "Axes", comparison: Comparison, letter: str) -> None:
    names = comparison.name, comparison.other
    curves = comparison.roc, comparison.other_roc
    looks = (BLUE, "-"), (VERMILLION, "--")
    for side, (name, curve, (color, dashes)) in enumerate(zip(names, curves, looks, strict=True)):
        draw_curve(axes, curve, color=color, dashes=dashes, label=_short(name))
        point = _operating_point(comparison, side)
        if point is not None:
            x, y = point
            axes.plot(
                [x], [y], MARKS[side], color=color, markersize=10, markeredgewidth=2.2, zorder=5,
                clip_on=False, linestyle="none",
                label=f"at its threshold: {percent_text(y)} found at {percent_text(x)}",
            )  # fmt: skip
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.9, label="no discrimination")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes_labels(axes, "false positive rate (normal frames flagged)", "polyp frames found")
    panel_title(axes, "ROC per frame", letter)


def _draw_differences(axes: "Axes", metrics: list[Metric]) -> None:
    reach = 1.0
    axes.axvline(0, color=INK, linewidth=0.9)
    for place, metric in enumerate(metrics):
        interval = _quoted(metric)
        value = 100 * (metric.value or 0.0)
        ends = [value]
        text = value_text(metric, signed=True)
        if interval is not None and interval.low is not None and interval.high is not None:
            ends = [100 * interval.low, 100 * interval.high]
            axes.plot(
                ends, [place, place], "|-", color=BLUE, linewidth=1.6, markersize=8,
                markeredgewidth=1.6,
            )  # fmt: skip
            text = f"{text}\n{interval_text(interval, metric.unit, signed=True)}"
        axes.plot([value], [place], "o", color=BLUE, markersize=6)
        axes.text(
            1.03, place, text, transform=axes.get_yaxis_transform(),
            ha="left", va="center", fontsize=8.2, linespacing=1.15,
        )  # fmt: skip
        reach = max(reach, *(abs(end) for end in [*ends, value]))
    axes.set_xlim(-1.15 * reach, 1.15 * reach)
    axes.set_ylim(len(metrics) - 0.5, -0.5)
    axes.set_yticks(range(len(metrics)), [_name_lines(metric) for metric in metrics])
    axes.tick_params(axis="y", labelsize=8.6)
    axes.grid(False, axis="y")
    axes_labels(axes, "difference (points of 100)", "")
    panel_title(axes, "Differences", "b")


def _notes(comparison: Comparison, metrics: list[Metric]) -> list[str]:
    """What there is to see, and once for each reason why bars are missing."""
    notes = end_notes((comparison.roc, comparison.other_roc))
    if metrics:
        bars = any(_quoted(metric) is not None for metric in metrics)
        notes.append(
            f"Differences: {comparison.name} minus {comparison.other}; "
            f"{'bars hold 95 %; ' if bars else ''}shares in percentage points, areas in hundredths."
        )
    reasons: dict[str, list[str]] = {}
    for metric in metrics:
        if _quoted(metric) is None:
            why = metric.intervals[0].why if metric.intervals else ""
            reasons.setdefault(plain(why) or "no honest interval", []).append(_name(metric))
    for why, names in reasons.items():
        which = "No bars" if len(names) == len(metrics) else f"No bar for {', '.join(names)}"
        notes.append(f"{which} ({why}).")
    return notes


def _operating_point(comparison: Comparison, side: int) -> tuple[float, float] | None:
    """Return false positive rate and sensitivity at one side's threshold, from the table."""
    rows = {str(row[0]): row for row in comparison.values.rows}
    try:
        found, passed = (rows[name][1 + side] for name in ("Sensitivity per frame", "Specificity"))
    except (KeyError, IndexError):
        return None
    if not isinstance(found, int | float) or not isinstance(passed, int | float):
        return None
    return 1 - passed, float(found)


def _quoted(metric: Metric) -> Interval | None:
    """The interval to quote, where it has bounds."""
    first = metric.intervals[0] if metric.intervals else None
    return first if first is not None and first.low is not None else None


def _name(metric: Metric) -> str:
    return plain(metric.name).removeprefix(_PREFIX)


def _name_lines(metric: Metric) -> str:
    """A name in at most two lines, with a capital."""
    name = _name(metric)
    lines = textwrap.wrap(
        name[:1].upper() + name[1:], _NAME, max_lines=2, placeholder=" \N{HORIZONTAL ELLIPSIS}"
    )
    return "\n".join(mathematical(line) for line in lines)


def _short(name: str, most: int = 40) -> str:
    return name if len(name) <= most else f"\N{HORIZONTAL ELLIPSIS}{name[1 - most :]}"
