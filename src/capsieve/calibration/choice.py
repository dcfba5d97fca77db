"""The threshold that reaches a target on some frames, or why none does.

    specificity   the smallest threshold that reaches it: the paper's procedure for R_P
    frames        the smallest threshold that leaves no more to read
    sensitivity   the largest threshold that still finds so many polyps

Each takes from the other axes no more than its target asks for.
"""

import math
from fractions import Fraction

import numpy as np

from capsieve.calibration.target import Scale, Target
from capsieve.errors import ParameterError
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.flags import flagged_at, normal_frames, number_of
from capsieve.statistics.judged import POLYP, Judged
from capsieve.statistics.operating_point import (
    smallest_threshold,
    threshold_for_frames,
    threshold_for_sensitivity,
)
from capsieve.statistics.polyps import polyp_scores
from capsieve.statistics.reading_units import reading_units

__all__ = ["choose", "choose_or_fail", "is_possible", "why_chosen"]


def is_possible(judged: Judged, target: Target) -> bool:
    """Return whether the frames hold what the target counts: normal frames, exams, polyps."""
    if target.kind == "specificity":
        return bool(normal_frames(judged).any())
    if target.kind == "frames":
        return len(reading_units(judged)) > 0
    return len(polyp_scores(judged).score) > 0


def choose(judged: Judged, target: Target, scale: Scale) -> float | None:
    """Return the threshold that reaches the target on these frames.

    Parameters
    ----------
    judged
        The frames that choose. A target in frames counts all of them, labelled or not.
    target
        What to reach.
    scale
        The thresholds to choose from.

    Returns
    -------
    float or None
        None where no threshold that can flag anything reaches the target.

    Raises
    ------
    ParameterError
        The frames hold nothing that the target counts; see :func:`is_possible`.
    """
    if not is_possible(judged, target):
        raise ParameterError(target.kind, _nothing_to_count(judged, target))
    if target.kind == "specificity":
        threshold = smallest_threshold(
            judged.score[normal_frames(judged)],
            target_specificity=target.value,
            step=scale.step,
            candidates=judged.score[judged.truth >= 0],
        )
    elif target.kind == "frames":
        threshold = threshold_for_frames(
            judged.score,
            exams=len(reading_units(judged)),
            most=target.value,
            step=scale.step,
        )
    else:
        found = threshold_for_sensitivity(polyp_scores(judged).score, share=target.value)
        threshold = 0.0 if found is None else found
        if scale.step is not None:  # the next step below it flags the same polyps, perhaps more
            threshold = math.floor(threshold / scale.step) * scale.step
    return threshold if scale.lowest <= threshold <= scale.highest else None


def choose_or_fail(judged: Judged, target: Target, scale: Scale) -> float:
    """Return the threshold; see :func:`choose`.

    Raises
    ------
    ParameterError
        No threshold reaches the target; the message says what can be had at best.
    """
    threshold = choose(judged, target, scale)
    if threshold is None:
        raise ParameterError(target.kind, _best_to_be_had(judged, target, scale))
    return threshold


def why_chosen(judged: Judged, target: Target, scale: Scale, *, part: str = "") -> str:
    """Return one sentence: by which rule, and on which frames.

    Parameters
    ----------
    judged, target, scale
        As for :func:`choose`.
    part
        What the frames are of the whole study, for instance "the training part"; or "".
    """
    where = f", {part}" if part else ""
    if target.kind == "frames":
        units = reading_units(judged)
        return (
            f"The smallest {scale.name} that leaves {target.words(judged.unit)}, in the mean over "
            f"{number_of(len(units), units.word)}{where}."
        )
    whose = f"{_groups(judged)}{where}{',' if where else ''}"
    if target.kind == "specificity":
        count = number_of(int(normal_frames(judged).sum()), "normal frame")
        return (
            f"The smallest {scale.name} whose specificity on the {count} of {whose} reaches "
            f"{target.number}: the paper's procedure."
        )
    count = number_of(len(polyp_scores(judged).score), judged.unit)
    return (
        f"The largest {scale.name} that finds at least {target.number} of the {count} of "
        f"{whose.removesuffix(',')}."
    )


def _groups(judged: Judged) -> str:
    """Return whose the labelled frames are."""
    codes = np.unique(judged.group[judged.truth >= 0])
    if len(codes) == 1:
        return judged.groups[codes[0]]
    return f"{len(codes):,} {plural(judged.group_kind)}"


def _nothing_to_count(judged: Judged, target: Target) -> str:
    if target.kind == "frames":
        return "there is no exam to count frames of"
    if target.kind == "specificity":
        return "no frame that chooses is normal and scored; give other labels, or another target"
    if (judged.truth == POLYP).any():
        return (
            "the frames that choose show polyps, but the labels name none of them; give them a "
            "column polyp, or give another target"
        )
    return "no frame that chooses shows a polyp; give other labels, or another target"


def _best_to_be_had(judged: Judged, target: Target, scale: Scale) -> str:
    name, high = scale.name, f"{scale.highest:.12g}"
    if target.kind == "sensitivity":
        best = polyp_scores(judged).score
        found = int(flagged_at(best, scale.lowest).sum())
        lost = len(best) - found
        hint = f"ask for --sensitivity {_cut(found, len(best))} or less" if found else "there is"
        if scale.step is None:
            return (
                f"no {name} finds {target.number} of the {judged.unit}s: {lost:,} of {len(best):,} "
                f"have no score above 0, so {found:,} ({_cut(found, len(best))} %) are the most "
                f"that can be found; {hint}{'' if found else ' nothing to choose from'}"
            )
        low = f"{scale.step:.12g}"
        hint += ", or let pre-selection pass more" if found else " nothing to choose from"
        return (
            f"no {name} finds {target.number} of the {judged.unit}s: of {len(best):,} the sieve "
            f"rejects {lost:,} before it measures a radius, so {found:,} "
            f"({_cut(found, len(best))} %) are the most that can be found, with "
            f"{name} = {low}; {hint}"
        )
    rule = f"no {name} up to {high}, the largest radius that is tried, "
    flagged = flagged_at(judged.score, scale.highest)
    if target.kind == "specificity":
        normal = normal_frames(judged)
        total, passed = int(normal.sum()), int((normal & ~flagged).sum())
        return (
            f"{rule}reaches {target.number} specificity: {name} = {high} reaches "
            f"{_cut(passed, total)} % ({passed:,} of {total:,} normal frames), which is the most "
            f"that can be had; ask for --specificity {_cut(passed, total)} or less"
        )
    mean = np.count_nonzero(flagged) / len(reading_units(judged))
    least = math.ceil(100 * mean) / 100
    return (
        f"{rule}leaves {target.words(judged.unit)}: {name} = {high} leaves {least:,.12g}, which "
        f"is the least that can be had; ask for --frames {least:.12g} or more"
    )


def _cut(count: int, total: int) -> str:
    """Return a share in percent with one digit, cut and not rounded: so much can be reached."""
    tenths = math.floor(Fraction(1000 * count, total))
    return f"{tenths // 10}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}"
