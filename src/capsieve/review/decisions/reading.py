"""A reading: what the entries about an exam add up to.

Nothing but the log is kept. The reading is folded from it each time, so it cannot differ from it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from capsieve.review.decisions.agreed import AGREED
from capsieve.review.decisions.cleanliness import Cleanliness, judge_cleanliness
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.foreign import foreign_among, foreign_words
from capsieve.review.decisions.standing import (
    in_order,
    redoable,
    stand,
    undoable,
    unreadable,
    version_of,
)
from capsieve.review.decisions.stored import stored_number
from capsieve.review.decisions.vocabulary import LANDMARKS

__all__ = ["Finding", "Landmark", "Note", "Reading", "Signature", "Verdict", "fold"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What stands of an event or a frame.

    Attributes
    ----------
    verdict
        "accept", "reject" or "unsure".
    event, best_frame, finding
        As in the entry; None where it does not say.
    reader, role, time, number
        Of the entry.
    confirmed
        Whether a validator agrees; None where none has said.
    """

    verdict: str
    event: int | None
    best_frame: int | None
    finding: str | None
    reader: str
    role: str
    time: str
    number: int
    confirmed: bool | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A polyp as the reader describes it; the fields are those of the entry.

    Attributes
    ----------
    content
        As in the entry.
    confirmed
        Whether a validator agrees; None where none has said.
    """

    id: str
    content: Mapping[str, Any]
    reader: str
    role: str
    time: str
    number: int
    confirmed: bool | None = None

    @property
    def head(self) -> int:
        """The head on which it is seen."""
        return self.content["head"]

    @property
    def frames(self) -> tuple[int, ...]:
        """The frames on which it is seen, in order."""
        return tuple(self.content["frames"])

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, the content's fields beside the others."""
        return {
            "id": self.id,
            **self.content,
            "reader": self.reader,
            "role": self.role,
            "time": self.time,
            "number": self.number,
            "confirmed": self.confirmed,
        }


@dataclass(frozen=True, slots=True)
class Landmark:
    """Where a landmark is first seen, and who says so."""

    head: int
    frame: int
    reader: str
    time: str
    number: int


@dataclass(frozen=True, slots=True)
class Note:
    """A free text about the exam or a frame."""

    subject: str
    text: str
    reader: str
    time: str
    number: int


@dataclass(frozen=True, slots=True)
class Signature:
    """Who signed a version, and the hash that freezes it.

    Attributes
    ----------
    hash, statement
        Empty where they cannot be read: then the signature does not hold.
    reader, role, time, version, number
        Of the entry.
    seen_frames, frames, seen_through
        How many frames had stood on the screen, of how many, and the last batch of the ledger that
        it covers; None where that cannot be read.
    """

    hash: str
    reader: str
    role: str
    time: str
    version: int
    number: int
    statement: str
    seen_frames: int | None
    frames: int | None
    seen_through: int | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What the entries add up to.

    Attributes
    ----------
    exam
        Empty where there are no entries.
    version, state
        The version, and "unread", "in reading" or "signed".
    verdicts
        By subject. What was taken back, or never said, is not there.
    findings
        In the order in which they were first described.
    landmarks
        By name, in the order of the colon.
    cleanliness
        CC-CLEAR.
    notes
        In the order of writing.
    urgent
        Whether the exam, or a finding in it, is urgent.
    urgent_text
        What was written about it.
    signature
        Of this version; None while it is open.
    signatures
        Of all versions so far.
    undoable, redoable
        Numbers for the next undo of the reader who asks: what it takes back, or does again.
    last
        The number of the last entry; 0 where there is none.
    problems
        Entries that cannot be read, one sentence each: what they said is not in the reading.
    foreign
        That something in the reading was decided on another screening of the exam, and what to
        do, in one sentence; empty where nothing was.
    """

    exam: str = ""
    version: int = 1
    state: str = "unread"
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    landmarks: Mapping[str, Landmark] = field(default_factory=dict)
    cleanliness: Cleanliness = field(default_factory=lambda: judge_cleanliness({}))
    notes: tuple[Note, ...] = ()
    urgent: bool = False
    urgent_text: str = ""
    signature: Signature | None = None
    signatures: tuple[Signature, ...] = ()
    undoable: int | None = None
    redoable: int | None = None
    last: int = 0
    problems: tuple[str, ...] = ()
    foreign: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "exam": self.exam,
            "version": self.version,
            "state": self.state,
            "verdicts": {subject: asdict(one) for subject, one in self.verdicts.items()},
            "findings": [one.to_json() for one in self.findings],
            "landmarks": {name: asdict(one) for name, one in self.landmarks.items()},
            "cleanliness": self.cleanliness.to_json(),
            "notes": [asdict(one) for one in self.notes],
            "urgent": self.urgent,
            "urgent_text": self.urgent_text,
            "signature": None if self.signature is None else asdict(self.signature),
            "signatures": [asdict(one) for one in self.signatures],
            "undoable": self.undoable,
            "redoable": self.redoable,
            "last": self.last,
            "problems": [*self.problems, *([self.foreign] if self.foreign else ())],
        }


def fold(
    entries: Iterable[Entry],
    *,
    reader: str | None = None,
    version: int | None = None,
    foreign: Collection[int] = (),
) -> Reading:
    """Add up the entries of one reading.

    Parameters
    ----------
    entries
        Of one exam and one reading (see :func:`~capsieve.review.decisions.access.own_reading`), in
        any order; what comes twice counts once.
    reader
        Who asks: what they could undo is told.
    version
        The reading as it stood at the end of this version; the latest where it is None.
    foreign
        Entries that were made on another screening of the exam; see
        :func:`~capsieve.review.decisions.screenings.made_elsewhere`.
    """
    log = [entry for entry in in_order(entries) if version is None or entry.version <= version]
    if not log:
        return Reading()
    standing = stand(log)
    stage = version_of(log)
    latest: dict[tuple[str, str], Entry] = {}
    first: dict[str, int] = {}
    answers: dict[int, Entry] = {}
    notes: list[Entry] = []
    for entry in standing.entries:
        if entry.kind == "note":
            notes.append(entry)
        elif entry.kind == "confirm":
            answers[entry.content["of"]] = entry
        else:
            latest[entry.kind, entry.subject] = entry
            first.setdefault(entry.subject, entry.number)
    of_kind = _by_kind(latest)
    confirmations = {number: entry.content["agrees"] for number, entry in answers.items()}
    elsewhere = foreign_among([*notes, *latest.values()], answers, foreign)
    findings = [
        _finding(name, entry, confirmations)
        for name, entry in sorted(of_kind("finding").items(), key=lambda pair: first[pair[0]])
        if "removed" not in entry.content
    ]
    urgent = of_kind("urgent").get("exam")
    exam_urgent = urgent is not None and urgent.content["urgent"]
    signatures = tuple(_signature(entry) for entry in log if entry.kind == "sign")
    own = reader if stage.signed is None else None
    begun = any(entry.role != AGREED for entry in log)
    return Reading(
        exam=log[0].exam,
        version=stage.number,
        state="signed" if stage.signed is not None else "in reading" if begun else "unread",
        verdicts={
            subject: _verdict(entry, confirmations)
            for subject, entry in of_kind("verdict").items()
            if entry.content["verdict"] is not None
        },
        findings=tuple(findings),
        landmarks=_landmarks(of_kind("landmark")),
        cleanliness=judge_cleanliness(
            {
                subject.partition(":")[2]: entry.content["grade"]
                for subject, entry in of_kind("cleanliness").items()
            }
        ),
        notes=tuple(_note(entry) for entry in notes),
        urgent=exam_urgent or any(finding.content["urgent"] for finding in findings),
        urgent_text=urgent.content["text"] if urgent is not None and exam_urgent else "",
        signature=None if stage.signed is None else _signature(stage.signed),
        signatures=signatures,
        undoable=None
        if own is None
        else undoable(
            standing,
            reader=own,
            version=stage.number,
            also={entry.number for entry in elsewhere},
        ),
        redoable=None if own is None else redoable(log, standing, reader=own, version=stage.number),
        last=log[-1].number,
        problems=unreadable(log),
        foreign=foreign_words(elsewhere, signed=stage.signed is not None),
    )


def _by_kind(latest: Mapping[tuple[str, str], Entry]) -> Any:
    def of_kind(kind: str) -> dict[str, Entry]:
        return {subject: entry for (found, subject), entry in latest.items() if found == kind}

    return of_kind


def _verdict(entry: Entry, confirmations: Mapping[int, bool]) -> Verdict:
    return Verdict(
        **{name: entry.content[name] for name in ("verdict", "event", "best_frame", "finding")},
        reader=entry.reader,
        role=entry.role,
        time=entry.time,
        number=entry.number,
        confirmed=confirmations.get(entry.number),
    )


def _finding(subject: str, entry: Entry, confirmations: Mapping[int, bool]) -> Finding:
    return Finding(
        id=subject.partition(":")[2],
        content=entry.content,
        reader=entry.reader,
        role=entry.role,
        time=entry.time,
        number=entry.number,
        confirmed=confirmations.get(entry.number),
    )


def _note(entry: Entry) -> Note:
    return Note(entry.subject, entry.content["text"], entry.reader, entry.time, entry.number)


def _landmarks(latest: Mapping[str, Entry]) -> dict[str, Landmark]:
    found: dict[str, Landmark] = {}
    for name in LANDMARKS:
        entry = latest.get(f"landmark:{name}")
        if entry is not None and "removed" not in entry.content:
            place = entry.content
            found[name] = Landmark(
                place["head"], place["frame"], entry.reader, entry.time, entry.number
            )
    return found


def _signature(entry: Entry) -> Signature:
    # A signature that lacks something is still one, lest a signed exam look open; checking it
    # tells that it does not hold.
    said = entry.content
    return Signature(
        hash=_text(said.get("hash")),
        reader=entry.reader,
        role=entry.role,
        time=entry.time,
        version=entry.version,
        number=entry.number,
        statement=_text(said.get("statement")),
        seen_frames=stored_number(said.get("seen_frames")),
        frames=stored_number(said.get("frames")),
        seen_through=stored_number(said.get("seen_through")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
