"""An evaluation made of arrays: the paper's own counts, for tests and for looking at pages.

Five patients with the normal frames and false alarms of the paper's Table III, sixteen polyps with
the lengths and flags of its Table II. Everything between is drawn at random with a fixed seed.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from capsieve import Parameters
from capsieve.statistics.curves import AlarmCurve, Band, EffortCurve, FrocCurve, RocCurve
from capsieve.statistics.evaluation import Comparison, Evaluation, Histogram, OperatingPoint
from capsieve.statistics.judged import NORMAL, POLYP, Judged
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.metric import Interval, Metric, Unit
from capsieve.statistics.table import Column, Table
from support.made_judged import made_judged
from support.made_tables import WIDE, made_metrics, made_tables

THRESHOLD = 37.0
_DIFFERENCES: tuple[tuple[str, str, float, Unit], ...] = (
    ("frames.sensitivity", "sensitivity per frame", 0.061, "share"),
    ("frames.specificity", "specificity", -0.017, "share"),
    ("frames.auc", "area under the ROC curve per frame", 0.012, "area"),
)


def made_roc(judged: Judged, unit: str = "frame", *, shift: float = 0.0) -> RocCurve:
    """Return the ROC curve, counted threshold by threshold."""
    positive, negative = judged.truth == POLYP, judged.truth == NORMAL
    scores = judged.score + shift * positive * (judged.score > 0)
    best = scores[positive]
    if unit != "frame":
        best = np.array([scores[judged.polyp == code].max() for code in range(len(judged.polyps))])
    thresholds = np.unique(scores[(scores > 0) & (positive | negative)])[::-1]
    normal = scores[negative]
    rates = [[(values >= t).mean() for t in thresholds] for values in (normal, best)]
    return RocCurve(
        thresholds=np.concatenate([[np.inf], thresholds]),
        false_positive_rate=np.concatenate([[0.0], rates[0]]),
        true_positive_rate=np.concatenate([[0.0], rates[1]]),
        positives=best.size,
        negatives=normal.size,
        unit=unit,
    )


def made_band(curve: RocCurve, width: float = 0.08) -> Band:
    """Return a band around a curve."""
    x = np.linspace(0, curve.false_positive_rate[-1], 101)
    y = np.interp(x, curve.false_positive_rate, curve.true_positive_rate)
    return Band(x, (y - width).clip(0, 1), (y + width).clip(0, 1), "bootstrap over patients", 12)


def made_comparison(judged: Judged) -> Comparison:
    """Return a comparison with another setting."""
    differences = tuple(
        Metric(
            f"difference.{key}",
            f"Difference in {name}",
            value,
            "This minus the other.",
            unit,
            intervals=(Interval("bootstrap over patients", value - 0.04, value + 0.03, units=12),),
        )
        for key, name, value, unit in _DIFFERENCES
    )
    values = Table(
        "comparison",
        "Both side by side",
        (
            Column("what", "Quantity"),
            Column("this", "sigma2 = 33", "share"),
            Column("other", "sigma2 = 30", "share"),
        ),
        (("Sensitivity per frame", 0.535, 0.474), ("Specificity", 0.885, 0.902)),
    )
    changed = Table(
        "changed-sides",
        "Frames that changed sides",
        (Column("exam", "Exam"), Column("frame", "Frame", "count"), Column("how", "How")),
        (("exam-1", 12, "now flagged"), ("exam-2", 4711, "no longer flagged")),
    )
    return Comparison(
        "sigma2 = 33",
        "sigma2 = 30",
        differences,
        values,
        changed,
        made_roc(judged, shift=3.0),
        made_roc(judged),
    )


def made_histograms(judged: Judged) -> tuple[Histogram, ...]:
    """Return both histograms."""
    found: list[Histogram] = []
    for key, label, values, edges, bounds in (
        ("texture_max", "T_max", judged.texture_max, np.arange(0, 20.5), {"T_L": 3.0, "T_U": 8.0}),
        ("radius_max", "R_max", judged.radius_max, np.arange(0, 64, 4), {"R_P": THRESHOLD}),
    ):
        counts = [
            np.histogram(values[judged.truth == truth].clip(edges[0], edges[-1]), edges)[0]
            for truth in (POLYP, NORMAL)
        ]
        found.append(Histogram(key, label, edges.astype(np.float64), counts[0], counts[1], bounds))
    note = "51 polyp frames and 9,311 normal frames were rejected before a ball was fitted"
    return found[0], replace(found[1], left_out=note)


def made_evaluation(**changes: Any) -> Evaluation:
    """Return a whole evaluation; any field may be changed."""
    judged = made_judged()
    roc, polyps = made_roc(judged), made_roc(judged, "polyp")
    thresholds = roc.thresholds
    frames = np.array([(judged.score >= t).sum() / 5 for t in thresholds])
    effort = EffortCurve(
        thresholds=thresholds,
        polyps_found=polyps.true_positive_rate[
            np.searchsorted(-polyps.thresholds, -thresholds, side="right") - 1
        ],
        frames_found=roc.true_positive_rate,
        frames=frames,
        events=frames**0.75,
        minutes=frames / 4 / 60,
        exams=5,
        all_frames=len(judged) / 5,
        polyps=16,
        frames_per_second=4.0,
    )
    alarms = AlarmCurve(
        thresholds=thresholds,
        found=effort.polyps_found * 0.94,
        alarms=effort.events * 0.7,
        within=5.0,
        gap=2.0,
        shortest=0.5,
        polyps=16,
        exams=5,
    )
    froc = FrocCurve(thresholds, 0.8 * roc.true_positive_rate, frames / 3800, 230, len(judged))
    values: dict[str, Any] = {
        "results": "out",
        "labels": "labels.csv",
        "settings": {"target": 0.9, "rounds": 2000, "seed": 1, "within_s": 5.0, "split": None},
        "detector": {"name": "paper", "version": 1},
        "parameters": Parameters().to_dict(),
        "judged": judged,
        "problems": (
            LabelProblem(
                "the label is not one of polyp, normal, other", 3, ("line 12: label 'Polip'",)
            ),
            LabelProblem("the row stands there twice, word for word", 2, ("line 20",), True),
        ),
        "warnings": ("The labels name 5 patients: too few for intervals over patients.",),
        "leaks": (),
        "points": (
            OperatingPoint(
                "chosen",
                THRESHOLD,
                "The smallest R_P with a specificity of at least 90 % on the part train.",
            ),
            OperatingPoint("screened", 40.0, "The threshold that the exams were screened with."),
        ),
        "metrics": made_metrics(),
        "tables": made_tables(),
        "roc_frames": roc,
        "roc_frames_band": made_band(roc),
        "roc_polyps": polyps,
        "roc_polyps_band": Band(
            np.empty(0), np.empty(0), np.empty(0), "bootstrap over patients", 5, WIDE
        ),
        "histograms": made_histograms(judged),
        "effort": effort,
        "alarms": alarms,
        "froc": froc,
        "comparison": made_comparison(judged),
    }
    return Evaluation(**(values | changes))
