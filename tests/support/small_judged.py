"""Judged frames of exams without patients, a second apart: what reading and pointing start from."""

from typing import Any

import numpy as np

from capsieve.statistics.judged import UNLABELLED, Judged
from support.judged_frames import judged_frames

__all__ = ["small_judged"]


def small_judged(score: Any, **given: Any) -> Judged:
    """Return frames of 100 x 100 pixels; exams are the groups, and names that are not given count.

    Parameters
    ----------
    score
        One per frame.
    **given
        Any field of :class:`~capsieve.statistics.judged.Judged`; frames are unlabelled otherwise.
    """
    count = len(score)
    fields: dict[str, Any] = {
        "exam": np.zeros(count, int),
        "patient": np.full(count, -1),
        "polyp": np.full(count, -1),
        "time": np.arange(count, dtype=float),
        "rows": np.full(count, 100),
        "cols": np.full(count, 100),
        "group_kind": "exam",
    } | given
    fields.setdefault("group", fields["exam"])
    for names, codes in {"exams": "exam", "patients": "patient", "polyps": "polyp"}.items():
        known = int(np.max(fields[codes], initial=-1)) + 1
        fields.setdefault(names, tuple(str(code) for code in range(known)))
    fields.setdefault("groups", fields["exams"])
    if fields.get("file") is not None:
        fields["file"] = np.asarray(fields["file"], object)
    return judged_frames(score, fields.pop("truth", np.full(count, UNLABELLED)), **fields)
