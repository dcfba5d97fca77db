"""Operating points: thresholds chosen by a rule, and flags with rules chosen on other folds.

All rules are compared on whole numbers of frames or polyps, never on rounded shares. They also
choose the length of a reading list: with the score ``-reading_share(frames)`` a threshold t is the
share -t.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from capsieve.errors import ParameterError
from capsieve.frame_table import Coded, FlagRule, LabelledFrames, Mask, flagged_at
from capsieve.plurals import number_of
from capsieve.statistics.intervals import least_count
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import OperatingPoint

TRAIN = "train"
TEST = "test"

_FEWEST_DIGITS = 2
_MOST_DIGITS = 17  # they distinguish any two floats


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """Frames of each fold flagged by a rule that was chosen on the other folds.

    Attributes
    ----------
    flagged
        Mask over all frames; False for frames in no fold.
    values
        Value that the other folds chose, by fold: a threshold, a share or a setting.
    failed
        Folds for which the others could not choose. If there are any, the flags are incomplete.
    """

    flagged: Mask
    values: Mapping[str, Any]
    failed: tuple[str, ...] = ()


def smallest_threshold(
    normal_scores: ArrayLike,
    *,
    specificity: float,
    step: float | None = None,
    candidates: ArrayLike | None = None,
) -> float:
    """Return the smallest threshold whose specificity on normal frames reaches the target.

    This is the paper's procedure for R_P: "among all values of the threshold R_P we choose a
    minimal value that provides at least that much specificity".

    Parameters
    ----------
    normal_scores
        Scores of the normal calibration frames; NaN is left out.
    specificity
        At least this share of them must not be flagged; 0.9 in the paper.
    step
        Thresholds are whole multiples of this, from `step` itself: 1 for the paper's R_P. If None,
        they are observed scores.
    candidates
        The observed scores to choose from, by default those of the normal frames. If none of them
        is high enough, the result is just above the highest normal score.

    Raises
    ------
    ParameterError
        No normal frame was scored.
    """
    scores = np.asarray(normal_scores, np.float64).ravel()
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        raise ParameterError(
            "specificity",
            "no normal frame of the training part was scored, so no threshold can be chosen; "
            "give a split whose training part has normal frames, or a threshold",
        )
    if step is not None and not (math.isfinite(step) and step > 0):
        raise ParameterError("step", f"must be a positive number, not {step}")
    # The highest score that must stay below the threshold; -inf if every score may be flagged.
    not_flagged = least_count(specificity, len(scores))
    barrier = (
        float(np.partition(scores, not_flagged - 1)[not_flagged - 1]) if not_flagged else -math.inf
    )
    if step is not None:
        count = max(1.0, np.floor(barrier / step) + 1)
        while count * step <= barrier:  # the division may have been rounded down
            count += 1
        while count > 1 and (count - 1) * step > barrier:  # or up
            count -= 1
        return float(count * step)
    observed = np.asarray(scores if candidates is None else candidates, np.float64)
    above = observed[observed > barrier]  # neither NaN nor -inf
    if len(above):
        return float(above.min())
    return float(np.nextafter(barrier, np.inf)) if barrier > -math.inf else 0.0


def threshold_for_sensitivity(polyp_scores: ArrayLike, *, share: float) -> float | None:
    """Return the largest threshold that finds at least this share of the polyps.

    The scores are the best of each polyp; NaN counts as missed. None if no threshold finds so many,
    because too many were rejected by a rule or not scored.
    """
    if not 0 < share <= 1:
        raise ParameterError("share", f"must be above 0, up to 1, not {share}")
    scores = np.asarray(polyp_scores, np.float64).ravel()
    scores = np.sort(np.where(np.isnan(scores), -np.inf, scores))[::-1]
    needed = least_count(share, len(scores))
    if needed == 0 or scores[needed - 1] == -np.inf:
        return None
    return float(scores[needed - 1])


def short_threshold(threshold: float, scores: ArrayLike) -> float:
    """Return the threshold with the fewest digits that flags the same scores.

    It is above the highest score below the threshold, and at most the threshold.

    Examples
    --------
    >>> short_threshold(0.4837123, [0.1, 0.4801, 0.4837123, 0.9])
    0.483
    """
    values = np.asarray(scores, np.float64)
    below = float(np.max(values[values < threshold], initial=-np.inf))
    if threshold > 0:  # a positive threshold stays positive
        below = max(below, 0.0)
    exact = Decimal(repr(float(threshold)))  # as written: 0.3, not 0.29999999999999999
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
        # The nearest float to a decimal between two floats is between them as well.
        short = float((exact / unit).to_integral_value(ROUND_FLOOR) * unit)
        if below < short <= threshold:
            return short
    return threshold


def has_folds(frames: LabelledFrames) -> bool:
    """Return whether the split of the frames has folds, and not a training and a test part."""
    names = frames.part.names
    return len(names) > 1 and TRAIN not in names and TEST not in names


def with_training_patients(frames: LabelledFrames, names: tuple[str, ...]) -> LabelledFrames:
    """Return the frames with the parts "train" (of the named patients) and "test" (all others).

    A patient with only one exam may also be named by this exam.
    """
    train = np.isin(frames.patient.code, [_patient_named(frames, name) for name in names])
    if not (frames.labelled & ~train).any():
        raise ParameterError(
            "train_patients", "no labelled frame is left to test on; name fewer patients"
        )
    return replace(frames, part=Coded((TRAIN, TEST), np.where(train, 0, 1).astype(np.int32)))


def _patient_named(frames: LabelledFrames, name: str) -> int:
    """Return the code of the patient with this name, or whose only exam has it."""
    known = frames.patient.names
    if name in known:
        return known.index(name)
    for exam in (frames.unit, frames.exam):  # as in the labels, and as screened
        if name not in exam.names:
            continue
        pairs = np.stack([exam.code, frames.patient.code])[:, frames.labelled]
        patients = np.unique(pairs[1, pairs[0] == exam.names.index(name)])
        if len(patients) == 1 and patients[0] >= 0:
            patient = int(patients[0])
            if len(np.unique(pairs[0, pairs[1] == patient])) == 1:
                return patient
            raise ParameterError(
                "train_patients",
                f"{name!r} is one of several exams of patient {known[patient]!r}; name the patient",
            )
    shown = ", ".join(known[:10]) or "none"
    raise ParameterError(
        "train_patients", f"the labels name no patient {name!r}; they name {shown}"
    )


def choose_threshold(
    frames: LabelledFrames, options: EvaluationOptions, step: float | None
) -> float | None:
    """Return the smallest threshold that reaches the target specificity on these frames.

    `step` is 1.0 for the paper's detector, whose R_P is a whole number, and None for real-valued
    scores. The result is None if no normal frame was scored.
    """
    normal = frames.normal_frames
    if not normal.any():
        return None
    return smallest_threshold(
        frames.score[normal],
        specificity=options.target,
        step=step,
        candidates=frames.score[frames.labelled],
    )


def cross_fit(
    frames: LabelledFrames,
    choose: Callable[[LabelledFrames], Any],
    flag: Callable[[LabelledFrames, Any], Mask] | None = None,
) -> CrossFit:
    """Flag the frames of each fold (see :func:`has_folds`) by the rule that all others choose.

    `choose` returns a threshold, or any other value for `flag`, from the frames of the other folds;
    None if it cannot. `flag` returns the flags of frames for that value; by default those of a
    threshold.
    """
    flagged = np.zeros(len(frames), np.bool_)
    values: dict[str, Any] = {}
    part = frames.part.code
    for code in np.unique(part[part >= 0]):
        here = part == code
        value = values[frames.part.names[code]] = choose(frames.take((part >= 0) & ~here))
        if value is None:
            continue
        if flag is None:
            flagged[here] = flagged_at(frames.score[here], value)
        else:
            flagged[here] = flag(frames.take(here), value)
    failed = tuple(name for name, value in values.items() if value is None)
    values = {name: value for name, value in values.items() if value is not None}
    return CrossFit(flagged, values, failed)


def chosen_point(
    frames: LabelledFrames, options: EvaluationOptions, step: float | None
) -> OperatingPoint | None:
    """Return the operating point that is chosen on the training part.

    None if there is no training part, or no normal frame of it was scored.
    """
    if TRAIN not in frames.part.names:
        return None
    train = frames.part.code == frames.part.names.index(TRAIN)
    codes = np.unique(frames.patient.code[train])
    names = [frames.patient.names[code] for code in codes if code >= 0]
    who = f"patient {names[0]}" if len(names) == 1 else number_of(len(names), "patient")
    count = number_of(int((frames.normal_frames & train).sum()), "normal frame")
    text = f"the {count} of {who if names else 'the training part'}."
    tested = bool((frames.labelled & ~train).any())
    if not tested:
        text += " There are no other frames to test it on, so the metrics are optimistic."
    return _point("chosen", frames, train, options, step, text, optimistic=not tested)


def fitted_point(
    frames: LabelledFrames, options: EvaluationOptions, step: float | None
) -> OperatingPoint | None:
    """Return the operating point that is fitted to all frames; None without a normal frame."""
    text = "all normal frames. The same frames are evaluated, so the metrics are optimistic."
    every = np.ones(len(frames), np.bool_)
    return _point("fitted", frames, every, options, step, text, optimistic=True)


def _point(
    key: Literal["chosen", "fitted"],
    frames: LabelledFrames,
    chosen: Mask,
    options: EvaluationOptions,
    step: float | None,
    text: str,
    *,
    optimistic: bool,
) -> OperatingPoint | None:
    value = choose_threshold(frames.take(chosen), options, step)
    if value is None:
        return None
    text = f"Smallest threshold with a specificity of at least {options.specificity:g} % on {text}"
    value = value if step is not None else short_threshold(value, frames.score)
    flagged = flagged_at(frames.score, value)
    return OperatingPoint(key, FlagRule("threshold", value), flagged, text, optimistic)
