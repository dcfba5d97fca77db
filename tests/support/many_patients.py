"""Judged frames of many patients who differ, for tests of choices and how far they carry."""

from typing import Any

import numpy as np

from capsieve.statistics.judged import NORMAL, POLYP, Judged
from support.judged_frames import judged_frames

__all__ = ["many_patients"]


def many_patients(
    patients: int = 40, *, normals: int = 50, polyps: int = 2, seed: int = 0, **given: Any
) -> Judged:
    """Return frames whose scores are whole numbers; every polyp has three frames.

    Parameters
    ----------
    patients, normals, polyps
        How many there are, and how many normal frames and polyps each has.
    seed
        Of the scores.
    **given
        Fields of :class:`~capsieve.statistics.judged.Judged`.
    """
    rng = np.random.default_rng(seed)
    each = normals + 3 * polyps
    patient = np.repeat(np.arange(patients), each)
    level = rng.normal(25, 5, patients)[patient]
    truth = np.tile(np.repeat([NORMAL, POLYP], [normals, 3 * polyps]), patients)
    score = np.rint(rng.normal(level + 10 * (truth == POLYP), 10)).clip(0, 85)
    polyp = np.full(len(patient), -1)
    polyp[truth == POLYP] = np.repeat(np.arange(patients * polyps), 3)
    names = tuple(f"p{number}" for number in range(patients))
    fields: dict[str, Any] = {
        "exams": names,
        "exam": patient,
        "patients": names,
        "patient": patient,
        "groups": tuple(f"patient {name}" for name in names),
        "group": patient,
        "polyps": tuple(map(str, range(patients * polyps))),
        "polyp": polyp,
    }
    return judged_frames(score, truth, **(fields | given))
