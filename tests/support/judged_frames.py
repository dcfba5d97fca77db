"""Judged frames made of a few arrays, for tests of the statistics."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from capsieve.statistics.judged import NORMAL, POLYP, Judged


def judged_frames(
    score: Sequence[float] | np.ndarray,
    truth: Sequence[int] | np.ndarray,
    **given: Any,
) -> Judged:
    """Judged frames of one exam and one patient, unless other arrays are given by name."""
    size = len(score)
    names: dict[str, Any] = {
        "exams": ("exam",),
        "reasons": (),
        "polyps": (),
        "patients": ("1",),
        "groups": ("1",),
        "findings": (),
        "parts": (),
    }
    codes = {
        "exam": (0, np.int32),
        "head": (0, np.int16),
        "rows": (0, np.int32),
        "cols": (0, np.int32),
        "reason": (-1, np.int16),
        "polyp": (-1, np.int32),
        "patient": (0, np.int32),
        "group": (0, np.int32),
        "finding": (-1, np.int32),
        "part": (-1, np.int16),
    }
    arrays: dict[str, Any] = {
        name: np.full(size, value, dtype=kind) for name, (value, kind) in codes.items()
    }
    for name in ("time", "texture_max", "radius_max", "row", "col", "radius"):
        arrays[name] = np.full(size, np.nan)
    arrays |= {
        "frame": np.arange(size, dtype=np.int64),
        "flagged": np.zeros(size, dtype=np.bool_),
        "file": None,
        "group_kind": "patient",
    }
    for name, value in given.items():
        like = arrays.get(name)
        changed = isinstance(like, np.ndarray)
        (arrays if name in arrays else names)[name] = (
            np.asarray(value, dtype=like.dtype) if changed else value
        )
    unit = names.pop("unit", "polyp")
    return Judged(
        score=np.asarray(score, dtype=np.float64),
        truth=np.asarray(truth, dtype=np.int8),
        unit=unit,
        **names,
        **arrays,
    )


PAPER_NORMAL = (422, 1008, 4666, 8567, 4075)
PAPER_FALSE = (34, 55, 671, 767, 310)
PAPER_SEQUENCES = (18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15)
PAPER_MISSED = (4, 10, 11)
"""Places of the sequences without a check mark in the paper's table."""
PAPER_THRESHOLD = 37.0


def paper_frames() -> Judged:
    """Frames with the paper's own counts: 1,837 of 18,738 normal and 109 of 230 polyp frames.

    The paper says how many frames each sequence has and which were found, not in how many frames:
    109 flagged ones are dealt out one by one. Nor does it say whose polyps they were.
    """
    patient = np.repeat(np.arange(5), PAPER_NORMAL)
    normal = np.concatenate(
        [
            np.r_[np.full(f, 40.0), np.full(n - f, 20.0)]
            for n, f in zip(PAPER_NORMAL, PAPER_FALSE, strict=True)
        ]
    )
    flagged = [0] * len(PAPER_SEQUENCES)
    left = 109
    while left:
        for place, frames in enumerate(PAPER_SEQUENCES):
            if left and place not in PAPER_MISSED and flagged[place] < frames:
                flagged[place] += 1
                left -= 1
    polyp = np.repeat(np.arange(len(PAPER_SEQUENCES)), PAPER_SEQUENCES)
    positive = np.concatenate(
        [
            np.r_[np.full(n - f, 36.0), np.full(f, 37.0)]
            for n, f in zip(PAPER_SEQUENCES, flagged, strict=True)
        ]
    )
    owner = polyp % 5
    everyone = np.r_[patient, owner]
    names = tuple(str(number) for number in range(1, 6))
    return judged_frames(
        np.r_[normal, positive],
        np.r_[np.full(len(normal), NORMAL), np.full(len(positive), POLYP)],
        exams=names,
        exam=everyone,
        patients=names,
        patient=everyone,
        groups=names,
        group=everyone,
        polyps=tuple(str(number) for number in range(1, 17)),
        polyp=np.r_[np.full(len(normal), -1), polyp],
    )
