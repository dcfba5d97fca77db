"""Polyps as sequences of frames: one flagged frame is enough to find one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.bootstrap import ROUNDS, SEED, ratio_interval
from capsieve.statistics.flags import number_of, rejected_to_zero, unscored_note
from capsieve.statistics.intervals import share_metric
from capsieve.statistics.judged import POLYP, Judged
from capsieve.statistics.metric import Metric
from capsieve.statistics.subsets import named
from capsieve.statistics.table import Column, Table

__all__ = [
    "LONG",
    "PolypScores",
    "polyp_metrics",
    "polyp_scores",
    "sequences_table",
    "unnamed_polyp_frames",
]

LONG = 5
"""Frames from which a sequence is long: a polyp that a reader, too, has time to see."""


class PolypScores(NamedTuple):
    """One entry per polyp, in the order of its first frame.

    Attributes
    ----------
    polyp
        Its code.
    score
        The best of its frames; 0 where none was scored above 0.
    frames
        N_F, how many frames show it.
    group
        The code of the group of its first frame.
    """

    polyp: NDArray[np.int64]
    score: NDArray[np.float64]
    frames: NDArray[np.int64]
    group: NDArray[np.int64]


class _Sequences(NamedTuple):
    """The frames of named polyps, polyp by polyp, in the order of the polyps' first frames."""

    frames: NDArray[np.int64]
    start: NDArray[np.int64]
    length: NDArray[np.int64]


def polyp_scores(judged: Judged) -> PolypScores:
    """Return the best score, the length and the group of every polyp.

    A polyp frame without a polyp's name belongs to none: see :func:`unnamed_polyp_frames`.
    """
    sequences = _sequences(judged)
    first = sequences.frames[sequences.start]
    score = rejected_to_zero(judged.score[sequences.frames])
    return PolypScores(
        polyp=judged.polyp[first].astype(np.int64),
        score=_each(np.maximum, score, sequences),
        frames=sequences.length,
        group=judged.group[first].astype(np.int64),
    )


def unnamed_polyp_frames(judged: Judged) -> int:
    """Return how many polyp frames name no polyp, and so count in no figure per polyp."""
    return int(np.count_nonzero((judged.truth == POLYP) & (judged.polyp < 0)))


def sequences_table(judged: Judged, flagged: NDArray[np.bool_]) -> Table:
    """Return the paper's table of sequences: frames N_F and flag D of every polyp.

    Parameters
    ----------
    judged
        The frames.
    flagged
        Which of them are flagged.
    """
    sequences = _sequences(judged)
    scores = polyp_scores(judged)
    marks = flagged[sequences.frames]
    hits = _each(np.add, marks.astype(np.int64), sequences)
    # The place of each frame in its sequence, from 1; far behind for frames that are not flagged.
    place = 1 + np.arange(len(marks)) - np.repeat(sequences.start, sequences.length)
    first = _each(np.minimum, np.where(marks, place, len(marks) + 1), sequences)
    patients = judged.patient[sequences.frames[sequences.start]]
    rows = tuple(
        (
            judged.polyps[polyp],
            judged.patients[patient] if patient >= 0 else None,
            int(frames),
            int(hit),
            bool(hit),
            int(place) if hit else None,
            float(score) if score > 0 else None,
        )
        for polyp, patient, frames, hit, place, score in zip(
            scores.polyp, patients, scores.frames, hits, first, scores.score, strict=True
        )
    )
    digits = 3 if scores.score.max(initial=0.0) <= 1 else 1  # a probability, or the paper's radius
    unit = judged.unit
    caption = (
        f"Every {unit} with the number of its frames N_F; it is found (D) where at least one of "
        f"them is flagged: {np.count_nonzero(hits)} of {len(hits)}."
    )
    unnamed = unnamed_polyp_frames(judged)
    if unnamed:
        caption += f" {number_of(unnamed, 'polyp frame')} without a {unit}'s name not in the table."
    return Table(
        key="sequences",
        title=f"Frames and detection of every {unit}",
        columns=(
            Column("polyp", unit.capitalize()),
            Column("patient", "Patient"),
            Column("frames", "N_F", "count"),
            Column("flagged", "Flagged frames", "count"),
            Column("detected", "D", "flag"),
            Column("first_flagged", "First flagged, frame of the sequence", "count"),
            Column("best_score", "Best score", "number", digits),
        ),
        rows=rows,
        caption=caption,
        total=("Total", None, int(scores.frames.sum()), int(hits.sum()), None, None, None),
    )


def polyp_metrics(
    judged: Judged,
    flagged: NDArray[np.bool_],
    *,
    subset: str = "all",
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[Metric, ...]:
    """Return the sensitivity per polyp, of all polyps and of those with long sequences.

    Parameters
    ----------
    judged
        The frames of the subset.
    flagged
        Which of them are flagged.
    subset
        Its name: "all", "train", "test", ...
    rounds, seed
        Of the bootstrap over groups.
    """
    sequences = _sequences(judged)
    scores = polyp_scores(judged)
    found = _each(np.add, flagged[sequences.frames].astype(np.int64), sequences) > 0
    unit = judged.unit
    unnamed = unnamed_polyp_frames(judged)
    note = (
        f"{number_of(unnamed, 'polyp frame')} without a {unit}'s name left out." if unnamed else ""
    )
    note = " ".join(filter(None, [note, unscored_note(judged, truth=POLYP)]))
    # Every group of the subset is drawn from, also those without a polyp.
    groups = np.unique(judged.group)
    group = np.searchsorted(groups, scores.group)

    def sensitivity(chosen: NDArray[np.bool_], key: str, name: str, what: str) -> Metric:
        hits = np.bincount(group[chosen & found], minlength=len(groups))
        every = np.bincount(group[chosen], minlength=len(groups))
        return share_metric(
            f"polyps.{subset}.{key}",
            named(name, subset),
            f"The share of {what} of which at least one frame is flagged.",
            numerator=int(hits.sum()),
            denominator=int(every.sum()),
            resampled=[
                ratio_interval(hits, every, kind=judged.group_kind, rounds=rounds, seed=seed)
            ],
            independent=f"treats {unit}s as independent, which {unit}s of one patient need not be",
            note=note,
            empty=f"there are no {what}",
        )

    return (
        sensitivity(
            np.ones(len(found), dtype=np.bool_),
            "sensitivity",
            f"Sensitivity per {unit}",
            f"{unit}s",
        ),
        sensitivity(
            scores.frames >= LONG,
            "sensitivity_long",
            f"Sensitivity per {unit} of {LONG} frames or more",
            f"{unit}s of {LONG} frames or more",
        ),
    )


def _sequences(judged: Judged) -> _Sequences:
    frames = np.flatnonzero((judged.truth == POLYP) & (judged.polyp >= 0))
    _, first, code = np.unique(judged.polyp[frames], return_index=True, return_inverse=True)
    # Numbered by first frame instead of by code, so that the order is that of the exams.
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    place = rank[code]
    length = np.bincount(place, minlength=len(first))
    start = np.cumsum(length) - length
    return _Sequences(frames[np.argsort(place, kind="stable")], start, length)


def _each(ufunc: np.ufunc, values: NDArray, sequences: _Sequences) -> NDArray:
    """Return a value per sequence; sequences are never empty, but there may be none."""
    return ufunc.reduceat(values, sequences.start) if len(sequences.start) else values[:0]
