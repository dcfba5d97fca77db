"""What one exam is when reading is counted: a patient where all are known, else an exam."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.judged import UNLABELLED, Judged

__all__ = ["ReadingUnits", "reading_units"]


@dataclass(frozen=True, slots=True, eq=False)
class ReadingUnits:
    """Whose reading each frame belongs to.

    Attributes
    ----------
    names, unit
        Names, and a code per frame; -1 for a frame that may be any of several patients'.
    word
        What a unit is: "patient" or "exam".
    meaning
        For definitions: what an exam is here.
    """

    names: tuple[str, ...]
    unit: NDArray[np.int64]
    word: str
    meaning: str

    def __len__(self) -> int:
        return len(self.names)


def reading_units(judged: Judged) -> ReadingUnits:
    """Say what counts as one exam.

    A folder may hold frames of many patients, and a patient may have several recordings. Where
    every labelled frame names its patient, all frames of a patient are one exam. A frame without
    a label belongs to the only patient of its exam; where there are several, to none of them, and
    an exam without any patient counts as one more. Otherwise an exam is what was screened as one.
    """
    labelled = judged.truth != UNLABELLED
    exam = judged.exam.astype(np.int64)
    if not labelled.any() or (judged.patient[labelled] < 0).any():
        codes, unit = np.unique(exam, return_inverse=True)
        names = tuple(judged.exams[code] for code in codes)
        return ReadingUnits(names, unit, "exam", "an exam is what was screened as one")

    known = judged.patient >= 0
    patient = judged.patient.astype(np.int64)
    width = len(judged.patients) + 1
    pairs = np.unique(exam[known] * width + patient[known])
    patients_of = np.bincount(pairs // width, minlength=len(judged.exams))
    only = np.full(len(judged.exams), -1, np.int64)
    only[pairs // width] = pairs % width
    only[patients_of > 1] = -1
    alone = patients_of == 0  # exams of nobody come after all patients
    only[alone] = width + np.flatnonzero(alone)
    unit = np.where(known, patient, only[exam])
    codes, place = np.unique(unit, return_inverse=True)
    lost = int(len(codes) > 0 and codes[0] == -1)
    names = tuple(
        judged.patients[code] if code < width else judged.exams[code - width]
        for code in codes[lost:]
    )
    meaning = "an exam is all that was screened of one patient"
    return ReadingUnits(names, place - lost, "patient", meaning)
