"""All figures of an evaluation, in the order of the page."""

from dataclasses import replace
from typing import TYPE_CHECKING

from capsieve.report.evaluation.comparison_figure import comparison_figure
from capsieve.report.evaluation.effort_figures import alarms_figure, effort_figure, froc_figure
from capsieve.report.evaluation.finding import cause_table, table_named
from capsieve.report.evaluation.histogram_figure import histogram_figure
from capsieve.report.evaluation.patient_figures import causes_figure, patients_figure
from capsieve.report.evaluation.roc_figures import roc_figure
from capsieve.statistics.evaluation import Evaluation, Histogram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figures"]


def figures(evaluation: Evaluation) -> "dict[str, Figure]":
    """Draw every figure that there is something to draw for.

    Returns
    -------
    dict
        By the name of their files without ending: "roc", "roc-low", "histogram-texture-max",
        "histogram-radius-max", "histogram-score", "false-positives-per-patient",
        "reading-effort", "alarms", "froc", "causes", "comparison".
    """
    drawn = {
        "roc": roc_figure(evaluation),
        "roc-low": roc_figure(evaluation, low=True),
        "false-positives-per-patient": patients_figure(
            table_named(evaluation, "false-positives-per-patient")
        ),
        **{
            f"histogram-{histogram.key.replace('_', '-')}": histogram_figure(
                _at_the_point(histogram, evaluation)
            )
            for histogram in evaluation.histograms
        },
        "reading-effort": effort_figure(evaluation),
        "alarms": alarms_figure(evaluation),
        "froc": froc_figure(evaluation),
        "causes": causes_figure(cause_table(evaluation)),
        "comparison": comparison_figure(evaluation),
    }
    return {name: figure for name, figure in drawn.items() if figure is not None}


def _at_the_point(histogram: Histogram, evaluation: Evaluation) -> Histogram:
    """Put the threshold of the operating point that is judged where that of the screening stood."""
    name = next((name for name in ("R_P", "threshold") if name in histogram.bounds), None)
    if name is None or not evaluation.points:
        return histogram
    return replace(histogram, bounds={**histogram.bounds, name: evaluation.points[0].threshold})
