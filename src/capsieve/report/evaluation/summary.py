"""The answer first: how good, how sure, how much reading is saved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from capsieve.report.evaluation.cells import (
    counts_text,
    decimals,
    interval_text,
    rate_text,
    value_text,
)
from capsieve.report.evaluation.finding import area_of, metric_named
from capsieve.report.evaluation.operating import place_of, point_words, threshold_name
from capsieve.report.formats import plain
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.evaluation import Evaluation
from capsieve.statistics.metric import Interval, Metric

__all__ = ["Tile", "headline_tiles", "summary_sentences"]

_COMPARED = (
    "difference.polyps.sensitivity",
    "difference.frames.sensitivity",
    "difference.frames.specificity",
)


@dataclass(frozen=True, slots=True)
class Tile:
    """A number in large letters: what it is, its value, and what stands below."""

    name: str
    value: str
    below: str


def headline_tiles(evaluation: Evaluation) -> list[Tile]:
    """Return the few numbers that a hurried reader takes away."""
    # Where a part chose the threshold, the figures to take away are those of the other one.
    chosen = bool(evaluation.points) and evaluation.points[0].key == "chosen"
    part = "test" if chosen and metric_named(evaluation, "frames.test.specificity") else "all"
    found = [
        metric_named(evaluation, f"polyps.{part}.sensitivity"),
        metric_named(evaluation, f"frames.{part}.sensitivity"),
        metric_named(evaluation, f"frames.{part}.specificity"),
        area_of(evaluation, "frame"),
        metric_named(evaluation, "effort.frames_per_exam"),
    ]
    return [
        Tile(_plain_name(metric), value_text(metric), _below(metric, part))
        for metric in found
        if metric is not None and metric.value is not None
    ]


def _plain_name(metric: Metric) -> str:
    return metric.name.partition(" (")[0]


def _below(metric: Metric, part: str) -> str:
    words = counts_text(metric) or _bounds_words(metric)
    return f"{words}, test part" if part == "test" and ".test." in metric.key else words


def summary_sentences(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return question and answer, in plain words with numbers and intervals."""
    answers = [
        ("How good is it?", _how_good(evaluation)),
        ("How sure is that?", _how_sure(evaluation)),
        ("How much reading does it save?", _reading(evaluation)),
        ("How do the two compare?", _compared(evaluation)),
    ]
    return [(question, answer) for question, answer in answers if answer]


def _how_good(evaluation: Evaluation) -> str:
    polyps = _counted(evaluation, "polyps.all.sensitivity", f"{evaluation.unit}s")
    frames = _counted(evaluation, "frames.all.sensitivity", "polyp frames")
    normal = _counted(evaluation, "frames.all.specificity", "normal frames")
    found = " and ".join(words for words in (polyps, frames) if words)
    parts = []
    if found:
        parts.append(f"finds {found}")
    if normal:
        parts.append(f"rightly passes over {normal}")
    if not parts:
        return "Nothing can be said: there are no labelled frames of either class."
    text = f"{_at(evaluation)} the sieve {', and '.join(parts)}."
    if evaluation.points and evaluation.points[0].optimistic:
        text += " The threshold was fitted to these very frames: expect less on others."
    test, folds = (_found_and_passed(evaluation, part) for part in ("test", "cross-fitted"))
    if test:
        alone = " On the test part alone"
        if evaluation.points[:1] and evaluation.points[0].key == "chosen":
            alone = (
                " This counts the training part as well. On the test part alone, which had no say "
                "in the threshold,"
            )
        text += f"{alone} it {test}."
    if folds:
        text += f" In folds, each with the threshold that the others chose, it {folds}."
    return text


def _found_and_passed(evaluation: Evaluation, part: str) -> str:
    """What is found and passed over in a part; frames stand in for polyps that have no name."""
    found = _counted(evaluation, f"polyps.{part}.sensitivity", f"{evaluation.unit}s") or _counted(
        evaluation, f"frames.{part}.sensitivity", "polyp frames"
    )
    passed = _counted(evaluation, f"frames.{part}.specificity", "normal frames")
    return f"finds {found} and passes over {passed}" if found and passed else ""


def _at(evaluation: Evaluation) -> str:
    if not evaluation.points:
        return "As screened,"
    point = evaluation.points[0]
    return f"At {threshold_name(evaluation, point)} ({point_words(point)})"


def _counted(evaluation: Evaluation, key: str, noun: str) -> str:
    metric = metric_named(evaluation, key)
    if metric is None or metric.value is None:
        return ""
    counts = counts_text(metric)
    value = value_text(metric)
    return f"{counts} {noun} ({value})" if counts else f"{value} of the {noun}"


def _how_sure(evaluation: Evaluation) -> str:
    chosen = [
        metric
        for key in ("polyps.all.sensitivity", "frames.all.sensitivity", "frames.all.specificity")
        if (metric := metric_named(evaluation, key)) is not None and metric.intervals
    ]
    sure = [metric for metric in chosen if metric.intervals[0].low is not None]
    unsure = [metric for metric in chosen if metric.intervals[0].low is None]
    text = ""
    if sure:
        parts = [_bounded(metric, metric.intervals[0]) for metric in sure]
        text += f"With 95 % confidence{_if_independent(evaluation)}, {_listed(parts)}. "
        cautions = dict.fromkeys(
            why for metric in sure for why in metric.intervals[0].why.split("; ")
        )
        text += "".join(f"Mind: {plain(why)}. " for why in cautions if why)
    if unsure:
        groups = plain(plural(evaluation.judged.group_kind))
        reasons = dict.fromkeys(metric.intervals[0].why for metric in unsure)
        text += f"An interval over {groups} cannot be given, for there are "
        text += f"{plain('; '.join(reasons)).replace(': ', ', ')}. "
        rest = [
            _bounded(metric, interval)
            for metric in unsure
            if (interval := next((i for i in metric.intervals if i.low is not None), None))
        ]
        if rest:
            text += f"Without regard to {groups}, and so narrower than the truth: {_listed(rest)}. "
    return text.strip()


def _if_independent(evaluation: Evaluation) -> str:
    """Blocks may be of one patient; what is drawn over them holds only if they are not."""
    return " (if blocks were independent)" if "block" in evaluation.judged.group_kind else ""


def _bounded(metric: Metric, interval: Interval) -> str:
    bounds = interval_text(interval, metric.unit)
    name = f"{metric.name[:1].lower()}{metric.name[1:]}"
    units = "" if interval.units is None else f", n = {interval.units:,}"
    return f"{name} {bounds} ({plain(interval.method)}{units})"


def _reading(evaluation: Evaluation) -> str:
    curve = evaluation.effort
    if curve is None or not curve.exams or not evaluation.points:
        return ""
    place = place_of(curve.thresholds, evaluation.points[0].threshold)
    if place < 0:
        return ""
    frames, minutes = float(curve.frames[place]), float(curve.minutes[place])
    whole = curve.all_frames / curve.frames_per_second / 60
    text = (
        f"A reader looks at {_round(frames)} of {_round(curve.all_frames)} frames per exam "
        f"({rate_text(frames / curve.all_frames, 0) if curve.all_frames else 'none'}): "
        f"{_time(minutes, whole)} at "
        f"{curve.frames_per_second:g} frames per second."
    )
    text += _in_vain(evaluation)
    other = curve.polyps_found[place]
    if curve.polyps and other < 1:
        missed = round((1 - other) * curve.polyps)
        text += f" The price is {missed} of {curve.polyps} {curve.unit}s that are not shown at all."
    return text


def _in_vain(evaluation: Evaluation) -> str:
    """The paper's measure of the burden, whole frames only as the paper prints them."""
    found = [
        metric_named(evaluation, f"effort.{name}_frames_per_exam") for name in ("false", "normal")
    ]
    values = [metric.value for metric in found if metric is not None and metric.value is not None]
    if len(values) < len(found) or not values[1]:
        return ""
    false, normal = (f"{math.floor(value):,}" for value in values)
    return f" Looked at in vain: {false} of {normal} normal frames per exam (fractions cut off)."


def _time(minutes: float, whole: float) -> str:
    if whole < 1:
        return f"{_round(60 * minutes)} instead of {_round(60 * whole)} seconds"
    return f"{_round(minutes)} instead of {_round(whole)} minutes"


def _compared(evaluation: Evaluation) -> str:
    both = evaluation.comparison
    if both is None:
        return ""
    parts = []
    for metric in both.metrics:
        if metric.value is None or metric.key not in _COMPARED:
            continue
        bounds = _bounds_words(metric)
        name = f"{metric.name[:1].lower()}{metric.name[1:]}"
        words = f"{name} {value_text(metric, signed=True)}" + (f", {bounds}" if bounds else "")
        parts.append(f"{words} ({plain(metric.note).rstrip('.')})" if metric.note else words)
    if not parts:
        return "Nothing can be said: no labelled frame was scored by both."
    first, second = plain(both.name), plain(both.other)
    return f"{first} minus {second}, on the frames that both scored: {'; '.join(parts)}."


def _round(value: float) -> str:
    return decimals(value, digits=0 if value >= 20 else 1)


def _bounds_words(metric: Metric) -> str:
    interval = metric.intervals[0] if metric.intervals else None
    if interval is None or interval.low is None:
        return ""
    return f"{interval_text(interval, metric.unit)} (95 %)"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
