"""How far a chosen threshold hangs on whom it was chosen on.

Patients (or blocks, or exams) are drawn again as a whole, and the threshold is chosen again on
those that were drawn. Where it moves much, the study is too small to fix it. Each threshold is also
judged on those that its round did not draw, about a third: that is what the target comes to on
somebody new.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.target import Scale, Target
from capsieve.statistics.bootstrap import (
    FEWEST_GROUPS,
    ROUNDS,
    SEED,
    draws,
    few_units,
    plural,
    resampled_interval,
)
from capsieve.statistics.flags import normal_frames, number_of, rejected_to_zero
from capsieve.statistics.intervals import least_count
from capsieve.statistics.judged import Judged
from capsieve.statistics.metric import Interval
from capsieve.statistics.polyps import polyp_scores
from capsieve.statistics.reading_units import drawn_units, reading_units

__all__ = ["Ladder", "Redrawn", "chosen_rungs", "ladder", "redraw"]

_MOST_RUNGS = 4096
_BLOCK = 1 << 22  # numbers of a block of rounds: 32 MB


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """What every threshold flags of every unit that is drawn as a whole.

    Attributes
    ----------
    thresholds
        Rising. The last one flags nothing.
    above
        Units x thresholds: normal frames that are flagged, all frames that are flagged, or polyps
        that are found, as the target counts.
    base
        Per unit: normal frames, exams, or polyps.
    kind
        What a unit is: "patient", "block", ...
    why
        Why nothing can be drawn, or "".
    """

    thresholds: NDArray[np.float64]
    above: NDArray[np.float64]
    base: NDArray[np.float64]
    kind: str
    why: str = ""

    @property
    def units(self) -> int:
        """How many units hold what the target counts."""
        return int(np.count_nonzero(self.base))


@dataclass(frozen=True, slots=True, eq=False)
class Redrawn:
    """A choice made again and again.

    Attributes
    ----------
    threshold
        The interval of the threshold.
    new
        What the target comes to on units that a round did not draw, all rounds together: a share,
        or frames per exam; None where there are too few units.
    spread
        The interval of that, round by round.
    """

    threshold: Interval
    new: float | None
    spread: Interval


def ladder(judged: Judged, target: Target, scale: Scale) -> Ladder:
    """Count what the target counts, unit by unit and threshold by threshold.

    Parameters
    ----------
    judged, target, scale
        As for :func:`~capsieve.calibration.choice.choose`.
    """
    why = ""
    if target.kind == "frames":
        reading = reading_units(judged)
        drawn, kind = drawn_units(judged, reading.unit, len(reading), word=reading.word)
        base = np.bincount(drawn).astype(np.float64)
        known = reading.unit >= 0
        score, unit = judged.score[known], drawn[reading.unit[known]]
        if not known.all():
            lost = number_of(int(np.count_nonzero(~known)), "frame")
            why = f"{lost} may be of any of several patients: nobody to draw them with"
    else:
        groups, code = np.unique(judged.group[judged.truth >= 0], return_inverse=True)
        labelled, kind = judged.take(judged.truth >= 0), judged.group_kind
        if target.kind == "specificity":
            normal = normal_frames(labelled)
            score, unit = labelled.score[normal], code[normal]
        else:
            polyps = polyp_scores(labelled)
            score, unit = polyps.score, np.searchsorted(groups, polyps.group)
        base = np.bincount(unit, minlength=len(groups)).astype(np.float64)
    score = rejected_to_zero(score)
    thresholds = _rungs(score, scale)
    steps = len(thresholds)
    # How many thresholds flag each score: those up to it.
    reached = np.searchsorted(thresholds, score, side="right")
    counts = np.bincount(unit * (steps + 1) + reached, minlength=len(base) * (steps + 1))
    above = counts.reshape(len(base), steps + 1)[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return Ladder(thresholds, above.astype(np.float64), base, kind, why)


def _rungs(score: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Return the thresholds to choose from: the steps of the scale, else observed scores.

    Of very many scores every so many is taken: an interval needs no more.
    """
    if scale.step is not None:
        steps = int(score.max(initial=0.0) / scale.step) + 2
        return np.asarray(scale.step * np.arange(1, steps + 1), np.float64)
    observed = np.unique(score[score > 0])
    if len(observed) > _MOST_RUNGS:
        places = np.linspace(0, len(observed) - 1, _MOST_RUNGS).round().astype(np.intp)
        observed = observed[places]
    return np.append(observed, np.nextafter(observed[-1] if len(observed) else 0.0, np.inf))


def chosen_rungs(
    above: NDArray[np.float64], base: NDArray[np.float64], target: Target
) -> NDArray[np.intp]:
    """Return the place of the threshold that each round chooses; -1 where none reaches the target.

    Parameters
    ----------
    above, base
        Rounds x thresholds, and per round: the sums of :class:`Ladder` over those that were drawn.
    target
        What to reach.
    """
    limit = _limits(base, target)[:, None]
    if target.kind == "sensitivity":
        rung = np.count_nonzero(above >= limit, axis=1) - 1
    else:
        rung = np.count_nonzero(above > limit, axis=1)  # the first one that flags few enough
    return np.where(base > 0, rung, -1)


def redraw(
    judged: Judged, target: Target, scale: Scale, *, rounds: int = ROUNDS, seed: int = SEED
) -> Redrawn:
    """Choose the threshold again on units drawn again.

    Parameters
    ----------
    judged, target, scale
        As for :func:`~capsieve.calibration.choice.choose`.
    rounds, seed
        Of the bootstrap.
    """
    steps = ladder(judged, target, scale)
    method = f"bootstrap over {plural(steps.kind)}"
    why = few_units(steps.units, steps.kind) if steps.units < FEWEST_GROUPS else steps.why
    if why:
        none = Interval(method, None, None, why, steps.units)
        return Redrawn(none, None, none)
    drawn = draws(len(steps.base), rounds=rounds, seed=seed)
    thresholds, over, under = (np.full(rounds, np.nan) for _ in range(3))
    size = max(1, _BLOCK // len(steps.thresholds))
    for start in range(0, rounds, size):
        block = slice(start, start + size)
        rung = chosen_rungs(drawn[block] @ steps.above, drawn[block] @ steps.base, target)
        new = (drawn[block] == 0).astype(np.float64)
        left = np.take_along_axis(new @ steps.above, np.maximum(rung, 0)[:, None], axis=1)[:, 0]
        thresholds[block] = np.where(rung >= 0, steps.thresholds[rung], np.nan)
        thresholds[block][thresholds[block] > scale.highest] = np.nan
        over[block], under[block] = left, new @ steps.base
    failed = np.isnan(thresholds)
    under[failed | (under == 0)] = np.nan
    over[np.isnan(under)] = np.nan
    share = over / under
    whole = float(np.nansum(over) / np.nansum(under)) if np.isfinite(under).any() else None
    if target.kind == "specificity":
        share, whole = 1 - share, None if whole is None else 1 - whole
    caution = ""
    if failed.any():
        caution = f"no {scale.name} reaches the target in {int(failed.sum()):,} of the rounds"
    return Redrawn(
        _outward(_interval(thresholds[~failed], steps, rounds, caution), scale.step),
        whole,
        _interval(
            share[~np.isnan(share)],
            steps,
            rounds,
            "; ".join(
                filter(
                    None,
                    [caution, f"each round judges about a third of the {plural(steps.kind)}"],
                )
            ),
        ),
    )


def _interval(values: NDArray[np.float64], steps: Ladder, rounds: int, caution: str) -> Interval:
    if not len(values):
        why = "no round reaches the target"
        return Interval(
            f"bootstrap over {plural(steps.kind)}", None, None, why, steps.units, rounds
        )
    return resampled_interval(values, kind=steps.kind, units=steps.units, caution=caution)


def _outward(interval: Interval, step: float | None) -> Interval:
    """Return the bounds as thresholds that there are, the lower one down and the upper one up."""
    if step is None or interval.low is None or interval.high is None:
        return interval
    low, high = math.floor(interval.low / step) * step, math.ceil(interval.high / step) * step
    return replace(interval, low=low, high=high)


def _limits(base: NDArray[np.float64], target: Target) -> NDArray[np.float64]:
    """How many the target allows, or asks for, in each round; exact, on whole numbers."""
    totals, place = np.unique(base, return_inverse=True)
    return np.array([_limit(int(total), target) for total in totals], np.float64)[place]


def _limit(total: int, target: Target) -> int:
    if target.kind == "frames":
        return math.floor(Fraction(repr(float(target.value))) * total)
    least = least_count(target.value, total)
    return least if target.kind == "sensitivity" else total - least
