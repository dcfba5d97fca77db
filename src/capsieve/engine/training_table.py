"""The figures of a training as one table for people."""

from collections.abc import Sequence

from capsieve.engine.training_figures import SourceFigures
from capsieve.report.evaluation.cells import DASH, counts_text, interval_text, value_text
from capsieve.report.formats import plain
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.metric import Metric
from capsieve.statistics.table import Column, Table

__all__ = ["figure_name", "figures_table", "shown_metrics"]

_FIGURES = {
    True: (
        "frames.auc",
        "polyps.auc",
        "frames.cross-fitted.specificity",
        "frames.cross-fitted.sensitivity",
        "polyps.cross-fitted.sensitivity",
        "polyps.cross-fitted.sensitivity_long",
        "frames.cross-fitted-95.specificity",
        "frames.cross-fitted-95.sensitivity",
        "polyps.cross-fitted-95.sensitivity",
        "polyps.cross-fitted-95.sensitivity_long",
    ),
    False: (
        "frames.cross-fitted.specificity",
        "frames.cross-fitted.false_positives_per_exam",
        "frames.cross-fitted-95.specificity",
        "frames.cross-fitted-95.false_positives_per_exam",
    ),
}


def figures_table(
    figures: Sequence[SourceFigures], *, target_specificity: float, title: str
) -> Table:
    """Return the out-of-fold figures, source by source.

    Parameters
    ----------
    figures
        Of all sources.
    target_specificity
        For which thresholds were chosen, a share of 1.
    title
        What was trained.
    """
    rows = [
        (
            plain(source.source),
            figure_name(metric, target_specificity),
            value_text(metric),
            counts_text(metric) or DASH,
            _bounds(metric),
        )
        for source in figures
        for metric in shown_metrics(source)
    ]
    kinds = dict.fromkeys(plural(source.group_kind) for source in figures)
    return Table(
        "training",
        title,
        (
            Column("source", "Source"),
            Column("figure", "Figure"),
            Column("value", "Value", "number"),
            Column("counts", "Counts", "number"),
            Column("interval", "95 % interval", "number"),
        ),
        tuple(rows),
        "Out of fold: every frame was scored by a model that saw nothing of its fold, and flagged "
        "by a threshold that the other folds chose for the specificity that is named. Intervals "
        f"draw whole {' or '.join(kinds)} again.",
    )


def shown_metrics(figures: SourceFigures) -> list[Metric]:
    """Return the metrics of a source that tables and cards show, in their order."""
    found = (figures.metric(key) for key in _FIGURES[figures.trained])
    return [metric for metric in found if metric is not None]


def figure_name(metric: Metric, target: float) -> str:
    """Return what a metric is, with the specificity for which thresholds were chosen."""
    name = metric.name.partition(" (")[0]
    if ".cross-fitted" not in metric.key:
        return name
    share = 0.95 if ".cross-fitted-95." in metric.key else target
    return f"{name}, for {100 * share:g} %"


def _bounds(metric: Metric) -> str:
    if metric.value is None or not metric.intervals or metric.intervals[0].low is None:
        return DASH
    return interval_text(metric.intervals[0], metric.unit)
