"""An evaluation made of arrays: the paper's own counts, for tests and for looking at pages.

Five patients with the normal frames and false alarms of the paper's Table III, sixteen polyps with
the lengths and flags of its Table II. Everything between is drawn at random with a fixed seed.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve import Parameters
from capsieve.statistics.curves import AlarmCurve, Band, EffortCurve, FrocCurve, RocCurve
from capsieve.statistics.evaluation import Comparison, Evaluation, Histogram, OperatingPoint
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED, Judged
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.metric import Interval, Metric, Unit
from capsieve.statistics.table import Column, Table

NORMAL_FRAMES = (422, 1008, 4666, 8567, 4075)
FALSE_ALARMS = (34, 55, 671, 767, 310)
POLYP_FRAMES = (18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15)
POLYP_FOUND = (1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1)
FOUND_FRAMES = 109
PATIENT_OF_POLYP = (0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4)
REASONS = ("polyp", "texture-low", "texture-high", "no-feature", "radius-low")
OTHERS = {"bubbles": 40, "fold": 60, "bleeding": 20}
THRESHOLD = 37.0
_DIFFERENCES: tuple[tuple[str, str, float, Unit], ...] = (
    ("frames.sensitivity", "sensitivity per frame", 0.061, "share"),
    ("frames.specificity", "specificity", -0.017, "share"),
    ("frames.auc", "area under the ROC curve per frame", 0.012, "area"),
)
WIDE = "5 patients: too few for an interval, which takes at least 10"


def made_judged(*, unit: str = "polyp") -> Judged:
    """Return frames with the paper's counts, and 120 frames that show other findings."""
    rng = np.random.default_rng(7)
    parts: list[dict[str, Any]] = []
    left = FOUND_FRAMES - sum(POLYP_FOUND)
    for polyp, (frames, found) in enumerate(zip(POLYP_FRAMES, POLYP_FOUND, strict=True)):
        more = min(left, frames - 1, round(frames * 0.62)) if found else 0
        left -= more
        flags = np.zeros(frames, bool)
        flags[: found + more] = True
        rng.shuffle(flags)
        parts.append(_frames(rng, PATIENT_OF_POLYP[polyp], flags, POLYP, polyp=polyp))
    assert left == 0
    for patient, (frames, alarms) in enumerate(zip(NORMAL_FRAMES, FALSE_ALARMS, strict=True)):
        flags = np.zeros(frames, bool)
        flags[:alarms] = True
        rng.shuffle(flags)
        parts.append(_frames(rng, patient, flags, NORMAL))
    for finding, (_word, frames) in enumerate(OTHERS.items()):
        flags = rng.random(frames) < 0.2 + 0.1 * finding
        parts.append(_frames(rng, finding, flags, OTHER, finding=finding))
    parts.append(_frames(rng, 0, np.zeros(7, bool), UNLABELLED))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(columns["exam"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    starts = np.searchsorted(columns["exam"], np.arange(5))
    frame = np.arange(order.size) - starts[columns["exam"]]
    names = tuple(f"patient {number + 1}" for number in range(5))
    return Judged(
        exams=tuple(f"exam-{number + 1}" for number in range(5)),
        head=np.zeros(order.size, np.int16),
        frame=frame,
        file=None,
        time=frame / 4.0,
        rows=np.full(order.size, 512, np.int32),
        cols=np.full(order.size, 512, np.int32),
        reasons=REASONS,
        polyps=tuple(f"polyp {number + 1}" for number in range(16)),
        patients=names,
        patient=columns["exam"].astype(np.int32),
        groups=names,
        group=columns["exam"].astype(np.int32),
        group_kind="patient",
        findings=tuple(OTHERS),
        parts=("train", "test"),
        part=np.where(columns["exam"] == 3, 0, 1).astype(np.int16),
        unit=unit,
        **columns,
    )


def _frames(
    rng: np.random.Generator,
    patient: int,
    flags: NDArray[np.bool_],
    truth: int,
    *,
    polyp: int = -1,
    finding: int = -1,
) -> dict[str, NDArray[Any]]:
    size = flags.size
    reason = rng.choice([1, 2, 3, 4], size, p=[0.2, 0.3, 0.15, 0.35]).astype(np.int16)
    if truth == POLYP:
        reason = rng.choice([2, 3, 4], size, p=[0.15, 0.15, 0.7]).astype(np.int16)
    reason[flags] = 0
    texture = np.where(reason == 1, rng.uniform(1.2, 2.99, size), rng.uniform(3, 8, size))
    texture = np.where(reason == 2, 8.01 + rng.exponential(4.0, size), texture)
    high = 60 if truth == POLYP else 48
    radius = np.where(flags, rng.integers(37, high, size), rng.integers(15, 37, size))
    radius = np.where((reason == 0) | (reason == 4), radius, 0)
    ball = radius > 0
    place = np.where(ball, rng.uniform(200, 310, size), np.nan)
    return {
        "exam": np.full(size, patient, np.int32),
        "score": radius.astype(np.float64),
        "flagged": flags,
        "reason": reason,
        "texture_max": texture,
        "radius_max": radius.astype(np.float64),
        "row": place,
        "col": np.where(ball, rng.uniform(200, 310, size), np.nan),
        "radius": np.where(ball, 1.6 * radius, np.nan),
        "truth": np.full(size, truth, np.int8),
        "polyp": np.full(size, polyp, np.int32),
        "finding": np.full(size, finding, np.int32),
    }


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
