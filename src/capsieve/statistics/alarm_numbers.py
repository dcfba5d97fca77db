"""Alarms at an operating point: the numbers, and the table by exam."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.alarm_sets import KINDS, AlarmSet, alarms_at
from capsieve.statistics.alarms import WITHIN_S
from capsieve.statistics.bootstrap import ROUNDS, SEED, ratio_interval
from capsieve.statistics.flagged_runs import GAP_S, SLACK_S, check_seconds
from capsieve.statistics.flags import number_of
from capsieve.statistics.intervals import share_metric
from capsieve.statistics.judged import Judged
from capsieve.statistics.metric import Metric
from capsieve.statistics.reading_units import drawn_units
from capsieve.statistics.table import Column, Table

__all__ = ["alarm_metrics", "alarm_table"]

_UNKNOWN = "the times of the frames are not known, and running numbers are not time"
_HEADS = "alarms of two heads count apart, for a reader looks at both"
_MEANS = {
    "true": "Alarms with at least one frame that is labelled polyp",
    "false": "Alarms without a polyp frame and with at least one frame that is labelled normal",
    "other": "Alarms with frames of other findings and none that is labelled polyp or normal",
    "unlabelled": "Alarms without a single labelled frame",
}
_NAMES = {
    "true": "True alarms",
    "false": "False alarms",
    "other": "Alarms at other findings",
    "unlabelled": "Alarms without labels",
}
_ORDER = ("false", "true", "other", "unlabelled")


@dataclass(frozen=True, slots=True)
class _Rule:
    """How alarms are counted, in numbers and words."""

    within: float
    alarm: str
    note: str
    rounds: int
    seed: int


def alarm_metrics(
    judged: Judged,
    *,
    threshold: float,
    within: float = WITHIN_S,
    gap: float = GAP_S,
    shortest: float = 0.0,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[Metric, ...]:
    """Return the numbers of a threshold; see :func:`~capsieve.statistics.alarms.alarm_curve`.

    Where no times are known every value is None, and the note says why. The bootstrap draws whole
    groups; whole exams where a group is only a part of one.
    """
    check_seconds(within=within)
    alarms = alarms_at(judged, threshold=threshold, gap=gap, shortest=shortest)
    alarm = f"an alarm is a run of flagged frames of one head with pauses of at most {gap:g} s"
    if shortest > 0:
        alarm += f", at least {shortest:g} s long"
    note = f"No value: {_UNKNOWN}." if alarms is None else _left_out(alarms)
    rule = _Rule(within, alarm, note, rounds, seed)
    return (*_alarm_numbers(judged, alarms, rule), *_polyp_numbers(judged, alarms, rule))


def _alarm_numbers(judged: Judged, alarms: AlarmSet | None, rule: _Rule) -> list[Metric]:
    drawn, kind = np.empty(0, np.intp), "exam"
    if alarms is not None:
        place = np.full(len(judged.exams), -1)
        place[alarms.exams] = np.arange(len(alarms.exams))
        drawn, kind = drawn_units(judged, place[judged.exam], len(alarms.exams), word="exam")
    counts = np.zeros((len(KINDS), 0)) if alarms is None else _by_exam(alarms)
    hours = np.empty(0) if alarms is None else alarms.hours
    ones = np.ones(len(hours))
    count = number_of(len(hours), "exam")

    def mean(
        key: str, name: str, definition: str, above: NDArray[Any], below: NDArray[Any]
    ) -> Metric:
        some = below.sum() > 0
        sums = np.bincount(drawn, above), np.bincount(drawn, below)
        interval = ratio_interval(*sums, kind=kind, rounds=rule.rounds, seed=rule.seed)
        return Metric(
            f"alarms.{key}",
            name,
            float(above.sum() / below.sum()) if some else None,
            f"{definition}; {rule.alarm}; {_HEADS}.",
            "events",
            intervals=(interval,) if some else (),
            note=rule.note,
        )

    return [
        *(
            mean(
                f"{kind}_per_exam",
                f"{_NAMES[kind]} per exam",
                f"{_MEANS[kind]}, the mean over {count}",
                counts[KINDS.index(kind)],
                ones,
            )
            for kind in _ORDER
        ),
        mean(
            "false_per_hour",
            "False alarms per hour of video",
            f"{_MEANS['false']}, over the hours from each exam's first to its last frame",
            counts[KINDS.index("false")],
            hours,
        ),
    ]


def _polyp_numbers(judged: Judged, alarms: AlarmSet | None, rule: _Rule) -> list[Metric]:
    unit, within = judged.unit, rule.within
    delay = np.empty(0) if alarms is None else alarms.delay
    group = np.empty(0, np.intp) if alarms is None else alarms.polyp_group
    in_time, ever = delay <= within + SLACK_S, np.isfinite(delay)
    first = "the first frame that is labelled with it in any head"

    def share(key: str, name: str, definition: str, found: NDArray[np.bool_]) -> Metric:
        every = np.bincount(group)
        hits = np.bincount(group[found], minlength=len(every))
        kind = judged.group_kind
        return share_metric(
            f"alarms.{key}",
            name,
            f"{definition}; {rule.alarm}.",
            numerator=int(found.sum()),
            denominator=len(delay),
            resampled=[ratio_interval(hits, every, kind=kind, rounds=rule.rounds, seed=rule.seed)],
            independent=f"treats {unit}s as independent, which {unit}s of one patient need not be",
            note="" if alarms is None else rule.note,
            empty=_UNKNOWN if alarms is None else f"there are no named {unit}s",
        )

    return [
        share(
            "polyps_in_time",
            f"{unit.capitalize()}s found in time",
            f"{unit.capitalize()}s of which a frame lies in an alarm at most {within:g} s after "
            f"{first}",
            in_time,
        ),
        share(
            "polyps_ever",
            f"{unit.capitalize()}s found at any time",
            f"{unit.capitalize()}s of which a frame lies in an alarm, however late",
            ever,
        ),
        Metric(
            "alarms.delay",
            "Mean delay",
            float(delay[in_time].mean()) if in_time.any() else None,
            f"Seconds from {first} to its first frame in an alarm: the mean over the "
            f"{number_of(int(in_time.sum()), unit)} found within {within:g} s; {rule.alarm}.",
            "seconds",
            note=rule.note or ("" if in_time.any() else f"No value: no {unit} is found in time."),
        ),
    ]


def alarm_table(
    judged: Judged, *, threshold: float, gap: float = GAP_S, shortest: float = 0.0
) -> Table | None:
    """Return the alarms of each exam; None where no times are known."""
    alarms = alarms_at(judged, threshold=threshold, gap=gap, shortest=shortest)
    if alarms is None:
        return None
    counts = _by_exam(alarms)
    rows = [
        _row(judged.exams[exam], float(alarms.hours[place]), counts[:, place])
        for place, exam in enumerate(alarms.exams)
    ]
    left_out = _left_out(alarms)
    return Table(
        "alarms",
        "Alarms by exam",
        (
            Column("exam", "Exam"),
            Column("minutes", "Minutes of video", "number", 1),
            Column("true", "True", "count"),
            Column("false", "False", "count"),
            Column("other", "Other findings", "count"),
            Column("unlabelled", "Unlabelled", "count"),
            Column("false_per_hour", "False per hour", "number", 1),
        ),
        tuple(rows),
        f"Runs of flagged frames of one head with pauses of at most {gap:g} s; {_HEADS}."
        + (f" {left_out}" if left_out else ""),
        total=_row("Total", float(alarms.hours.sum()), counts.sum(axis=1)),
    )


def _row(
    name: str, hours: float, counts: NDArray[np.int64]
) -> tuple[str | int | float | None, ...]:
    kinds = (int(counts[KINDS.index(kind)]) for kind in ("true", "false", "other", "unlabelled"))
    false = int(counts[KINDS.index("false")])
    return name, 60.0 * hours, *kinds, false / hours if hours > 0 else None


def _by_exam(alarms: AlarmSet) -> NDArray[np.int64]:
    """Count alarms: kinds x exams."""
    place = np.searchsorted(alarms.exams, alarms.exam)
    code = alarms.kind.astype(np.int64) * len(alarms.exams) + place
    counts = np.bincount(code, minlength=len(KINDS) * len(alarms.exams))
    return counts.reshape(len(KINDS), len(alarms.exams))


def _left_out(alarms: AlarmSet) -> str:
    if not alarms.left_out:
        return ""
    some = ", ".join(alarms.left_out[:3]) + ", ..." * (len(alarms.left_out) > 3)
    return f"{number_of(len(alarms.left_out), 'exam')} without known times left out: {some}."
