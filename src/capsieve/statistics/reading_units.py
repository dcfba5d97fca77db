"""What one exam is when reading is counted: a patient where all are known, else an exam."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.bootstrap import ROUNDS, SEED, plural, ratio_interval
from capsieve.statistics.judged import UNLABELLED, Judged
from capsieve.statistics.metric import Interval

__all__ = ["ReadingUnits", "drawn_units", "mean_interval", "reading_units", "unit_counts"]


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


def unit_counts(counted: NDArray[np.bool_], units: ReadingUnits) -> NDArray[np.int64]:
    """Count frames by unit; those of no unit are left out."""
    own = counted & (units.unit >= 0)
    return np.bincount(units.unit[own], minlength=len(units))


def drawn_units(
    judged: Judged, unit: NDArray[np.integer], units: int, *, word: str
) -> tuple[NDArray[np.intp], str]:
    """Say what is drawn again as a whole with each unit, and what that is called.

    Exams of one patient are not independent: a unit is drawn with its group. Where a unit is spread
    over several groups (an exam cut into blocks) it is drawn by itself.

    Parameters
    ----------
    judged
        The frames.
    unit, units, word
        A code per frame, -1 for none; how many there are; and what one is called.

    Returns
    -------
    tuple
        A code per unit, and "patient", "exam", ...
    """
    labelled = judged.truth != UNLABELLED
    told = np.zeros(units, np.bool_)
    told[unit[labelled & (unit >= 0)]] = True
    # What the labels say of a unit counts; where they say nothing, what else is known.
    chosen = np.flatnonzero((unit >= 0) & (labelled | ~told[unit]))
    groups, group = np.unique(judged.group[chosen], return_inverse=True)
    pairs = np.unique(unit[chosen].astype(np.int64) * max(len(groups), 1) + group)
    if len(pairs) != units:
        return np.arange(units), word
    return np.unique(pairs % max(len(groups), 1), return_inverse=True)[1], judged.group_kind


def mean_interval(
    judged: Judged,
    units: ReadingUnits,
    above: NDArray[np.bool_],
    below: NDArray[np.bool_] | None = None,
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Interval:
    """Return the interval of frames per unit, or of a share of the frames of all units.

    Parameters
    ----------
    judged, units
        The frames, and whose they are.
    above, below
        Which frames are counted, and among which; without the latter, per unit.
    rounds, seed
        Of the bootstrap.
    """
    drawn, kind = drawn_units(judged, units.unit, len(units), word=units.word)
    lost = int(np.count_nonzero((above if below is None else above | below) & (units.unit < 0)))
    if lost:
        why = f"{lost:,} of the frames may be of any of several patients: nobody to draw them with"
        return Interval(f"bootstrap over {plural(kind)}", None, None, why, len(units))
    bottom = np.ones(len(units)) if below is None else unit_counts(below, units)
    return ratio_interval(
        np.bincount(drawn, unit_counts(above, units)),
        np.bincount(drawn, bottom),
        kind=kind,
        rounds=rounds,
        seed=seed,
    )
