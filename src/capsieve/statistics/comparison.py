"""Two detectors on the same frames: paired differences, and the frames that changed sides."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.delong import delong
from capsieve.statistics.frames import (
    NORMAL,
    OTHER,
    POLYP,
    LabelledFrames,
    number_of,
    polyp_scores,
)
from capsieve.statistics.intervals import group_counts, ratio_interval
from capsieve.statistics.rates import LONG, found_polyps, rate_metrics
from capsieve.statistics.results import (
    Column,
    Comparison,
    EvaluationOptions,
    Metric,
    Table,
    make_metric,
)
from capsieve.statistics.roc import RocResult, frame_roc, polyp_roc, roc_curve

__all__ = ["compare", "mcnemar"]

Mask = NDArray[np.bool_]

_WORDS = {POLYP: "polyp", NORMAL: "normal", OTHER: "other"}
_SAMPLES = {
    "auc": "auc",
    "auc_20": "partial_auc",
    "sensitivity_at_target": "sensitivity",
}


def compare(
    frames: LabelledFrames,
    other_score: NDArray[np.float64],
    *,
    flags: tuple[Mask, Mask],
    names: tuple[str, str],
    options: EvaluationOptions,
) -> Comparison:
    """Compare two detectors on the labelled frames that both scored.

    Both have the same bootstrap draws, so a patient who is difficult for both does not widen the
    interval of a difference.

    Parameters
    ----------
    frames
        With the scores of the first detector.
    other_score
        Scores of the second detector for the same frames; NaN if it has none.
    flags
        Which frames each of them flags.
    names
        Of both, for people.
    options
        Of the evaluation.

    Raises
    ------
    FileError
        They have no labelled frame in common.
    """
    chosen = frames.labelled & frames.scored & ~np.isnan(other_score)
    if not chosen.any():
        raise FileError(
            "the two results have no labelled frame in common; screen the same exams with both"
        )
    left_out = int(np.count_nonzero(frames.labelled & ~chosen))
    mine, theirs = flags[0][chosen], flags[1][chosen]
    first = frames.take(chosen)
    second = replace(first, score=other_score[chosen], flagged=theirs)
    rocs = [(frame_roc(each, options), polyp_roc(each, options)) for each in (first, second)]
    metrics = [
        [
            *_proportions(each, flagged, options),
            *(metric for roc in both for metric in roc.metrics),
        ]
        for each, flagged, both in zip((first, second), (mine, theirs), rocs, strict=True)
    ]
    pairs = list(zip(*metrics, strict=True))
    gained, lost, differences = {}, {}, []
    for key, (hits, among, group) in _masks(first, mine, theirs).items():
        gained[key] = int(np.count_nonzero(among & hits[0] & ~hits[1]))
        lost[key] = int(np.count_nonzero(among & hits[1] & ~hits[0]))
        change = group_counts(first, among & hits[0], group) - group_counts(
            first, among & hits[1], group
        )
        interval = ratio_interval(
            change,
            group_counts(first, among, group),
            kind=first.group_kind,
            options=options,
        )
        note = f"{gained[key]:,} gained, {lost[key]:,} lost."
        differences.append(_difference(pairs[len(differences)], first, options, (interval,), note))
    for place in (0, 1):
        differences += _roc_differences(
            (rocs[0][place], rocs[1][place]), (first, second), options, formula=place == 0
        )
    p_values = {key: mcnemar(gained[key], lost[key]) for key in gained}
    changes = {key: (gained[key], lost[key], p_values[key]) for key in gained}
    units = {"frame": "frames.sensitivity", "polyp": "polyps.sensitivity"}
    return Comparison(
        names=names,
        first=tuple(metrics[0]),
        second=tuple(metrics[1]),
        differences=tuple(differences),
        values=_values_table(pairs, differences, changes, names, len(first), left_out),
        changed=_changed_table(first, second, (mine, theirs), names),
        gained={unit: gained[key] for unit, key in units.items()},
        lost={unit: lost[key] for unit, key in units.items()},
        p_value={unit: p_values[key] for unit, key in units.items()},
        rocs=(_curve(first), _curve(second)),
    )


def mcnemar(gained: int, lost: int) -> float:
    """Return the p value of McNemar's exact test that gains and losses are equally likely."""
    from scipy.special import bdtr  # here, because the import is slow

    return min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5)))


def _proportions(frames: LabelledFrames, flagged: Mask, options: EvaluationOptions) -> list[Metric]:
    metrics = {metric.key: metric for metric in rate_metrics(frames, flagged, options)}
    return [metrics[key] for key in _masks(frames, flagged, flagged)]


def _masks(
    frames: LabelledFrames, mine: Mask, theirs: Mask
) -> dict[str, tuple[tuple[Mask, Mask], Mask, NDArray[np.int64] | None]]:
    """Return for each proportion the hits of both, what it is a share of, and groups of polyps."""
    polyps = polyp_scores(frames)
    found = found_polyps(frames, mine), found_polyps(frames, theirs)
    every = np.ones(len(found[0]), np.bool_)
    return {
        "frames.sensitivity": ((mine, theirs), frames.polyp_frames, None),
        "frames.specificity": ((~mine, ~theirs), frames.normal_frames, None),
        "polyps.sensitivity": (found, every, polyps.group),
        "polyps.sensitivity_long": (found, polyps.frames >= LONG, polyps.group),
    }


def _roc_differences(
    rocs: tuple[RocResult, RocResult],
    sides: tuple[LabelledFrames, LabelledFrames],
    options: EvaluationOptions,
    *,
    formula: bool,
) -> list[Metric]:
    found = []
    for pair in zip(rocs[0].metrics, rocs[1].metrics, strict=True):
        name = pair[0].key.partition(".")[2]
        values = [getattr(roc.samples, _SAMPLES[name]) for roc in rocs]
        intervals, note = [rocs[0].samples.interval(values[0] - values[1])], ""
        if formula and name == "auc":
            first, second = sides
            polyp = first.polyp_frames
            both = polyp | first.normal_frames
            estimate = delong(
                first.score[both],
                second.score[both],
                polyp[both],
                first.group.code[both],
                kind=first.group_kind,
            ).difference
            intervals.append(estimate.interval())
            if estimate.interval().low is not None:
                note = f"After Obuchowski: z = {estimate.z:.2f}, p = {estimate.p:.2g}."
        found.append(_difference(pair, sides[0], options, tuple(intervals), note))
    return found


def _difference(
    pair: tuple[Metric, Metric],
    frames: LabelledFrames,
    options: EvaluationOptions,
    intervals: tuple[Any, ...],
    note: str,
) -> Metric:
    one, two = pair[0].value, pair[1].value
    if one is None or two is None:
        return make_metric(pair[0].key, None, frames, options, note=pair[0].note or pair[1].note)
    return make_metric(pair[0].key, one - two, frames, options, intervals=intervals, note=note)


def _curve(frames: LabelledFrames) -> Any:
    return roc_curve(frames.score[frames.polyp_frames], frames.score[frames.normal_frames])


def _values_table(
    pairs: list[tuple[Metric, Metric]],
    differences: list[Metric],
    changes: dict[str, tuple[int, int, float]],
    names: tuple[str, str],
    frames: int,
    left_out: int,
) -> Table:
    rows, without = [], ""
    for (one, two), change in zip(pairs, differences, strict=True):
        interval = change.interval
        bounds = (None, None) if interval is None else (interval.low, interval.high)
        if interval is not None and interval.low is None:
            without = without or interval.why
        rows.append(
            (
                change.name,
                one.value,
                two.value,
                change.value,
                *bounds,
                *changes.get(change.key, (None, None, None)),
            )
        )
    caption = (
        f"On {number_of(frames, 'labelled frame')} that both scored. Differences are {names[0]} "
        f"minus {names[1]}, with 95 % intervals of a paired bootstrap. Gained and lost: correct "
        f"only with {names[0]}, and only with {names[1]}; p of McNemar's exact test, which treats "
        "frames or polyps as independent."
    )
    if left_out:
        caption += f" {number_of(left_out, 'labelled frame')} left out: not scored by both."
    if without:
        caption += f" No interval: {without}."
    return Table(
        "comparison",
        "Comparison",
        (
            Column("quantity", "Quantity"),
            Column("first", names[0], "share"),
            Column("second", names[1], "share"),
            Column("difference", "Difference", "share"),
            Column("low", "from", "share"),
            Column("high", "to", "share"),
            Column("gained", "Gained", "count"),
            Column("lost", "Lost", "count"),
            Column("p", "p", "number", 3),
        ),
        tuple(rows),
        caption,
    )


def _changed_table(
    first: LabelledFrames,
    second: LabelledFrames,
    flags: tuple[Mask, Mask],
    names: tuple[str, str],
) -> Table:
    places = np.flatnonzero(flags[0] != flags[1]).tolist()
    rows = tuple(
        (
            first.exam[i],
            int(first.head[i]),
            int(first.frame[i]),
            None if first.file is None else first.file[i],
            _WORDS[int(first.truth[i])],
            first.polyp[i],
            bool(flags[0][i]),
            bool(flags[1][i]),
            *(
                float(score) if score > -np.inf else None
                for score in (first.score[i], second.score[i])
            ),
        )
        for i in places
    )
    counts = ", ".join(
        number_of(int(np.count_nonzero(first.truth[places] == code)), f"{word} frame")
        for code, word in _WORDS.items()
    )
    return Table(
        "changed-sides",
        "Frames that only one of them flags",
        (
            Column("exam", "Exam"),
            Column("head", "Head", "count"),
            Column("frame", "Frame", "count"),
            Column("file", "File"),
            Column("label", "Label"),
            Column("polyp", first.polyp_word.capitalize()),
            Column("first_flagged", f"Flagged by {names[0]}", "flag"),
            Column("second_flagged", f"Flagged by {names[1]}", "flag"),
            Column("first_score", f"Score, {names[0]}", "number", 3),
            Column("second_score", f"Score, {names[1]}", "number", 3),
        ),
        rows,
        f"{counts}.",
    )
