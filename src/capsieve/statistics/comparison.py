"""Two detectors or settings on the same frames: paired differences, and who changed sides."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.bootstrap import resampled_interval, resampled_ratio
from capsieve.statistics.delong import clustered
from capsieve.statistics.evaluation import Comparison
from capsieve.statistics.flags import (
    flagged_at,
    normal_frames,
    number_of,
    polyp_frames,
    positive_scores,
)
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, Judged
from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.roc_numbers import RocNumbers, frame_roc, polyp_roc
from capsieve.statistics.settings import Settings
from capsieve.statistics.table import Column, Table

__all__ = ["compare", "same_frames"]

_WORDS = {POLYP: "polyp", NORMAL: "normal", OTHER: "other"}


class _Share(NamedTuple):
    """A share that both have, counted per group."""

    key: str
    name: str
    definition: str
    hits: tuple[NDArray[np.int64], NDArray[np.int64]]
    every: NDArray[np.int64]
    changed: tuple[int, int]  # gained and lost by the first, in frames or polyps


def same_frames(judged: Judged, other: Judged) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places in both of the labelled frames that both have scored, in one order.

    Frames are the same where exam, head and number are.

    Raises
    ------
    FileError
        They have no frame in common.
    """
    heads = np.concatenate([judged.head, other.head])
    frames = np.concatenate([judged.frame, other.frame])
    spans = int(heads.max(initial=0)) + 1, int(frames.max(initial=0)) + 1
    mine, theirs = (_keys(each, judged.exams, spans) for each in (judged, other))
    order = np.argsort(theirs, kind="stable")
    first = np.flatnonzero(np.isin(mine, theirs))
    second = order[np.searchsorted(theirs[order], mine[first])]
    both = judged.truth[first] >= 0
    both &= ~np.isnan(judged.score[first]) & ~np.isnan(other.score[second])
    if not both.any():
        raise FileError(
            "the two results have no labelled frame in common; screen the same exams with both"
        )
    return first[both], second[both]


def compare(
    judged: Judged,
    other: Judged,
    *,
    names: tuple[str, str],
    thresholds: tuple[float, float],
    settings: Settings,
    left_out: int = 0,
) -> Comparison:
    """Compare two results on the frames that both scored.

    Parameters
    ----------
    judged, other
        The frames of :func:`same_frames`, with the scores of each.
    names
        Of both, for people.
    thresholds
        The operating point of each.
    settings
        Target specificity, rounds and seed. Both are drawn alike, round by round: so a patient
        who is hard for both does not widen the difference.
    left_out
        How many labelled frames of the first are not compared; the table says so.
    """
    flags = tuple(
        flagged_at(each.score, at) for each, at in zip((judged, other), thresholds, strict=True)
    )
    rocs = frame_roc(judged, settings), frame_roc(other, settings)
    polyp_rocs = polyp_roc(judged, settings), polyp_roc(other, settings)
    values: list[tuple[Metric, float | None, float | None]] = []
    for share in _shares(judged, flags[0], flags[1]):
        values.append(_share_difference(share, judged, settings))
    values.append(_area_difference(judged, other, rocs))
    values += _curve_differences(rocs, "frames", "frame", settings)
    values += _curve_differences(polyp_rocs, "polyps", judged.unit, settings)
    return Comparison(
        name=names[0],
        other=names[1],
        metrics=tuple(metric for metric, _, _ in values),
        values=_values_table(values, names, thresholds, (len(judged), left_out)),
        changed=_changed_table(judged, other, flags, names),
        roc=rocs[0].curve,
        other_roc=rocs[1].curve,
    )


def _shares(
    judged: Judged, mine: NDArray[np.bool_], theirs: NDArray[np.bool_]
) -> tuple[_Share, ...]:
    groups, group = np.unique(judged.group, return_inverse=True)

    def counted(of: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(of[mask], minlength=len(groups))

    def share(
        key: str,
        name: str,
        definition: str,
        among: NDArray[np.bool_],
        one: NDArray[np.bool_],
        two: NDArray[np.bool_],
        of: NDArray[np.int64] = group,
    ) -> _Share:
        gained = int(np.count_nonzero(among & one & ~two))
        lost = int(np.count_nonzero(among & two & ~one))
        hits = counted(of, among & one), counted(of, among & two)
        return _Share(key, name, definition, hits, counted(of, among), (gained, lost))

    polyp, normal = polyp_frames(judged), normal_frames(judged)
    named = polyp & (judged.polyp >= 0)
    codes, first, inverse = np.unique(judged.polyp[named], return_index=True, return_inverse=True)
    found = [np.bincount(inverse, flag[named], minlength=len(codes)) > 0 for flag in (mine, theirs)]
    unit = judged.unit
    return (
        share(
            "difference.frames.sensitivity",
            "Sensitivity per frame",
            "The difference of the shares of polyp frames that are flagged.",
            polyp,
            mine,
            theirs,
        ),
        share(
            "difference.frames.specificity",
            "Specificity",
            "The difference of the shares of normal frames that are not flagged.",
            normal,
            ~mine,
            ~theirs,
        ),
        share(
            "difference.polyps.sensitivity",
            f"Sensitivity per {unit}",
            f"The difference of the shares of {unit}s of which a frame is flagged.",
            np.ones(len(codes), np.bool_),
            found[0],
            found[1],
            group[named][first],
        ),
    )


def _share_difference(
    share: _Share, judged: Judged, settings: Settings
) -> tuple[Metric, float | None, float | None]:
    total = int(share.every.sum())
    one, two = (int(hits.sum()) / total if total else None for hits in share.hits)
    gained, lost = share.changed
    samples = resampled_ratio(
        share.hits[0] - share.hits[1], share.every, rounds=settings.rounds, seed=settings.seed
    )
    units = int(np.count_nonzero(share.every))
    interval = resampled_interval(samples, kind=judged.group_kind, units=units)
    note = f"{gained:,} gained, {lost:,} lost, of {total:,}." if total else "No value: none."
    metric = Metric(
        share.key,
        f"Difference in {_small(share.name)}",
        None if one is None or two is None else one - two,
        share.definition,
        intervals=(interval,),
        note=note,
    )
    return metric, one, two


def _area_difference(
    judged: Judged, other: Judged, rocs: tuple[RocNumbers, RocNumbers]
) -> tuple[Metric, float | None, float | None]:
    polyp, normal = polyp_frames(judged), normal_frames(judged)
    both = polyp | normal
    pair = clustered(
        positive_scores(judged.score[both]),
        positive_scores(other.score[both]),
        polyp[both],
        judged.group[both],
        kind=judged.group_kind,
    )
    drawn = rocs[0].rounds.interval(rocs[0].rounds.area - rocs[1].rounds.area)
    defined = np.isfinite(pair.difference.value)
    z, p = pair.difference.z, pair.difference.p
    enough = pair.difference.interval().low is not None
    note = f"After Obuchowski z = {z:.2f}, p = {p:.2g}." if enough else ""
    one, two = pair.areas.tolist() if defined else (None, None)
    metric = Metric(
        "difference.frames.auc",
        "Difference in area under the ROC curve per frame",
        pair.difference.value if defined else None,
        "The difference of the areas on the same frames.",
        "area",
        intervals=(drawn, pair.difference.interval()),
        note=note,
    )
    return metric, one, two


def _curve_differences(
    rocs: tuple[RocNumbers, RocNumbers], key: str, unit: str, settings: Settings
) -> list[tuple[Metric, float | None, float | None]]:
    """Partial area, and sensitivity at the target specificity, each at its own threshold."""
    percent = f"{100 * settings.target_specificity:g}"
    one, two = ({metric.key: metric for metric in roc.metrics} for roc in rocs)
    rounds = tuple(roc.rounds for roc in rocs)
    chosen: list[tuple[str, Callable[[int], NDArray[np.float64]]]] = [
        (f"{key}.auc_20", lambda side: rounds[side].partial_area),
        (f"{key}.sensitivity_at_{percent}", lambda side: rounds[side].sensitivity[:, 0]),
    ]
    if unit != "frame":
        chosen.insert(0, (f"{key}.auc", lambda side: rounds[side].area))
    values = []
    for name, samples in chosen:
        mine, theirs = one[name].value, two[name].value
        difference = None if mine is None or theirs is None else mine - theirs
        metric = Metric(
            f"difference.{name}",
            f"Difference in {_small(one[name].name)}",
            difference,
            "The difference of both values on the same frames, each at a threshold of its own.",
            one[name].unit,
            intervals=(rounds[0].interval(samples(0) - samples(1)),),
        )
        values.append((metric, mine, theirs))
    return values


def _values_table(
    values: list[tuple[Metric, float | None, float | None]],
    names: tuple[str, str],
    thresholds: tuple[float, float],
    frames: tuple[int, int],
) -> Table:
    rows = []
    for metric, one, two in values:
        interval = metric.intervals[0] if metric.intervals else Interval("", None, None)
        name = metric.name.removeprefix("Difference in ")
        rows.append(
            (name[:1].upper() + name[1:], one, two, metric.value, interval.low, interval.high)
        )
    few = next((m.intervals[0] for m, _, _ in values if m.intervals), None)
    caption = (
        f"Values of {names[0]} (threshold {thresholds[0]:g}) and {names[1]} (threshold "
        f"{thresholds[1]:g}) on {frames[0]:,} frames that both scored, and their difference with "
        "its 95 % interval by a bootstrap that draws both alike. Areas are in percent of 1."
    )
    if frames[1]:
        caption += (
            f" Left out: {number_of(frames[1], 'labelled frame')} of {names[0]} that not both "
            "scored."
        )
    if few is not None and few.low is None:
        caption += f" No interval: {few.why}."
    return Table(
        key="comparison",
        title="Side by side",
        columns=(
            Column("quantity", "Quantity"),
            Column("first", names[0], "share"),
            Column("second", names[1], "share"),
            Column("difference", "Difference", "share"),
            Column("low", "From", "share"),
            Column("high", "To", "share"),
        ),
        rows=tuple(rows),
        caption=caption,
    )


def _changed_table(
    judged: Judged,
    other: Judged,
    flags: tuple[NDArray[np.bool_], ...],
    names: tuple[str, str],
) -> Table:
    places = np.flatnonzero(flags[0] != flags[1])
    files = judged.file
    rows = tuple(
        (
            judged.exams[judged.exam[i]],
            int(judged.head[i]),
            int(judged.frame[i]),
            None if files is None else files[i],
            _WORDS[int(judged.truth[i])],
            judged.polyps[judged.polyp[i]] if judged.polyp[i] >= 0 else None,
            bool(flags[0][i]),
            bool(flags[1][i]),
            float(judged.score[i]),
            float(other.score[i]),
        )
        for i in places
    )
    counts = ", ".join(
        f"{number_of(int(np.count_nonzero(judged.truth[places] == code)), f'{word} frame')}"
        for code, word in _WORDS.items()
    )
    return Table(
        key="changed-sides",
        title="Frames that changed sides",
        columns=(
            Column("exam", "Exam"),
            Column("head", "Head", "count"),
            Column("frame", "Frame", "count"),
            Column("file", "File"),
            Column("label", "Label"),
            Column("polyp", judged.unit.capitalize()),
            Column("first_flagged", f"Flagged by {names[0]}", "flag"),
            Column("second_flagged", f"Flagged by {names[1]}", "flag"),
            Column("first_score", f"Score, {names[0]}", "number"),
            Column("second_score", f"Score, {names[1]}", "number"),
        ),
        rows=rows,
        caption=f"Frames that only one of them flags: {counts}.",
    )


def _keys(judged: Judged, exams: tuple[str, ...], spans: tuple[int, int]) -> NDArray[np.int64]:
    """Return one number per frame, from its exam (as one of `exams`), head and number."""
    code = {name: place for place, name in enumerate(exams)}
    translated = np.array([code.get(name, -1) for name in judged.exams], np.int64)
    exam = translated[judged.exam]
    keys = (exam * spans[0] + judged.head) * spans[1] + judged.frame
    return np.where(exam >= 0, keys, -1)


def _small(name: str) -> str:
    return name[:1].lower() + name[1:] if not name.startswith("ROC") else name
