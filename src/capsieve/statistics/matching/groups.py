"""What is resampled and split as a whole: patients, else blocks, else exams."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "Groups", "fill_patients", "form_groups"]

KINDS = ("patient", "block", "exam")
"""From the best to the last resort."""

Named = tuple[tuple[str, ...], NDArray[np.int32]]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of frames.

    Attributes
    ----------
    names
        With their kind in front, so that a patient and an exam of one name stay apart.
    code
        Per frame.
    kind
        What they are, for people: "patient", "patient or block", ...
    """

    names: tuple[str, ...]
    code: NDArray[np.int32]
    kind: str


def fill_patients(
    exam: NDArray[np.int32], patient: NDArray[np.int32], named: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return the patients, also of frames without a label where there is no doubt.

    An exam has one patient. Where all rows that speak of an exam name the same patient, its other
    frames are that patient's as well. A folder with frames of many patients is screened as if it
    were an exam: there, and where a single row names no patient, nothing is filled in.

    Parameters
    ----------
    exam, patient
        Codes per frame; patient -1 where unknown.
    named
        Frames of which any row speaks.
    """
    count = int(exam.max(initial=-1)) + 1
    lowest = np.full(count, np.iinfo(np.int32).max, dtype=np.int32)
    highest = np.full(count, -1, dtype=np.int32)
    np.minimum.at(lowest, exam[named], patient[named])
    np.maximum.at(highest, exam[named], patient[named])
    only = np.where(lowest == highest, highest, -1)
    return np.where(named, patient, only[exam]).astype(np.int32)


def form_groups(
    labelled: NDArray[np.bool_], *, patient: Named, block: Named, exam: Named
) -> Groups:
    """Return each frame's group: the first of its levels that is known.

    Parameters
    ----------
    labelled
        Frames that have a label: what they are grouped by is what the groups are called.
    patient, block, exam
        Names and a code per frame; every frame has an exam.
    """
    code = np.full(len(labelled), -1, dtype=np.int32)
    level = np.full(len(labelled), -1, dtype=np.int8)
    names: list[str] = []
    for place, (level_names, level_code) in enumerate((patient, block, exam)):
        kind = KINDS[place]
        open_ = (code < 0) & (level_code >= 0)
        used, dense = np.unique(level_code[open_], return_inverse=True)
        code[open_] = len(names) + dense
        level[open_] = place
        names += [f"{kind} {level_names[number]}" for number in used.tolist()]
    seen = np.unique(level[labelled] if labelled.any() else level)
    kinds = [KINDS[place] for place in seen.tolist() if place >= 0]
    return Groups(tuple(names), code, " or ".join(kinds))
