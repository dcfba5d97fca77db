"""Decisions as CSV: every entry, and the labels that ``capsieve evaluate`` and ``train`` read.

Only decisions become labels. An accepted event makes its flagged frames polyps, a rejected one
makes them normal; a frame's own decision beats that of its event; the frames of a finding are
polyps. Unsure and undecided events have no label.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from capsieve.decisions.exam import Event
from capsieve.decisions.model import Decision, Entry, Finding, canonical, parse_place, said
from capsieve.decisions.reading import Reading, displaced, in_order, undone_actions

_DECISION_COLUMNS = (
    *("number", "action", "time", "exam", "revision", "reader", "role", "screening"),
    *("kind", "subject"),
    "stands",  # no: it was undone, or cannot be read
    "content",  # JSON
    "key",
    "problem",  # why it cannot be read
)
_LABEL_COLUMNS = ("exam", "head", "frame", "label", "polyp", "reader")

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def decisions_csv(entries: Iterable[Entry]) -> str:
    """Return all entries in order, and whether each counts.

    The caller selects those that the reader may see: :func:`~capsieve.decisions.workflow.visible`.
    """
    log = in_order(entries)
    undone = undone_actions(log)
    return _csv(
        _DECISION_COLUMNS,
        (
            (
                *(each.number, each.action, each.time, each.exam, each.revision),
                *(each.reader, each.role, each.screening, each.kind, each.subject),
                each.content is not None and each.action not in undone,
                each.stored if each.content is None else canonical(each.content),
                *(each.key, each.problem),
            )
            for each in log
        ),
    )


Place = tuple[int, int]
"""Head and frame."""


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a frame, "polyp" or "normal", the findings that it shows, and the reader."""

    label: str
    polyps: tuple[str, ...]
    reader: str


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of an exam by head and frame; problems are decisions that give no label."""

    exam: str
    frames: Mapping[Place, Label] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def reading_labels(reading: Reading, *, exam: str, events: Iterable[Event]) -> Labels:
    """Return the labels that a reading gives, with all events of its exam."""
    events = list(events)
    known = {each.subject for each in reading.findings}
    frames: dict[Place, Label] = {}
    for event in events:
        entry = reading.decisions.get(event.subject)
        for frame in event.frames if entry is not None else ():
            _label(frames, (event.head, frame), entry, known)
    contrary: set[Place] = set()
    for subject, entry in reading.decisions.items():
        kind, *place = parse_place(subject) or ("",)
        if kind == "frame":  # its own decision: not the polyp of its event
            contrary.add((place[0], place[1]))
            frames.pop((place[0], place[1]), None)
            _label(frames, (place[0], place[1]), entry, known)
    problems = _add_findings(frames, reading, contrary)
    problems += [
        f"{each.subject} is not an event of this exam: the decision on it gives no labels"
        for each in displaced(reading, events)
    ]
    return Labels(exam, dict(sorted(frames.items())), tuple(problems))


def _label(frames: dict[Place, Label], place: Place, entry: Entry | None, known: set[str]) -> None:
    if entry is None:
        return
    decision = said(entry, Decision)
    if decision.decision == "accept":
        named = decision.finding if decision.finding in known else None
        polyps = () if named is None else (named.partition(":")[2],)
        frames[place] = Label("polyp", polyps, entry.reader)
    elif decision.decision == "reject":
        frames[place] = Label("normal", (), entry.reader)


def _add_findings(frames: dict[Place, Label], reading: Reading, contrary: set[Place]) -> list[str]:
    """Label the frames of findings; a frame with a contradictory decision has no label."""
    found: dict[Place, list[Entry]] = {}
    for entry in reading.findings:
        for span in said(entry, Finding).spans:
            for frame in range(span.first, span.last + 1):
                found.setdefault((span.head, frame), []).append(entry)
    for place, entries in found.items():
        polyps = tuple(sorted({said(each, Finding).id for each in entries}))
        frames[place] = Label("polyp", polyps, entries[0].reader)
    both = sorted(contrary & found.keys())
    for place in both:
        frames.pop(place)
    return [
        f"a finding is seen on frame {frame} of head {head}, and the decision on that frame "
        "differs: it has no label"
        for head, frame in both
    ]


def agreed_labels(a: Labels, b: Labels) -> Labels:
    """Return the labels that two blind readings have in common.

    If both call a frame a polyp, the first reading names the polyps.
    """
    frames: dict[Place, Label] = {}
    for place, label in a.frames.items():
        other = b.frames.get(place)
        if other is not None and other.label == label.label:
            frames[place] = Label(label.label, label.polyps, f"{label.reader} and {other.reader}")
    problems = tuple(dict.fromkeys((*a.problems, *b.problems)))
    return Labels(a.exam, dict(sorted(frames.items())), problems)


def labels_csv(labels: Iterable[Labels]) -> str:
    """Return the labels of exams; a frame that shows several polyps has a row for each."""
    return _csv(
        _LABEL_COLUMNS,
        (
            (one.exam, head, frame, label.label, polyp, label.reader)
            for one in labels
            for (head, frame), label in one.frames.items()
            for polyp in label.polyps or (None,)
        ),
    )


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV that spreadsheets open without running anything in it."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
