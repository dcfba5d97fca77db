"""Rates at an operating point: metrics, and the tables by polyp, by patient and by point."""

from typing import Any, NamedTuple

import numpy as np

from capsieve.frame_table import NORMAL, POLYP, LabelledFrames, Mask
from capsieve.plurals import number_of
from capsieve.statistics.frames import polyp_scores, unnamed_note, unscored_note
from capsieve.statistics.intervals import mean_per_exam, proportion
from capsieve.statistics.operating_point import TEST, TRAIN
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import Metric

LONG = 5
"""Frames of a long sequence: a reader, too, has time to see such a polyp."""

RATES = ("frames.specificity", "frames.sensitivity", "polyps.sensitivity")
"""Keys of the rates that a study compares."""


class Rate(NamedTuple):
    """A count and its total."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """The proportion; None if the total is 0."""
        return self.hits / self.total if self.total else None


def rates(frames: LabelledFrames, flagged: Mask) -> dict[str, Rate]:
    """Return specificity, sensitivity per frame and sensitivity per polyp as counts.

    They are SPEC = 1 - FPR, SENS = TPR per frame and TPR per polyp (equations 30 to 35 of the
    paper). A polyp frame without a score is missed, a normal frame without a score is left out.
    """
    normal, polyp = frames.normal_frames, frames.polyp_frames
    detected = polyp_scores(frames).found(flagged)
    values = (
        Rate(int((normal & ~flagged).sum()), int(normal.sum())),
        Rate(int((polyp & flagged).sum()), int(polyp.sum())),
        Rate(int(detected.sum()), len(detected)),
    )
    return dict(zip(RATES, values, strict=True))


def subsets(frames: LabelledFrames) -> dict[str, Mask]:
    """Return all frames, and those of the training and the test part if there are any."""
    masks = {"all": np.ones(len(frames), np.bool_)}
    for code, name in enumerate(frames.part.names):
        if name in (TRAIN, TEST):
            masks[name] = frames.part.code == code
    return masks


def rate_metrics(
    frames: LabelledFrames, flagged: Mask, options: EvaluationOptions, *, subset: str = "all"
) -> tuple[Metric, ...]:
    """Return sensitivity per frame and per polyp, specificity, and frames per exam.

    `frames` are only those of the subset: ``frames.take(mask)``.
    """
    polyp, normal = frames.polyp_frames, frames.normal_frames
    missed, left_out = unscored_note(frames, POLYP), unscored_note(frames, NORMAL)
    common: dict[str, Any] = {"frames": frames, "options": options, "subset": subset}
    polyps = polyp_scores(frames)
    note = f"{unnamed_note(frames)} {missed}".strip()
    of_polyps = common | {"hit": polyps.found(flagged), "group": polyps.group, "note": note}
    return (
        proportion("frames.sensitivity", hit=flagged, among=polyp, note=missed, **common),
        proportion("frames.specificity", hit=~flagged, among=normal, note=left_out, **common),
        mean_per_exam("frames.false_positives_per_exam", counted=flagged & normal, **common),
        mean_per_exam("frames.normal_per_exam", counted=normal, **common),
        proportion("polyps.sensitivity", among=polyps.frames > 0, **of_polyps),
        proportion("polyps.sensitivity_long", among=polyps.frames >= LONG, **of_polyps),
    )


def class_warnings(frames: LabelledFrames) -> tuple[str, ...]:
    """Return a warning for each class that is empty, and for frames without a label."""
    warnings = []
    for truth, word, metric in ((POLYP, "polyp", "sensitivity"), (NORMAL, "normal", "specificity")):
        if not (frames.truth == truth).any():
            warnings.append(f"No frame is labelled {word}, so there is no {metric}.")
    unlabelled = int(np.count_nonzero(~frames.labelled))
    if unlabelled:
        warnings.append(
            f"{number_of(unlabelled, 'frame')} without a label: in neither class, but among the "
            "frames to read if they are flagged."
        )
    return tuple(warnings)
