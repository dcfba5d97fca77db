"""Which frames choose a threshold, and which ones judge it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.flags import number_of
from capsieve.statistics.judged import UNLABELLED, Judged
from capsieve.statistics.points import TEST, TRAIN
from capsieve.statistics.reading_units import reading_units

__all__ = [
    "FOLDS",
    "Portion",
    "choosing_portion",
    "fold_portion",
    "has_folds",
    "in_parts",
    "judging_portions",
    "left_out",
]

FOLDS = "cross-fitted"


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """Frames that figures are given for.

    Attributes
    ----------
    key
        "all", "train", "test", ..., or :data:`FOLDS`: each fold with the threshold of the others.
    frames
        Which of the judged frames.
    optimistic
        Whether these frames chose the threshold that they are judged with.
    whole
        Whether every exam is in it with all its frames. Where not, nothing is counted per exam.
    """

    key: str
    frames: NDArray[np.bool_]
    optimistic: bool
    whole: bool


def in_parts(judged: Judged) -> Judged:
    """Return the frames with a part also for those without a label, where there is no doubt.

    A split names labelled frames. What is to be read of an exam are all its frames: those without a
    label go with the labelled ones where these are all in one part.
    """
    if not judged.parts:
        return judged
    units = reading_units(judged)
    told = (judged.truth != UNLABELLED) & (units.unit >= 0)
    first = np.full(len(units), np.iinfo(np.int16).max, np.int16)
    last = np.full(len(units), -1, np.int16)
    np.minimum.at(first, units.unit[told], judged.part[told])
    np.maximum.at(last, units.unit[told], judged.part[told])
    only = np.where(first == last, last, -1)
    open_ = (judged.truth == UNLABELLED) & (judged.part < 0) & (units.unit >= 0)
    part = judged.part.copy()
    part[open_] = only[units.unit[open_]]
    return replace(judged, part=part)


def has_folds(judged: Judged) -> bool:
    """Return whether the parts are folds: several, none of which is for training."""
    return len(_parts_there(judged)) > 1 and not {TRAIN, TEST} & set(judged.parts)


def choosing_portion(judged: Judged) -> Portion:
    """Return the frames that choose: the part "train", else all frames of the split, else all.

    Raises
    ------
    ParameterError
        The split has a part to test on and none to train on, or none of its frames is here.
    """
    if not judged.parts:
        return _portion(judged, "all", np.ones(len(judged), np.bool_), optimistic=True)
    if TRAIN in judged.parts:
        mask = judged.part == judged.parts.index(TRAIN)
        if not (judged.truth[mask] != UNLABELLED).any():
            raise ParameterError("splits", "no labelled frame of the part train is in the results")
        return _portion(judged, TRAIN, mask, optimistic=True)
    if TEST in judged.parts:
        raise ParameterError(
            "splits", "the split has a part test and no part train to choose on; name one train"
        )
    if not (judged.part >= 0).any():
        raise ParameterError("splits", "no frame of the split is in the results")
    return _portion(judged, "all", judged.part >= 0, optimistic=True)


def judging_portions(judged: Judged) -> tuple[Portion, ...]:
    """Return the frames that had no say: the other parts of a split with a part "train".

    Folds judge each other: see :mod:`capsieve.calibration.folds`.
    """
    if TRAIN not in judged.parts:
        return ()
    return tuple(
        _portion(judged, judged.parts[code], judged.part == code, optimistic=False)
        for code in _parts_there(judged)
        if judged.parts[code] != TRAIN
    )


def fold_portion(judged: Judged) -> Portion:
    """Return the frames of all folds, to be judged each by the others."""
    return _portion(judged, FOLDS, judged.part >= 0, optimistic=False)


def left_out(judged: Judged) -> str:
    """Return a sentence about labelled frames that are in no part of the split, or ""."""
    count = int(np.count_nonzero((judged.truth != UNLABELLED) & (judged.part < 0)))
    if not judged.parts or not count:
        return ""
    verb = "is" if count == 1 else "are"
    return f"{number_of(count, 'labelled frame')} {verb} in no part of the split: not used."


def _parts_there(judged: Judged) -> list[int]:
    """Codes of the parts that have labelled frames here."""
    used = (judged.part >= 0) & (judged.truth != UNLABELLED)
    return [int(code) for code in np.unique(judged.part[used])]


def _portion(judged: Judged, key: str, mask: NDArray[np.bool_], *, optimistic: bool) -> Portion:
    units = reading_units(judged).unit
    known = units >= 0
    torn = np.intersect1d(units[mask & known], units[~mask & known])
    whole = not len(torn) and (bool(known.all()) or bool(mask.all()))
    return Portion(key, mask, optimistic, whole)
