"""Which metric, column or table serves a place on the page."""

from capsieve.statistics.evaluation import Evaluation
from capsieve.statistics.metric import Metric
from capsieve.statistics.table import Table

__all__ = ["area_of", "cause_table", "metric_named", "table_named"]


def metric_named(evaluation: Evaluation, *keys: str) -> Metric | None:
    """Return the metric of the first of these keys that is there."""
    found = {metric.key: metric for metric in evaluation.metrics}
    return next((found[key] for key in keys if key in found), None)


def table_named(evaluation: Evaluation, key: str) -> Table | None:
    """Return the table of this key, or None."""
    return next((table for table in evaluation.tables if table.key == key), None)


def area_of(evaluation: Evaluation, unit: str, *, low: bool = False) -> Metric | None:
    """Return the area under a ROC curve, whole or up to 20 % false positives."""
    rows = "frames" if unit == "frame" else "polyps"
    return metric_named(evaluation, f"{rows}.{'auc_20' if low else 'auc'}")


def cause_table(evaluation: Evaluation) -> Table | None:
    """Return the table of false positives by cause, where the labels name other findings."""
    return table_named(evaluation, "causes") if evaluation.judged.findings else None
