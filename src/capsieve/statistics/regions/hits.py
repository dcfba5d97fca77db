"""Does the detector point at the polyp? Per frame and per polyp."""

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.bootstrap import ROUNDS, SEED, ratio_interval
from capsieve.statistics.flags import flagged_at, number_of
from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, share_metric
from capsieve.statistics.judged import POLYP, Judged
from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.regions.pointing import Pointed
from capsieve.statistics.table import Column, Table

__all__ = ["hit_metrics", "hit_table"]

_HIT = "the centre of the best ball lies inside the outline of a polyp"
_NONE = "no polyp frame has an outline that can be used"


def hit_metrics(
    judged: Judged,
    pointed: Pointed,
    *,
    threshold: float,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[Metric, ...]:
    """Return the hit rates per frame, per flagged frame and per polyp.

    A frame without a ball is a miss. A polyp is hit where one of its flagged frames has the best
    ball's centre inside the outline of that very polyp.

    Parameters
    ----------
    judged
        The frames.
    pointed
        From :func:`~capsieve.statistics.regions.pointing.point_at`.
    threshold
        A frame is flagged where its score is at least this.
    rounds, seed
        Of the bootstrap over groups.
    """
    frames, place = np.unique(pointed.frame, return_inverse=True)
    hit = np.zeros(len(frames), bool)
    np.logical_or.at(hit, place, pointed.hit)
    flagged = flagged_at(judged.score[frames], threshold)
    polyp_frames = int((judged.truth == POLYP).sum())
    note = f"{len(frames):,} of {number_of(polyp_frames, 'polyp frame')} have outlines."
    rows = _by_polyp(judged, pointed, threshold)
    group = judged.group[frames]

    def over_groups(counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> Interval:
        every = np.bincount(group[among], minlength=1)
        some = np.bincount(group[counted & among], minlength=len(every))
        return ratio_interval(some, every, kind=judged.group_kind, rounds=rounds, seed=seed)

    nameless = sum(name is None for name in pointed.polyp)
    of_polyps = f"{number_of(nameless, 'outline')} of no named polyp left out." if nameless else ""
    return (
        share_metric(
            "localisation.frames.hit_rate",
            "Hit rate per frame",
            f"Polyp frames on which {_HIT}, among all polyp frames with outlines, flagged or not; "
            "a frame without a ball is a miss.",
            numerator=int(hit.sum()),
            denominator=len(frames),
            resampled=[over_groups(hit, np.ones(len(frames), np.bool_))],
            independent=FRAMES_NOT_INDEPENDENT,
            note=note,
            empty=_NONE,
        ),
        share_metric(
            "localisation.flagged.hit_rate",
            "Hit rate per flagged polyp frame",
            f"Flagged polyp frames on which {_HIT}, among all flagged polyp frames with outlines.",
            numerator=int((hit & flagged).sum()),
            denominator=int(flagged.sum()),
            resampled=[over_groups(hit, flagged)],
            independent=FRAMES_NOT_INDEPENDENT,
            note=note,
            empty="no polyp frame with an outline is flagged",
        ),
        share_metric(
            "localisation.polyps.hit_rate",
            f"Hit rate per {judged.unit}",
            f"{judged.unit.capitalize()}s with at least one flagged frame on which the centre of "
            "the best ball lies inside the outline of that very polyp, among all with outlines.",
            numerator=sum(bool(row[-1]) for row in rows),
            denominator=len(rows),
            independent=f"treats {judged.unit}s as independent, which those of one patient need "
            "not be",
            note=of_polyps,
            empty="no outline belongs to a named polyp",
        ),
    )


def hit_table(judged: Judged, pointed: Pointed, *, threshold: float) -> Table:
    """Return, for each polyp, on how many of its frames the detector points at it."""
    return Table(
        "localisation",
        f"Where the detector points, by {judged.unit}",
        (
            Column("polyp", judged.unit.capitalize()),
            Column("frames", "Frames with outline", "count"),
            Column("hit", "Hit", "count"),
            Column("flagged", "Flagged", "count"),
            Column("flagged_hit", "Flagged and hit", "count"),
            Column("found", "Pointed at", "flag"),
        ),
        _by_polyp(judged, pointed, threshold),
        "A frame is hit where the centre of its best ball lies inside the outline of this very "
        "polyp; a polyp is pointed at where that is so on a flagged frame.",
    )


def _by_polyp(
    judged: Judged, pointed: Pointed, threshold: float
) -> tuple[tuple[str, int, int, int, int, bool], ...]:
    names = list(dict.fromkeys(name for name in pointed.polyp if name is not None))
    codes = {name: code for code, name in enumerate(names)}
    polyp = np.array([-1 if name is None else codes[name] for name in pointed.polyp], np.int64)
    flagged = flagged_at(judged.score[pointed.frame], threshold)
    # A polyp may have two outlines on one frame, one on each side of a fold: it is one frame.
    pairs, first = np.unique(np.stack([polyp, pointed.frame]), axis=1, return_inverse=True)
    hit = np.zeros(pairs.shape[1], bool)
    np.logical_or.at(hit, first.ravel(), pointed.hit)
    seen = np.zeros(pairs.shape[1], bool)
    seen[first.ravel()] = flagged
    rows = []
    for code, name in enumerate(names):
        own = pairs[0] == code
        both = int((hit & seen & own).sum())
        counts = (int(own.sum()), int((hit & own).sum()), int((seen & own).sum()), both)
        rows.append((name, *counts, both > 0))
    return tuple(rows)
