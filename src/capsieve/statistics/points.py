"""The operating points of an evaluation, and who had a say in them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from capsieve.errors import FileError, ParameterError
from capsieve.statistics.evaluation import OperatingPoint
from capsieve.statistics.flags import normal_frames, number_of
from capsieve.statistics.judged import NORMAL, Judged
from capsieve.statistics.operating_point import smallest_threshold
from capsieve.statistics.settings import Settings
from capsieve.statistics.short_threshold import short_threshold

__all__ = ["TEST", "TRAIN", "operating_points", "screened_threshold", "step_of", "with_training"]

TRAIN = "train"
TEST = "test"


def with_training(judged: Judged, patients: tuple[str, ...]) -> Judged:
    """Return the frames parted into those of the training patients and all others.

    Raises
    ------
    ParameterError
        A patient that the labels do not name, or no patient left to test on.
    """
    unknown = [name for name in patients if name not in judged.patients]
    if unknown:
        known = ", ".join(judged.patients[:10]) or "none"
        raise ParameterError(
            "train_patients", f"the labels name no patient {unknown[0]!r}; they name {known}"
        )
    codes = [judged.patients.index(name) for name in patients]
    train = np.isin(judged.patient, codes)
    if not (judged.truth[~train] >= 0).any():
        raise ParameterError(
            "train_patients", "no labelled frame is left to test on; name fewer patients"
        )
    part = np.where(train, 0, 1).astype(np.int16)
    return replace(judged, parts=(TRAIN, TEST), part=part)


def step_of(detector: Mapping[str, Any]) -> float | None:
    """Return the steps of a detector's threshold: the paper's R_P is a whole number."""
    return 1.0 if detector.get("name") == "paper" else None


def screened_threshold(flagging: Sequence[Mapping[str, Any]], judged: Judged) -> float:
    """Return the threshold that the exams were screened with.

    Reading lists have no threshold. It is then the lowest score of a flagged frame if that score
    separates flagged frames from all others, otherwise the detector's own threshold.

    Parameters
    ----------
    flagging
        The entry of this name in the record of each exam.
    judged
        All frames.

    Raises
    ------
    FileError
        The exams were screened with different thresholds, or with reading lists by a detector
        without a threshold.
    """
    values = {each["value"] for each in flagging if each["rule"] == "threshold"}
    lists = any(each["rule"] != "threshold" for each in flagging)
    if len(values) == 1 and not lists:
        return float(values.pop())
    flagged, others = judged.score[judged.flagged], judged.score[~judged.flagged]
    if not len(flagged):
        highest = np.nanmax(others, initial=0.0)
        return float(np.nextafter(max(highest, 0.0), np.inf))
    lowest = float(flagged.min())
    if not (others >= lowest).any():
        return lowest
    own = {each["score_threshold"] for each in flagging}
    if not values and len(own) == 1 and None not in own:
        return float(own.pop())
    raise FileError(
        "the flags in these results do not follow from one threshold of the score; state one with "
        "--threshold"
    )


def operating_points(
    judged: Judged,
    settings: Settings,
    *,
    detector: Mapping[str, Any],
    flagging: Sequence[Mapping[str, Any]],
) -> tuple[OperatingPoint, ...]:
    """Return the thresholds to judge, the one that figures mark first.

    First comes the one that the user stated, else the one chosen on a training part, else the one
    that the exams were screened with. The last one is fitted to the very frames that it is judged
    on: it tells what this study could reach at best, not what to expect.
    """
    step = step_of(detector)
    target = f"{100 * settings.target_specificity:g} %"
    points: list[OperatingPoint] = []
    if settings.threshold is not None:
        points.append(OperatingPoint("stated", settings.threshold, "Stated by the user."))
    if TRAIN in judged.parts:
        train = judged.part == judged.parts.index(TRAIN)
        # Who states a threshold may judge the test part alone.
        if settings.threshold is None or normal_frames(judged)[train].any():
            points.append(_chosen(judged, train, settings, step, target))
    if settings.threshold is None:
        value = screened_threshold(flagging, judged)
        lists = any(each["rule"] != "threshold" for each in flagging)
        how = "The exams were screened with reading lists; this threshold is used instead."
        how = how if lists else "As the exams were screened."
        points.append(OperatingPoint("instead" if lists else "screened", value, how))
    normal = judged.truth == NORMAL
    if np.isfinite(judged.score[normal]).any():
        value = smallest_threshold(
            judged.score[normal],
            target_specificity=settings.target_specificity,
            step=step,
            candidates=judged.score[judged.truth >= 0],
        )
        value = value if step is not None else short_threshold(value, judged.score)
        how = (
            f"The smallest threshold whose specificity on all normal frames reaches {target}. "
            "It is judged on the frames that chose it, so it looks better than it is."
        )
        points.append(OperatingPoint("fitted", value, how, optimistic=True))
    return tuple(points)


def _chosen(
    judged: Judged, train: np.ndarray, settings: Settings, step: float | None, target: str
) -> OperatingPoint:
    normal = train & (judged.truth == NORMAL)
    value = smallest_threshold(
        judged.score[normal],
        target_specificity=settings.target_specificity,
        step=step,
        candidates=judged.score[train & (judged.truth >= 0)],
    )
    value = value if step is not None else short_threshold(value, judged.score)
    names = sorted(
        {judged.patients[code] for code in np.unique(judged.patient[train]) if code >= 0}
    )
    who = f"patient {names[0]}" if len(names) == 1 else number_of(len(names), "patient")
    who = who if names else "the training part"
    how = (
        f"The smallest threshold whose specificity on the {int(normal.sum()):,} normal frames of "
        f"{who} reaches {target}: the paper's procedure."
    )
    tested = ((judged.truth >= 0) & ~train).any()
    if not tested:
        how += " No other frame is there to test it on, so it looks better than it is."
    return OperatingPoint("chosen", value, how, optimistic=not tested)
