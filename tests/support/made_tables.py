"""Metrics and tables of the paper's own numbers."""

import numpy as np

from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.table import Column, Table
from support.made_judged import FALSE_ALARMS, NORMAL_FRAMES, POLYP_FOUND, POLYP_FRAMES

WIDE = "5 patients: too few for an interval, which takes at least 10"


def wilson(numerator: int, denominator: int) -> Interval:
    """Return Wilson's interval."""
    z, n, p = 1.959963984540054, denominator, numerator / denominator
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Interval(
        "Wilson",
        float((middle - half) / (1 + z * z / n)),
        float((middle + half) / (1 + z * z / n)),
        units=n,
    )


def share(
    key: str, name: str, numerator: int, denominator: int, definition: str, note: str = ""
) -> Metric:
    """Return a share with Wilson's interval, and none over patients."""
    return Metric(
        key,
        name,
        numerator / denominator,
        definition,
        numerator=numerator,
        denominator=denominator,
        intervals=(
            Interval("bootstrap over patients", None, None, WIDE, 5, 2000),
            wilson(numerator, denominator),
        ),
        note=note,
    )


def area(key: str, name: str, value: float, definition: str) -> Metric:
    """Return an area without an interval."""
    none = Interval("bootstrap over patients", None, None, WIDE, 5, 2000)
    return Metric(key, name, value, definition, "area", intervals=(none,))


def made_metrics() -> tuple[Metric, ...]:
    """Return the paper's numbers."""
    frames = "Share of the frames with a polyp that are flagged."
    normal = "Share of the normal frames that are not flagged."
    return (
        share("frames.all.sensitivity", "Sensitivity per frame", 109, 230, frames),
        share("frames.all.specificity", "Specificity", 16901, 18738, normal),
        share(
            "polyps.all.sensitivity",
            "Sensitivity per polyp",
            13,
            16,
            "Share of the polyps of which at least one frame is flagged.",
        ),
        share("frames.test.specificity", "Specificity, test part", 9101, 10171, normal),
        area("frames.auc", "Area under the ROC curve per frame", 0.7312, "The whole area."),
        area(
            "frames.auc_20",
            "Area up to 20 % false positives, per frame",
            0.412,
            "The area up to a false positive rate of 20 %, divided by 0.2.",
        ),
        area("polyps.auc", "Area under the ROC curve per polyp", 0.8911, "The whole area."),
        Metric(
            "effort.frames_per_exam",
            "Frames to read per exam",
            367.4,
            "Flagged normal frames of an exam, the mean over exams.",
            "frames",
        ),
        Metric(
            "localisation.polyps.hit_rate",
            "Polyps pointed at",
            None,
            "Share of the polyps with a ball centred on them.",
            note="no outlines were given",
        ),
    )


def made_tables() -> tuple[Table, ...]:
    """Return the paper's tables, and the account of the labels."""
    fp = "false-positives-per-patient"
    return (
        Table(
            "accounts",
            "Frames and labels",
            (Column("what", "Frames"), Column("frames", "Count", "count")),
            (
                ("screened", 19095),
                ("labelled polyp", 230),
                ("labelled normal", 18738),
                ("labelled other", 120),
                ("without a label", 7),
            ),
            "Every frame of the exams stands in one row.",
            ("in all", 19095),
        ),
        Table(
            "sequences",
            "Sequences of polyp frames",
            (
                Column("polyp", "Polyp"),
                Column("frames", "N_F", "count"),
                Column("found", "D", "flag"),
                Column("flagged", "Flagged", "count"),
                Column("share", "Share", "share", 2),
            ),
            tuple(
                (f"polyp {n + 1}", frames, bool(found), found, found / frames)
                for n, (frames, found) in enumerate(zip(POLYP_FRAMES, POLYP_FOUND, strict=True))
            ),
            "N_F: frames that show the polyp. D: at least one of them is flagged.",
            ("Total", 230, None, 109, 13 / 16),
        ),
        Table(
            fp,
            "False positives per patient",
            (
                Column("patient", "Patient"),
                Column("normal", "N_norm", "count"),
                Column("false_positives", "FPN", "count"),
                Column("rate", "FPR", "share"),
                Column("low", "95 % from", "share"),
                Column("high", "to", "share"),
            ),
            tuple(
                (f"patient {n + 1}", normal, alarms, alarms / normal, *_wilson(alarms, normal))
                for n, (normal, alarms) in enumerate(zip(NORMAL_FRAMES, FALSE_ALARMS, strict=True))
            ),
            "N_norm: normal frames; FPN: those that are flagged; FPR: their share. Wilson.",
            ("Total", 18738, 1837, 1837 / 18738, *_wilson(1837, 18738)),
        ),
        Table(
            "causes",
            "False alarms by what the frame shows",
            (
                Column("finding", "Finding"),
                Column("frames", "Frames", "count"),
                Column("flagged", "Flagged", "count"),
                Column("rate", "Share", "share"),
            ),
            (("fold", 60, 18, 0.3), ("bubbles", 40, 9, 0.225), ("bleeding", 20, 8, 0.4)),
            "Frames with another finding belong to neither class.",
        ),
    )


def _wilson(numerator: int, denominator: int) -> tuple[float, float]:
    found = wilson(numerator, denominator)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high
