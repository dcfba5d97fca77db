"""A target of an operating point: the value that reaches it, and how stable that value is.

Reading lists and thresholds are chosen alike: a share s is the threshold -s of the score
``-reading_share(frames)``. All targets are compared on whole counts.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.evaluation.settings import CalibrationOptions
from capsieve.frame_table import Floats, LabelledFrames
from capsieve.plurals import number_of
from capsieve.statistics.frames import dense_units, polyp_scores
from capsieve.statistics.intervals import (
    draws,
    least_count,
    resampled_interval,
)
from capsieve.statistics.operating_point import (
    smallest_threshold,
    threshold_for_sensitivity,
)
from capsieve.statistics.results import Interval

_MOST_CANDIDATES = 4096  # thresholds of a bootstrap: an interval needs no more


@dataclass(frozen=True, slots=True)
class Scale:
    """The thresholds to choose from."""

    name: str  # "R_P", "score threshold" or "share to read"
    step: float | None  # thresholds are multiples of it; None for observed scores
    highest: float = math.inf
    sign: int = 1  # -1 if thresholds are shares to read with a minus


def choose(frames: LabelledFrames, options: CalibrationOptions, scale: Scale) -> float | None:
    """Return the threshold that reaches the target on these frames; None if there is none."""
    counted, target = _counted(frames, options), options.target
    if not counted.total:
        return None
    if options.kind == "specificity":
        chosen: float | None = smallest_threshold(
            counted.score,
            specificity=target,
            step=scale.step,
            candidates=frames.score[frames.labelled],
        )
    else:
        chosen = threshold_for_sensitivity(counted.score, share=target)
        if chosen is not None and scale.step is not None:
            chosen = max(1, math.floor(chosen / scale.step)) * scale.step
    return None if chosen is None or chosen > scale.highest else chosen


def unreachable(frames: LabelledFrames, options: CalibrationOptions, scale: Scale) -> str:
    """Return why nothing reaches the target, and what can be reached."""
    counted = _counted(frames, options)
    score, total = counted.score, counted.total
    flagged = int((score >= scale.highest).sum())
    wanted = f"{round(100 * options.target, 10):.12g} %"
    if options.kind == "sensitivity":
        if not total and frames.polyp_frames.any():
            return "the labels do not name the polyps; add a column polyp, or another target"
        if not total:
            return "no frame that chooses shows a polyp; give other labels or another target"
        reachable = int((score > -np.inf).sum())
        return (
            f"no {scale.name} finds {wanted} of the {frames.polyp_word}s: only {reachable:,} of "
            f"{total:,} have a frame with a score; the others were rejected by a rule or not "
            f"scored; ask for at most {_cut(reachable, total)}"
        )
    if not total:
        return "no frame that chooses is normal and scored; give other labels or another target"
    return (
        f"no {scale.name} reaches a specificity of {wanted}: the strictest one "
        f"({scale.sign * scale.highest:g}) reaches {total - flagged:,} of {total:,} normal frames; "
        f"ask for at most {_cut(total - flagged, total)}"
    )


def stability(frames: LabelledFrames, options: CalibrationOptions, scale: Scale) -> Interval:
    """Return the interval of the value that is chosen again on each bootstrap sample of groups."""
    counted = _counted(frames, options)
    base, kind = counted.base, counted.kind
    units = int(np.count_nonzero(base))
    above, thresholds = _counts_above(counted, scale)
    chosen = np.full(options.bootstrap_samples, np.nan)
    drawn = draws(len(base), samples=options.bootstrap_samples, seed=options.seed)
    for start in range(0, len(chosen), 256):  # in blocks, to limit memory
        block = drawn[start : start + 256]
        flagged, totals = block @ above, block @ base
        limit = np.array([_limit(int(total), options) for total in totals])[:, None]
        if options.kind == "sensitivity":
            column = np.count_nonzero(flagged >= limit, axis=1) - 1
        else:  # the first threshold that flags few enough
            column = np.count_nonzero(flagged > limit, axis=1)
        values = np.where((column >= 0) & (totals > 0), thresholds[column], np.nan)
        chosen[start : start + 256] = np.where(values <= scale.highest, values, np.nan)
    interval = resampled_interval(scale.sign * chosen, kind=kind, units=units)
    if scale.step is None or interval.low is None or interval.high is None:
        return interval
    low, high = math.floor(interval.low), math.ceil(interval.high)  # thresholds are whole numbers
    return replace(interval, low=float(low), high=float(high))


def reason(frames: LabelledFrames, options: CalibrationOptions, scale: Scale, where: str) -> str:
    """Return the rule of the choice and the calibration frames, as text."""
    least, most = f"smallest {scale.name}", f"largest {scale.name}"
    if scale.sign < 0:  # a range of shares gives the same reading lists
        least, most = "longest reading list", "shortest reading list"
    total = _counted(frames, options).total
    kind = frames.group_kind
    groups = np.unique(frames.group.code[frames.labelled])
    name = frames.group.names[groups[0]]
    whose = number_of(len(groups), kind)
    if len(groups) == 1:
        whose = name if kind in name else f"{kind} {name}"
    percent = f"{round(100 * options.target, 10):.12g} %"
    if options.kind == "specificity":
        rule = f"The {least} with a specificity of at least {percent} on the "
        return f"{rule}{number_of(total, 'normal frame')} of {whose}{where}."
    rule = f"The {most} that finds at least {percent} of the "
    return f"{rule}{number_of(total, frames.polyp_word)} of {whose}{where}."


class _Counted(NamedTuple):
    """What a target counts, normal frames or polyps.

    Score and group (from 0) of each, their number per group, and the word for a group.
    """

    score: Floats
    group: NDArray[np.integer]
    base: Floats
    kind: str

    @property
    def total(self) -> int:
        return int(self.base.sum())


def _counted(frames: LabelledFrames, options: CalibrationOptions) -> _Counted:
    named = frames.group.code[frames.labelled]
    code, count, _ = dense_units(named)
    if options.kind == "specificity":
        normal = frames.normal_frames
        score, group = frames.score[normal], code[normal[frames.labelled]]
    else:
        polyps, dense = polyp_scores(frames), np.zeros(len(frames.group.names) + 1, np.int64)
        dense[named] = code
        score, group = polyps.score, dense[polyps.group]
    base = np.bincount(group, minlength=count).astype(float)
    return _Counted(score, group, base, frames.group_kind)


def _counts_above(counted: _Counted, scale: Scale) -> tuple[Floats, Floats]:
    """Return what each threshold flags, groups x thresholds, and the thresholds.

    They rise, and the last one flags nothing.
    """
    observed = np.unique(counted.score[counted.score > -np.inf])
    if scale.step is not None:
        steps = int(observed.max(initial=0.0) / scale.step) + 2
        thresholds = scale.step * np.arange(1, steps + 1)
    else:
        if len(observed) > _MOST_CANDIDATES:
            observed = observed[np.linspace(0, len(observed) - 1, _MOST_CANDIDATES).astype(int)]
        last = observed[-1] if len(observed) else 0.0
        thresholds = np.append(observed, np.nextafter(last, np.inf))
    reached = np.searchsorted(thresholds, counted.score, side="right")  # so many flag it
    shape = len(counted.base), len(thresholds) + 1
    counts = np.bincount(counted.group * shape[1] + reached, minlength=shape[0] * shape[1])
    above = counts.reshape(shape)[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return above.astype(np.float64), thresholds.astype(np.float64)


def _limit(total: int, options: CalibrationOptions) -> int:
    """Return how many normal frames may be flagged, or how many polyps must be found."""
    least = least_count(options.target, total)
    return least if options.kind == "sensitivity" else total - least


def _cut(count: int, total: int) -> str:
    """Return a share in percent with one decimal, rounded down: so much can be reached."""
    return f"{math.floor(Fraction(1000 * count, total)) / 10:g}"
