"""The program's present names for the stored values.

A stored table has names of its own, which never change. If the program renames a command, an
option, a column, a JSON key or a function, this module is the only one of the frozen tests that
changes.
"""

from typing import Any, NamedTuple

import capsieve

# Command line. Each command gets its positional arguments first, then these options.

RENDER = {
    "demo": ("phantom", "--study", "demo", "--format", "png", "--quiet"),
    "small": (
        *("phantom", "--patients", "2", "--frames", "60", "--polyps", "3"),
        *("--format", "png", "--quiet"),
    ),
}
SCREEN = ("screen", "--workers", "2", "--quiet")
SCREEN_DETECTOR = "--detector"
SCREEN_FIELD_OF_VIEW = ("--field-of-view", "255.5,255.5,250")
EVALUATE = ("evaluate", "--no-galleries", "--bootstrap-samples", "200")
EVALUATE_LABELS = "--labels"
EVALUATE_BASELINE = "--baseline"
REPORT = ("report", "--json")
REPORT_DATABASE = "--database"
OUT = "--out"

# The rendered study: where its exams and labels are, and the columns that change when the exams
# are cut into parts.

STUDY_EXAMS = "exams"
STUDY_LABELS = "labels.csv"
LABEL_EXAM, LABEL_FRAME, LABEL_FILE = "exam", "frame", "file"
LABEL_PATIENT, LABEL_POLYP = "patient", "polyp"

# Results of a screening.

RECORD = "exam.json"
"""It exists when an exam is complete."""

UNFINISHED_SEGMENTS = ".unfinished/head-*.checked"
"""Segments that an unfinished exam keeps for the next run."""


class Table(NamedTuple):
    """A table of a screened exam: its file, and the column for each stored name, keys first."""

    file: str
    keys: int
    columns: dict[str, str]


TABLES = {
    "frames": Table(
        "frames.parquet",
        2,
        {
            "head": "head",
            "frame": "frame",
            "file": "file",
            "status": "status",
            "rows": "rows",
            "cols": "cols",
            "label": "flagged",
            "reason": "reason",
            "score": "score",
            "texture_max": "texture_max",
            "radius_max": "radius_max",
            "row": "row",
            "col": "col",
            "radius": "radius",
            "midpass_max": "midpass_max",
            "threshold": "segmentation_threshold",
            "red": "red",
            "green": "green",
            "blue": "blue",
            "values": "values",
            "event": "event",
            "near_copy_of": "duplicate_of",
        },
    ),
    "features": Table(
        "features.parquet",
        3,
        {
            "head": "head",
            "frame": "frame",
            "feature": "number",
            "size": "size",
            "eccentricity": "eccentricity",
            "row": "row",
            "col": "col",
            "ball_row": "ball_row",
            "ball_col": "ball_col",
            "radius": "radius",
            "rejected": "rejected",
            "moment_rr": "moment_rr",
            "moment_rc": "moment_rc",
            "moment_cc": "moment_cc",
            "source_row": "source_row",
            "source_col": "source_col",
            "source_radius": "source_radius",
        },
    ),
    "events": Table(
        "events.parquet",
        1,
        {
            "event": "event",
            "head": "head",
            "first_frame": "first_frame",
            "last_frame": "last_frame",
            "best_frame": "best_frame",
            "score": "score",
            "frames": "frames",
            "to_read": "to_read",
            "best_file": "best_file",
            "row": "row",
            "col": "col",
            "radius": "radius",
        },
    ),
    "hashes": Table(
        "frames.parquet",
        2,
        {"head": "head", "frame": "frame", "pixel_hash": "pixel_hash", "perceptual_hash": "phash"},
    ),
}

STORED_VALUES = {"label": {True: "polyp", False: "normal"}}
"""Values of stored columns for the program's present ones, if they differ."""

OF_THE_WHOLE_EXAM = ("exam", "frame", "file", "event", "near_copy_of")
"""Stored columns that change if the frames of several exams are joined."""


def counts(record: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of frames in a record, by stored name."""
    found = record["frame_counts"]
    names = ("found", "decoded", "undecodable", "scored", "flagged", "to_read", "events")
    return {name: found[name] for name in names} | {"near_copies": found["near_duplicates"]}


def field_of_view(record: dict[str, Any]) -> dict[str, Any]:
    """Return the circle of an exam with one head, by stored name."""
    (found,) = record["fields_of_view"]
    return {name: found[name] for name in ("shape", "row", "col", "radius", "confidence")}


# metrics.json. A key of the program for each stored name.

METRICS = {
    "frames.all.sensitivity": "frames.sensitivity",
    "frames.all.specificity": "frames.specificity",
    "frames.all.false_positives_per_exam": "frames.false_positives_per_exam",
    "polyps.all.sensitivity": "polyps.sensitivity",
    "polyps.all.sensitivity_long": "polyps.sensitivity_long",
    "frames.auc": "frames.auc",
    "frames.sensitivity_at_90": "frames.sensitivity_at_target",
    "polyps.auc": "polyps.auc",
    "polyps.sensitivity_at_90": "polyps.sensitivity_at_target",
    "effort.frames_per_exam": "effort.frames_per_exam",
    "effort.frames_whole_exam": "effort.frames_whole_exam",
    "effort.share_of_frames": "effort.share_of_frames",
    "effort.events_per_exam": "effort.events_per_exam",
    "effort.false_events_per_exam": "effort.false_events_per_exam",
}

DIFFERENCES = {
    "difference.frames.sensitivity": "frames.sensitivity",
    "difference.frames.specificity": "frames.specificity",
    "difference.polyps.sensitivity": "polyps.sensitivity",
    "difference.frames.auc": "frames.auc",
    "difference.frames.sensitivity_at_90": "frames.sensitivity_at_target",
    "difference.polyps.auc": "polyps.auc",
    "difference.polyps.sensitivity_at_90": "polyps.sensitivity_at_target",
}


def metrics(evaluation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the metrics of all frames and the differences of two detectors, in stored order."""
    found = {one["key"]: one for one in evaluation["metrics"] if one["subset"] == "all"}
    changed = {one["key"]: one for one in evaluation["comparison"]["differences"]}
    named = {name: found[key] for name, key in METRICS.items()}
    named |= {name: changed[key] for name, key in DIFFERENCES.items()}
    return [
        {
            "metric": name,
            "value": metric["value"],
            "numerator": metric["numerator"],
            "denominator": metric["denominator"],
            "intervals": [
                {name: interval[name] for name in ("method", "low", "high", "units")}
                for interval in metric["intervals"]
            ],
        }
        for name, metric in named.items()
    ]


def curves(evaluation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the points of the ROC curves and of the reading effort."""
    axes = {
        "roc_frames": ("thresholds", "false_positive_rate", "true_positive_rate"),
        "roc_polyps": ("thresholds", "false_positive_rate", "true_positive_rate"),
        "effort": ("share", "frames", "polyps_found"),
    }
    return [
        {"curve": curve, "point": number, "threshold": threshold, "x": x, "y": y}
        for curve, names in axes.items()
        for points in [evaluation["curves"][curve]]
        for number, (threshold, x, y) in enumerate(
            zip(*(points[name] for name in names), strict=True)
        )
    ]


def operating_points(evaluation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the thresholds that the evaluation used."""
    return [{"point": one["key"], "threshold": one["value"]} for one in evaluation["points"]]


# Python API.

ANALYZE, EXPLAIN = capsieve.analyze, capsieve.explain

SETTINGS: dict[str, dict[str, Any]] = {
    "paper": {},
    "other": {
        "parameters": capsieve.Parameters(
            width=200,
            mask_radius=0.42,
            texture_iterations=3,
            texture_sigma=4.0,
            energy_power=0.7,
            texture_low=0.5,
            texture_high=30.0,
            midpass_fine=6.0,
            midpass_coarse=20.0,
            radius_threshold=44,  # the radius of one golden frame
            vignetting=False,
            extension_slope=0.5,
        ),
        "field_of_view": capsieve.FieldOfView("circle", 124.0, 130.5, 110.0),
    },
}
"""Arguments of `ANALYZE` and `EXPLAIN` for each stored setting."""

PARAMETERS = {
    "width": "width",
    "mask_radius": "mask_radius",
    "texture_iterations": "texture_iterations",
    "texture_sigma": "texture_sigma",
    "energy_power": "energy_power",
    "texture_low": "texture_low",
    "texture_high": "texture_high",
    "midpass_fine": "midpass_fine",
    "midpass_coarse": "midpass_coarse",
    "threshold_low": "threshold_low",
    "threshold_high": "threshold_high",
    "eccentricity_max": "eccentricity_max",
    "radius_threshold": "radius_threshold",
    "channel": "channel",
    "vignetting": "vignetting",
    "extension_slope": "extension_slope",
}
"""Attributes of `capsieve.Parameters`; those that follow from others are left out."""

RESULT = {
    "label": "label",
    "reason": "reason",
    "score": "score",
    "texture_max": "texture_max",
    "radius_max": "radius_max",
    "midpass_max": "midpass_max",
    "threshold": "segmentation_threshold",
}
FEATURE = {
    "feature": "number",
    "size": "size",
    "eccentricity": "eccentricity",
    "row": "row",
    "col": "col",
    "ball_row": "ball_row",
    "ball_col": "ball_col",
    "radius": "radius",
    "rejected": "rejected",
    "moment_rr": "moment_rr",
    "moment_rc": "moment_rc",
    "moment_cc": "moment_cc",
}
GREY_LEVEL_IMAGES = {
    "gray": "gray",
    "corrected": "corrected",
    "extended": "extended",
    "texture": "texture",
}
OTHER_IMAGES = {"energy": "energy", "midpass": "midpass"}
MASK, SEGMENTATION = "mask", "segmentation"

# HTTP API of the reading. An action is the body of a POST to `ENTRIES`, without its key.

ENTRIES = "/api/exams/{exam}/entries"
READING = "/api/exams/{exam}/reading"
SEEN = "/api/exams/{exam}/viewed"
LABELS = "/api/exams/{exam}/export/labels.csv"
EXAM = "/api/exams/{exam}"


def action(entry: dict[str, Any], key: str, screening: str) -> dict[str, Any]:
    """Return the body of a request that stores one entry."""
    return {"key": key, "entries": [entry]} | _who(screening)


def number(answer: Any) -> int:
    """Return the number by which an action is undone."""
    return answer[0]["action"]


def _who(screening: str) -> dict[str, Any]:
    return {"reader": "anna", "role": "reader", "screening": screening}


def decision_on_event(event: dict[str, Any], decision: str, finding: str | None = None) -> Any:
    """Decide about an event, a row of the stored table."""
    subject = f"event:{event['head']}:{event['best_frame']}"
    content = {"kind": "decision", "subject": subject, "decision": decision}
    named = {"finding": f"finding:{finding}"} if finding else {}
    return content | {"frame": event["best_frame"]} | named


def decision_on_frame(frame: int, decision: str) -> Any:
    """Decide about one frame of head 0."""
    subject = f"frame:0:{frame}"
    return {"kind": "decision", "subject": subject, "decision": decision, "frame": frame}


def finding(name: str, frames: list[int]) -> Any:
    """Describe a polyp."""
    spans = [{"head": 0, "first": frame, "last": frame} for frame in frames]
    best = {"head": 0, "frame": frames[0]}
    content = {"kind": "finding", "subject": f"finding:{name}", "spans": spans, "best": best}
    return content | {"size": "small", "size_on": best}


def landmark(frame: int) -> Any:
    """Mark the caecum."""
    return {"kind": "landmark", "subject": "landmark:caecum", "head": 0, "frame": frame}


def undo(action: int) -> Any:
    """Take an action back."""
    return {"kind": "undo", "action": action}


def signature(reading: dict[str, Any]) -> Any:
    """Sign the reading, with a reason for each open event."""
    open_events = [each for each in reading["offered"] if each not in reading["decisions"]]
    return {
        "kind": "sign",
        "statement": reading["statement"],
        "last": reading["last"],
        "offered": reading["offered"],
        "reasons": dict.fromkeys(open_events, "left open"),
    }


def seen(frames: list[int], screening: str) -> Any:
    """Record that frames were displayed."""
    spans = [{"head": 0, "first": frame, "last": frame} for frame in frames]
    return {"head": 0, "displayed": spans, "viewed": spans} | _who(screening)


LABEL_TABLE = {
    "head": "head",
    "frame": "frame",
    "label": "label",
    "polyp": "polyp",
    "reader": "reader",
}


def summary(reading: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the reading and of its report."""
    decisions = [one["content"]["decision"] for one in reading["decisions"].values()]
    return {
        "state": reading["state"],
        "version": reading["revision"],
        "accepted": decisions.count("accept"),
        "rejected": decisions.count("reject"),
        "unsure": decisions.count("unsure"),
        "findings": len(reading["findings"]),
        "caecum": reading["landmarks"]["caecum"]["content"]["frame"],
        "seen": reading["progress"]["displayed"],
        "signature_holds": str(report["signature_valid"]),
        "draft": str(report["draft"]),
    }
