"""A reading: the sum of the entries of an exam.

Only the log is stored. The reading is computed from it each time, so it cannot differ from it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from capsieve.decisions.exam import Event
from capsieve.decisions.model import (
    CLEANLINESS_SEGMENTS,
    LANDMARKS,
    Cleanliness,
    Entry,
    Finding,
    Removed,
    Undo,
    Urgent,
    parse_place,
    said,
)

PERMANENT = ("sign", "reopen")
"""Kinds that are never undone: a signed exam is reopened instead."""

AGREED = "both readers"
"""Role of the entries that two blind readers have in common."""


class Clean(BaseModel):
    """CC-CLEAR: the grade of each segment, their sum and its class, if all are graded."""

    model_config = ConfigDict(frozen=True)

    segments: dict[str, int | None]
    sum: int | None = None
    words: str | None = None


def judge_cleanliness(grades: Mapping[str, int | None]) -> Clean:
    """Add up the grades of the segments.

    A sum of 8 or 9 is excellent, 6 or 7 good, 5 or less inadequate; so is any sum with a segment
    of 1 or less.
    """
    segments = {name: grades.get(name) for name in CLEANLINESS_SEGMENTS}
    known = [grade for grade in segments.values() if grade is not None]
    if len(known) < len(segments):
        return Clean(segments=segments)
    total = sum(known)
    words = "excellent" if total >= 8 else "good"
    if total <= 5 or min(known) <= 1:
        words = "inadequate"
    return Clean(segments=segments, sum=total, words=words)


class State(BaseModel):
    """Revision of a reading, and the signature that closes it."""

    model_config = ConfigDict(frozen=True)

    revision: int = 1
    signature: Entry | None = None


class Reading(BaseModel):
    """The sum of the entries of a reading.

    Undone, removed and replaced entries are not in it. Findings are in the order of their first
    description, landmarks in that of the colon, notes in that of writing.
    """

    model_config = ConfigDict(frozen=True)

    revision: int = 1
    state: Literal["unread", "in reading", "signed"] = "unread"
    decisions: dict[str, Entry] = Field(default={}, description="By event or frame.")
    findings: tuple[Entry, ...] = ()
    landmarks: dict[str, Entry] = Field(default={}, description="By name.")
    cleanliness: Clean = judge_cleanliness({})
    notes: tuple[Entry, ...] = ()
    urgent: bool = Field(default=False, description="The exam or a finding in it.")
    urgent_text: str = ""
    signature: Entry | None = Field(default=None, description="Of this revision.")
    signatures: tuple[Entry, ...] = Field(default=(), description="Of all revisions.")
    undoable: int | None = Field(default=None, description="Action to undo next.")
    redoable: int | None = Field(default=None, description="Undo to undo next.")
    last: int = Field(default=0, description="The number of the last entry.")
    problems: tuple[str, ...] = Field(default=(), description="Entries that cannot be read.")
    elsewhere: tuple[Entry, ...] = Field(default=(), description="Written on another screening.")

    def finding(self, subject: str) -> Entry | None:
        """Return a finding by its name."""
        return next((each for each in self.findings if each.subject == subject), None)

    @property
    def entries(self) -> list[Entry]:
        """All entries that count, without signatures."""
        return [
            *self.decisions.values(),
            *self.findings,
            *self.landmarks.values(),
            *self.notes,
        ]


def fold(
    entries: Iterable[Entry], *, reader: str = "", screening: str = "", revision: int | None = None
) -> Reading:
    """Add up the entries of one reading.

    Parameters
    ----------
    entries
        Of one exam and one reading (see :func:`~capsieve.decisions.workflow.own_reading`), in any
        order; what comes twice counts once.
    reader
        Who asks: what this reader can undo is found.
    screening
        The screening of the exam now; entries on others become `elsewhere`. Not compared if empty.
    revision
        The reading at the end of this revision; the latest by default.
    """
    log = [entry for entry in in_order(entries) if revision is None or entry.revision <= revision]
    if not log:
        return Reading()
    state = state_of(log)
    latest = {key: each for key, each in touched(log).items() if each.kind != "removed"}
    first: dict[str, int] = {}
    for each in (kept := standing(log)):
        first.setdefault(each.subject, each.number)
    notes = tuple(each for each in kept if each.kind == "note")

    def of_kind(kind: str) -> dict[str, Entry]:
        return {subject: each for (found, subject), each in latest.items() if found == kind}

    findings = sorted(of_kind("finding").values(), key=lambda each: first[each.subject])
    marks, urgent = of_kind("landmark"), of_kind("urgent").get("exam")
    grades = {
        subject.partition(":")[2]: said(each, Cleanliness).grade
        for subject, each in of_kind("cleanliness").items()
    }
    elsewhere = [
        each for each in (*latest.values(), *notes) if screening and each.screening != screening
    ]
    elsewhere.sort(key=lambda each: each.number)
    old = {each.action for each in elsewhere}
    open_log = [] if state.signature is not None else log
    begun = any(entry.role != AGREED for entry in log)
    return Reading(
        revision=state.revision,
        state="signed" if state.signature is not None else "in reading" if begun else "unread",
        decisions=of_kind("decision"),
        findings=tuple(findings),
        landmarks={
            name: marks[f"landmark:{name}"] for name in LANDMARKS if f"landmark:{name}" in marks
        },
        cleanliness=judge_cleanliness(grades),
        notes=notes,
        urgent=urgent is not None or any(said(each, Finding).urgent for each in findings),
        urgent_text="" if urgent is None else said(urgent, Urgent).text,
        signature=state.signature,
        signatures=tuple(each for each in log if each.kind == "sign"),
        undoable=_undoable(open_log, reader, state.revision, old),
        redoable=_redoable(open_log, reader, state.revision),
        last=log[-1].number,
        problems=tuple(_unreadable(each) for each in log if each.problem),
        elsewhere=tuple(elsewhere),
    )


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries by number, each once."""
    by_number = {entry.number: entry for entry in entries}
    return [by_number[number] for number in sorted(by_number)]


def state_of(log: Iterable[Entry]) -> State:
    """Return the revision of a reading; only signatures and reopenings matter."""
    revision, signature = 1, None
    for entry in log:
        if entry.kind == "sign":
            signature = entry
        elif entry.kind == "reopen":
            revision, signature = revision + 1, None
    return State(revision=revision, signature=signature)


def undone_actions(log: Sequence[Entry]) -> set[int]:
    """Return the actions that were undone.

    Undos are later than their actions, so the log is read backwards. An undo that cannot be read
    undoes nothing.
    """
    undone: set[int] = set()
    for entry in reversed(log):
        if entry.kind == "undo" and entry.content is not None and entry.action not in undone:
            undone.add(said(entry, Undo).action)
    return undone


def standing(log: Sequence[Entry]) -> list[Entry]:
    """Return the readable entries that were not undone, without undos and signatures."""
    undone = undone_actions(log)
    return [
        entry
        for entry in log
        if entry.content is not None
        and entry.action not in undone
        and entry.kind not in ("undo", *PERMANENT)
    ]


def touched(log: Sequence[Entry]) -> dict[tuple[str, str], Entry]:
    """Return the last standing entry on each subject by kind, removals included; no notes."""
    latest: dict[tuple[str, str], Entry] = {}
    for entry in standing(log):
        if entry.kind == "removed":
            removed = said(entry, Removed)
            latest[removed.of, removed.subject] = entry
        elif entry.kind != "note":
            latest[entry.kind, entry.subject] = entry
    return latest


def displaced(reading: Reading, events: Iterable[Event]) -> list[Entry]:
    """Return decisions on events that the exam does not have.

    A longer reading list can join two events: then the best frame of one is inside the other.
    """
    known = {event.subject for event in events}
    return [
        entry
        for subject, entry in reading.decisions.items()
        if subject.startswith("event:") and subject not in known
    ]


def elsewhere_words(reading: Reading, events: Iterable[Event] | None = None) -> tuple[str, ...]:
    """Return what to do about each decision that does not fit the exam now.

    Parameters
    ----------
    events
        Of the exam now; decisions on other events are not looked for if it is None.
    """
    found: list[str] = []
    entries = reading.elsewhere
    signed = reading.state == "signed"
    if entries:
        whose = ", ".join(dict.fromkeys(entry.reader for entry in entries))
        one = len(entries) == 1
        what = "one decision was" if one else f"{len(entries)} decisions were"
        then = (
            "that screening was signed, and not the present one"
            if signed
            else f"take {'it' if one else 'them'} back, or decide again, before the exam is signed"
        )
        found.append(f"{what} made on another screening of this exam, by {whose}; {then}")
    events = [] if events is None or (entries and not signed) else list(events)
    for entry in displaced(reading, events) if events else []:
        place = parse_place(entry.subject)
        assert place is not None
        _, head, best = place
        around = next(
            (
                each
                for each in events
                if each.head == head and each.frames[0] <= best <= each.frames[-1]
            ),
            None,
        )
        where = (
            "in no event" if around is None else f"inside the event with best frame {around.best}"
        )
        found.append(
            f"the decision of {entry.reader} on the event with best frame {best} of head {head} "
            f"belongs to no event of the present reading list: the frame is now {where}; take it "
            "back and decide that event"
        )
    return tuple(found)


def _undoable(log: Sequence[Entry], reader: str, revision: int, also: set[int]) -> int | None:
    """Return the reader's latest action of this revision that is not undone; or one of `also`."""
    own = (
        entry.action
        for entry in reversed(standing(log))
        if reader
        and entry.reader == reader
        and entry.role != AGREED
        and (entry.revision == revision or entry.action in also)
    )
    return next(own, None)


def _redoable(log: Sequence[Entry], reader: str, revision: int) -> int | None:
    """Return the reader's latest undo that is not undone, unless a new action is later.

    An undo of an undo is not new here, so repeated redo restores everything step by step.
    """
    undone = undone_actions(log)
    undos = {entry.action for entry in log if entry.kind == "undo"}
    for entry in reversed(log):
        if not reader or entry.reader != reader or entry.revision != revision:
            continue
        if entry.content is None or entry.role == AGREED:
            continue
        if not isinstance(entry.content, Undo):
            return None
        if entry.action not in undone and entry.content.action not in undos:
            return entry.action
    return None


def _unreadable(entry: Entry) -> str:
    counts = "" if entry.kind in PERMANENT else ", and counts for nothing"
    return (
        f"entry {entry.number} ({entry.kind[:20]}, by {entry.reader[:60]}, {entry.time[:30]}) "
        f"cannot be read{counts}: {entry.problem}"
    )
