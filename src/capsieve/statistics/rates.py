"""Rates at an operating point: counts per group, and metrics with their intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.bootstrap import (
    FEWEST_GROUPS,
    ROUNDS,
    SEED,
    few_units,
    plural,
    ratio_interval,
)
from capsieve.statistics.flags import normal_frames, polyp_frames, unscored_note
from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, share_metric
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, Judged
from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.polyps import polyp_metrics
from capsieve.statistics.reading_units import mean_interval, reading_units
from capsieve.statistics.subsets import named

__all__ = ["GroupCounts", "frame_metrics", "group_counts", "rate_metrics"]

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """Frames of every group that has any, by what they show and whether they are flagged.

    Attributes
    ----------
    group
        Codes of the groups.
    polyp, flagged_polyp
        Polyp frames, scored or not.
    normal, flagged_normal
        Normal frames that were scored.
    other, flagged_other
        Frames with another finding that were scored.
    frames, flagged
        All frames, labelled or not, and those that are flagged.
    """

    group: Counts
    polyp: Counts
    flagged_polyp: Counts
    normal: Counts
    flagged_normal: Counts
    other: Counts
    flagged_other: Counts
    frames: Counts
    flagged: Counts


def group_counts(judged: Judged, flagged: NDArray[np.bool_]) -> GroupCounts:
    """Count the frames of every group.

    Parameters
    ----------
    judged
        The frames of a subset.
    flagged
        Which of them are flagged.
    """
    groups, code = np.unique(judged.group, return_inverse=True)

    def count(mask: NDArray[np.bool_]) -> Counts:
        return np.bincount(code[mask], minlength=len(groups))

    polyp, normal = polyp_frames(judged), normal_frames(judged)
    other = (judged.truth == OTHER) & ~np.isnan(judged.score)
    return GroupCounts(
        group=groups.astype(np.int64),
        polyp=count(polyp),
        flagged_polyp=count(polyp & flagged),
        normal=count(normal),
        flagged_normal=count(normal & flagged),
        other=count(other),
        flagged_other=count(other & flagged),
        frames=np.bincount(code, minlength=len(groups)),
        flagged=count(flagged),
    )


def rate_metrics(
    judged: Judged,
    flagged: NDArray[np.bool_],
    *,
    subset: str = "all",
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[Metric, ...]:
    """Return all rates of a subset, per frame and per polyp.

    Parameters
    ----------
    judged
        The frames of the subset.
    flagged
        Which of them are flagged, for instance by
        :func:`~capsieve.statistics.flags.flagged_at`.
    subset
        Its name, which is part of the keys: "frames.all.sensitivity", "polyps.test.sensitivity".
    rounds, seed
        Of the bootstrap.
    """
    return (
        *frame_metrics(judged, flagged, subset=subset, rounds=rounds, seed=seed),
        *polyp_metrics(judged, flagged, subset=subset, rounds=rounds, seed=seed),
    )


def frame_metrics(
    judged: Judged,
    flagged: NDArray[np.bool_],
    *,
    subset: str = "all",
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[Metric, ...]:
    """Return the rates per frame of a subset; see :func:`rate_metrics`."""
    counts = group_counts(judged, flagged)
    kind = judged.group_kind

    def over_groups(above: Counts, below: Counts) -> Interval:
        return ratio_interval(above, below, kind=kind, rounds=rounds, seed=seed)

    def share(
        key: str,
        name: str,
        definition: str,
        above: Counts,
        below: Counts,
        *,
        empty: str,
        note: str = "",
        more: tuple[Interval, ...] = (),
        interval: Interval | None = None,
    ) -> Metric:
        return share_metric(
            f"frames.{subset}.{key}",
            named(name, subset),
            definition,
            numerator=int(above.sum()),
            denominator=int(below.sum()),
            resampled=(interval or over_groups(above, below), *more),
            independent=FRAMES_NOT_INDEPENDENT,
            note=note,
            empty=empty,
        )

    units = reading_units(judged)

    def per_exam(key: str, name: str, what: str, counted: NDArray[np.bool_]) -> Metric:
        definition = f"The mean number of {what}, per exam, where {units.meaning}."
        total = int(np.count_nonzero(counted))
        if not len(units):
            value, intervals, note = None, (), "No value: there is no exam."
        else:
            value, note = total / len(units), ""
            intervals = (mean_interval(judged, units, counted, rounds=rounds, seed=seed),)
        return Metric(
            f"frames.{subset}.{key}",
            named(name, subset),
            value,
            definition,
            "frames",
            total,
            len(units),
            intervals,
            note,
        )

    return (
        share(
            "sensitivity",
            "Sensitivity per frame",
            "The share of polyp frames that are flagged.",
            counts.flagged_polyp,
            counts.polyp,
            empty="there are no polyp frames",
            note=unscored_note(judged, truth=POLYP),
            more=_over_polyps(judged, flagged, rounds=rounds, seed=seed),
        ),
        share(
            "specificity",
            "Specificity",
            "The share of normal frames that are not flagged.",
            counts.normal - counts.flagged_normal,
            counts.normal,
            empty="there are no normal frames that were scored",
            note=unscored_note(judged, truth=NORMAL),
        ),
        share(
            "positive_predictive_value",
            "Positive predictive value per frame",
            "The share of polyp frames among the flagged polyp and normal frames.",
            counts.flagged_polyp,
            counts.flagged_polyp + counts.flagged_normal,
            interval=_few_polyps(counts, kind),
            empty="no polyp or normal frame is flagged",
            note="It holds for the share of polyp frames in these data, which labelled data sets "
            "often choose at will.",
        ),
        per_exam(
            "flagged_per_exam",
            "Flagged frames per exam",
            "flagged frames, whatever they show",
            flagged,
        ),
        per_exam(
            "false_positives_per_exam",
            "False positives per exam",
            "flagged normal frames",
            flagged & normal_frames(judged),
        ),
    )


def _few_polyps(counts: GroupCounts, kind: str) -> Interval | None:
    """Return why a share of polyp frames has no interval where few groups have any, or None.

    With the only group with polyps left out of a round the share is 0, whatever the sieve is worth.
    """
    units = int(np.count_nonzero(counts.polyp))
    if units >= FEWEST_GROUPS:
        return None
    return Interval(f"bootstrap over {plural(kind)}", None, None, few_units(units, kind), units)


def _over_polyps(
    judged: Judged, flagged: NDArray[np.bool_], *, rounds: int, seed: int
) -> tuple[Interval, ...]:
    """Return the interval of the sensitivity per frame when polyps are drawn with their frames.

    Frames without a polyp's name cannot be drawn so: with any of them there is no such interval.
    """
    polyp = polyp_frames(judged)
    codes = judged.polyp[polyp]
    if not len(codes) or (codes < 0).any():
        return ()
    every = np.bincount(codes)
    hits = np.bincount(codes[flagged[polyp]], minlength=len(every))
    present = every > 0
    return (
        ratio_interval(
            hits[present],
            every[present],
            kind=judged.unit,
            rounds=rounds,
            seed=seed,
            caution=f"treats {judged.unit}s of one {judged.group_kind} as independent",
        ),
    )
