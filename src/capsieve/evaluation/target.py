"""A target of an operating point: the value that reaches it, and how stable that value is.

Reading lists and thresholds are chosen alike: a share s is the threshold -s of the score
``-reading_share(frames)``. All targets are compared on whole counts.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from capsieve.evaluation.settings import CalibrationOptions
from capsieve.statistics.frames import (
    LabelledFrames,
    dense_units,
    exam_units,
    number_of,
    polyp_scores,
)
from capsieve.statistics.intervals import (
    drawn_with,
    draws,
    least_count,
    plural,
    resampled_interval,
)
from capsieve.statistics.operating_point import (
    flagged_at,
    smallest_threshold,
    threshold_for_frames,
    threshold_for_sensitivity,
)
from capsieve.statistics.results import Interval

__all__ = ["Scale", "choose", "reason", "stability", "unreachable"]

_MOST_CANDIDATES = 4096  # thresholds of a bootstrap: an interval needs no more


@dataclass(frozen=True, slots=True)
class Scale:
    """The thresholds to choose from.

    Attributes
    ----------
    name
        "R_P", "score threshold" or "share to read".
    step
        Thresholds are multiples of it; None for observed scores.
    highest
        The strictest threshold that is possible.
    sign
        -1 if thresholds are shares to read with a minus.
    """

    name: str
    step: float | None
    highest: float = math.inf
    sign: int = 1


def choose(frames: LabelledFrames, options: CalibrationOptions, scale: Scale) -> float | None:
    """Return the threshold that reaches the target on these frames; None if there is none."""
    if options.kind == "specificity":
        normal = frames.normal_frames
        if not normal.any():
            return None
        chosen: float | None = smallest_threshold(
            frames.score[normal],
            specificity=options.target,
            step=scale.step,
            candidates=frames.score[frames.labelled],
        )
    elif options.kind == "frames":
        scores, exams = _run_scores(frames)[0], len(exam_units(frames).names)
        chosen = threshold_for_frames(
            scores, exams=exams, most=options.target, step=scale.step, candidates=frames.score
        )
    else:
        scores = polyp_scores(frames).score
        chosen = threshold_for_sensitivity(scores, share=options.target) if len(scores) else None
        if chosen is not None and scale.step is not None:
            chosen = max(1, math.floor(chosen / scale.step)) * scale.step
    return None if chosen is None or chosen > scale.highest else chosen


def unreachable(frames: LabelledFrames, options: CalibrationOptions, scale: Scale) -> str:
    """Return why nothing reaches the target, and what can be reached."""
    word, wanted = frames.polyp_word, f"{round(100 * options.target, 10):.12g} %"
    if options.kind == "sensitivity":
        scores = polyp_scores(frames).score
        if not len(scores):
            if frames.polyp_frames.any():
                return "the labels do not name the polyps; add a column polyp, or another target"
            return "no frame that chooses shows a polyp; give other labels or another target"
        found = int((scores > -np.inf).sum())
        return (
            f"no {scale.name} finds {wanted} of the {word}s: only {found:,} of {len(scores):,} "
            f"({_cut(found, len(scores))} %) have a frame with a score; the others were rejected "
            f"by a rule or not scored; ask for at most {_cut(found, len(scores))}"
        )
    flagged = flagged_at(frames.score, scale.highest)
    if options.kind == "frames":
        exams = len(exam_units(frames).names)
        least = math.ceil(100 * (_run_scores(frames)[0] >= scale.highest).sum() / exams) / 100
        return (
            f"no {scale.name} leaves at most {options.target:.12g} frames per exam: the strictest "
            f"one leaves {least:.12g}; ask for {least:.12g} or more"
        )
    normal = frames.normal_frames
    if not normal.any():
        return "no frame that chooses is normal and scored; give other labels or another target"
    total, passed = int(normal.sum()), int((normal & ~flagged).sum())
    return (
        f"no {scale.name} reaches a specificity of {wanted}: the strictest one "
        f"({scale.sign * scale.highest:g}) reaches {_cut(passed, total)} % ({passed:,} of "
        f"{total:,} normal frames); ask for at most {_cut(passed, total)}"
    )


def stability(frames: LabelledFrames, options: CalibrationOptions, scale: Scale) -> Interval:
    """Return the interval of the value that is chosen again on each bootstrap sample of groups."""
    above, base, thresholds, kind = _counts_above(frames, options, scale)
    units = int(np.count_nonzero(base))
    if options.kind == "frames" and (exam_units(frames).code < 0).any():
        why = "some frames may belong to any of several exams"
        return Interval(f"bootstrap over {plural(kind)}", None, None, why, units)
    chosen = np.full(options.bootstrap_samples, np.nan)
    drawn = draws(len(base), samples=options.bootstrap_samples, seed=options.seed)
    for start in range(0, len(chosen), 256):  # in blocks, to limit memory
        block = drawn[start : start + 256]
        flagged, totals = block @ above, block @ base
        limit = np.array([_limit(int(total), options) for total in totals])[:, None]
        if options.kind == "sensitivity":
            place = np.count_nonzero(flagged >= limit, axis=1) - 1
        else:  # the first threshold that flags few enough
            place = np.count_nonzero(flagged > limit, axis=1)
        values = np.where((place >= 0) & (totals > 0), thresholds[place], np.nan)
        chosen[start : start + 256] = np.where(values <= scale.highest, values, np.nan)
    interval = resampled_interval(scale.sign * chosen, kind=kind, units=units)
    if scale.step is None or interval.low is None or interval.high is None:
        return interval
    low, high = math.floor(interval.low), math.ceil(interval.high)  # thresholds are whole numbers
    return replace(interval, low=float(low), high=float(high))


def reason(
    frames: LabelledFrames, options: CalibrationOptions, scale: Scale, *, part: str = ""
) -> str:
    """Return the rule of the choice and the frames that chose, as text."""
    where = f" of the {part} part" if part else ""
    groups = np.unique(frames.group.code[frames.labelled])
    name = str(frames.group.names[groups[0]])
    whose = number_of(len(groups), frames.group_kind)
    if len(groups) == 1:
        whose = name if frames.group_kind in name else f"{frames.group_kind} {name}"
    least, most = ("smallest", "largest") if scale.sign > 0 else ("largest", "smallest")
    if options.kind == "frames":
        exams = number_of(len(exam_units(frames).names), "exam")
        return (
            f"The {least} {scale.name} with at most {options.target:,.12g} frames to read per "
            f"exam, in the mean over {exams}{where}."
        )
    percent = f"{round(100 * options.target, 10):.12g}"
    if options.kind == "specificity":
        count = number_of(int(frames.normal_frames.sum()), "normal frame")
        return (
            f"The {least} {scale.name} with a specificity of at least {percent} % on the {count} "
            f"of {whose}{where}."
        )
    count = number_of(len(polyp_scores(frames).score), frames.polyp_word)
    return (
        f"The {most} {scale.name} that finds at least {percent} % of the {count} of {whose}{where}."
    )


def _counts_above(
    frames: LabelledFrames, options: CalibrationOptions, scale: Scale
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], str]:
    """Count what the target counts, group by group and threshold by threshold.

    Returns
    -------
    tuple
        Groups x thresholds: flagged normal frames, found polyps or frames to read. Per group: all
        normal frames, polyps or exams. The thresholds, rising; the last one flags nothing. What a
        group is.
    """
    if options.kind == "frames":
        exams = exam_units(frames)
        drawn, kind = drawn_with(frames, exams)
        score, rows = _run_scores(frames)
        known = exams.code[rows] >= 0
        score, unit = score[known], drawn[exams.code[rows][known]]
        base = np.bincount(drawn).astype(np.float64)
    else:
        group, count, first = dense_units(frames.group.code[frames.labelled])
        kind = frames.group_kind
        if options.kind == "specificity":
            normal = frames.normal_frames[frames.labelled]
            score, unit = frames.score[frames.labelled][normal], group[normal]
        else:
            names = frames.group.code[frames.labelled][first]
            place = {code: number for number, code in enumerate(names.tolist())}
            polyps = polyp_scores(frames)
            score = polyps.score
            unit = np.array([place[code] for code in polyps.group.tolist()], np.int64)
        base = np.bincount(unit, minlength=count).astype(np.float64)
    observed = np.unique(score[score > -np.inf])
    if scale.step is not None:
        steps = int(observed.max(initial=0.0) / scale.step) + 2
        thresholds = scale.step * np.arange(1, steps + 1)
    else:
        if len(observed) > _MOST_CANDIDATES:
            observed = observed[np.linspace(0, len(observed) - 1, _MOST_CANDIDATES).astype(int)]
        last = observed[-1] if len(observed) else 0.0
        thresholds = np.append(observed, np.nextafter(last, np.inf))
    reached = np.searchsorted(thresholds, score, side="right")  # so many thresholds flag it
    size = len(thresholds) + 1
    counts = np.bincount(unit * size + reached, minlength=len(base) * size)
    above = counts.reshape(len(base), size)[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    return above.astype(np.float64), base, np.asarray(thresholds, np.float64), kind


def _limit(total: int, options: CalibrationOptions) -> int:
    """Return how many the target allows (or asks for, of polyps), exactly."""
    if options.kind == "frames":
        return math.floor(Fraction(repr(float(options.target))) * total)
    least = least_count(options.target, total)
    return least if options.kind == "sensitivity" else total - least


def _run_scores(frames: LabelledFrames) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the best score of each run of near-identical frames, which is read once, and a row."""
    rows = np.flatnonzero(frames.scored)
    first = np.where(frames.duplicate_of < 0, np.arange(len(frames)), frames.duplicate_of)[rows]
    code, count, start = dense_units(first)
    best = np.full(count, -np.inf)
    np.maximum.at(best, code, frames.score[rows])
    return best, rows[start]


def _cut(count: int, total: int) -> str:
    """Return a share in percent with one decimal, rounded down: so much can be reached."""
    return f"{math.floor(Fraction(1000 * count, total)) / 10:g}"
