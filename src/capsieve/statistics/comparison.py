"""Two detectors on the same frames: paired differences, and the frames that changed sides."""

from dataclasses import replace

import numpy as np

from capsieve.errors import FileError
from capsieve.frame_table import Floats, LabelledFrames, Mask
from capsieve.statistics.delong import AucEstimate, delong
from capsieve.statistics.frames import polyp_scores
from capsieve.statistics.intervals import group_counts, ratio_interval
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import LONG, rate_metrics
from capsieve.statistics.results import Changes, Comparison, Interval, RocCurve, make_metric
from capsieve.statistics.roc import frame_roc, polyp_roc, roc_curve


def compare_detectors(
    frames: LabelledFrames,
    other_score: Floats,
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
        Frames with the scores of the first detector.
    other_score
        Scores of the second detector for the same frames; NaN if it has none.
    flags, names
        Which frames each of them flags, and their names for people.
    options
        Options of the evaluation.

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
    mine, theirs = flags[0][chosen], flags[1][chosen]
    first = frames.take(chosen)
    second = replace(first, score=other_score[chosen], flagged=theirs)
    rocs = [(frame_roc(each, options), polyp_roc(each, options)) for each in (first, second)]
    sides = [
        {
            metric.key: metric
            for metric in (*rate_metrics(each, flagged, options), *frame.metrics, *polyp.metrics)
            if metric.unit != "frames"
        }
        for each, flagged, (frame, polyp) in zip((first, second), (mine, theirs), rocs, strict=True)
    ]
    intervals: dict[str, tuple[Interval, ...]] = {}
    notes: dict[str, str] = {}
    changes: dict[str, Changes] = {}
    polyps = polyp_scores(first)
    detected = polyps.found(mine), polyps.found(theirs)
    for key, mine_right, theirs_right, among, group in (
        ("frames.sensitivity", mine, theirs, first.polyp_frames, None),
        ("frames.specificity", ~mine, ~theirs, first.normal_frames, None),
        ("polyps.sensitivity", *detected, polyps.frames > 0, polyps.group),
        ("polyps.sensitivity_long", *detected, polyps.frames >= LONG, polyps.group),
    ):
        gain, loss = among & mine_right & ~theirs_right, among & theirs_right & ~mine_right
        gained, lost = int(np.count_nonzero(gain)), int(np.count_nonzero(loss))
        changes[key] = Changes(gained, lost, mcnemar(gained, lost))
        notes[key] = f"{gained:,} gained, {lost:,} lost."
        net = group_counts(first, gain, group) - group_counts(first, loss, group)
        every = group_counts(first, among, group)
        intervals[key] = (ratio_interval(net, every, kind=first.group_kind, options=options),)
    for my_roc, their_roc in zip(*rocs, strict=True):
        for key in (metric.key for metric in my_roc.metrics):
            name = key.partition(".")[2]
            samples = getattr(my_roc.samples, name) - getattr(their_roc.samples, name)
            intervals[key] = (my_roc.samples.interval(samples),)
    area = _area_difference(first, second)
    intervals["frames.auc"] += (area.interval(),)
    if area.interval().low is not None:
        notes["frames.auc"] = f"After Obuchowski: z = {area.z:.2f}, p = {area.p:.2g}."
    differences = [
        make_metric(my.key, None, first, options, note=my.note or their.note)
        if my.value is None or their.value is None
        else make_metric(
            my.key,
            my.value - their.value,
            first,
            options,
            intervals=intervals[my.key],
            note=notes.get(my.key, ""),
        )
        for my, their in zip(sides[0].values(), sides[1].values(), strict=True)
    ]
    return Comparison(
        names=names,
        first=tuple(sides[0].values()),
        second=tuple(sides[1].values()),
        differences=tuple(differences),
        changes=changes,
        rocs=(_curve(first), _curve(second)),
        frames=first,
        second_score=second.score,
        flags=(mine, theirs),
        left_out=int(np.count_nonzero(frames.labelled & ~chosen)),
    )


def mcnemar(gained: int, lost: int) -> float:
    """Return the p value of McNemar's exact test that gains and losses are equally likely."""
    from scipy.special import bdtr  # here, because the import is slow

    return min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5)))


def _area_difference(first: LabelledFrames, second: LabelledFrames) -> AucEstimate:
    polyp = first.polyp_frames
    both = polyp | first.normal_frames
    group, kind = first.group.code[both], first.group_kind
    scores = first.score[both], second.score[both]
    return delong(*scores, polyp[both], group, kind=kind).difference


def _curve(frames: LabelledFrames) -> RocCurve:
    return roc_curve(frames.score[frames.polyp_frames], frames.score[frames.normal_frames])
