"""How far the reading of every exam has come, for the list of exams."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from capsieve.decisions.agreement import BLOCK, events_to_decide
from capsieve.decisions.database import Database
from capsieve.decisions.exam import flagged_events, listed_frames
from capsieve.decisions.log import changes_after, load_entries
from capsieve.decisions.model import Entry
from capsieve.decisions.progress import Progress, make_progress
from capsieve.decisions.reading import elsewhere_words, fold
from capsieve.decisions.roles import Workflow
from capsieve.decisions.signing import to_validate
from capsieve.decisions.viewed import Bitmaps, viewed_by_exam
from capsieve.decisions.workflow import (
    BLIND_READERS,
    belongs,
    blind_readings,
    both_signed,
    own_reading,
)
from capsieve.errors import CapsieveError
from capsieve.review.catalogue import ExamFacts
from capsieve.review.messages import ReaderState, ReadingState
from capsieve.review.sessions import Reader

_MOST = 1000  # changes that are asked for at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How far a reading has come.

    Attributes
    ----------
    state, revision, urgent, findings
        As in the reading.
    decided_events
        Decisions on events, of a consensus also those of both readers.
    to_validate
        Pre-reader decisions on frames that were not displayed to this validator.
    readers
        See :func:`reader_states`.
    problems
        Entries that cannot be read, or were made on another screening, a sentence each.
    """

    state: ReadingState = "unread"
    revision: int = 1
    urgent: bool = False
    findings: int = 0
    decided_events: int = 0
    to_validate: int = 0
    readers: tuple[ReaderState, ...] = ()
    problems: tuple[str, ...] = ()
    progress: Progress


class Summaries:
    """Summaries of exams, kept until something about the exam is stored in any process."""

    def __init__(self, database: Database, *, workflow: Workflow) -> None:
        self._database = database
        self._workflow: Workflow = workflow
        self._kept: dict[str, dict[Any, Summary]] = {}
        self._begun: set[str] = set()
        self._last = 0
        self._lock = threading.Lock()

    def summaries(self, exams: Sequence[ExamFacts], reader: Reader) -> list[Summary]:
        """Return the summary of each exam, as this reader may see it."""
        self._follow()
        viewed = viewed_by_exam(self._database, [facts.exam for facts in exams])
        return [self._summary(facts, reader, viewed.get(facts.exam, ())) for facts in exams]

    def _follow(self) -> None:
        """Forget what new entries have changed."""
        with self._lock:
            while True:
                changes = changes_after(self._database, self._last, most=_MOST)
                for number, exam in changes:
                    self._begun.add(exam)
                    self._kept.pop(exam, None)
                    self._last = max(self._last, number)
                if len(changes) < _MOST:
                    return

    def _summary(self, facts: ExamFacts, reader: Reader, rows: Sequence[Any]) -> Summary:
        whose: Any = {"workflow": self._workflow, "reader": reader.name, "role": reader.role}
        own = tuple(
            row for row in rows if row.screening == facts.screening and belongs(row, **whose)
        )
        key = (facts.stamp, reader, hash(own))
        with self._lock:
            begun, last = facts.exam in self._begun, self._last
            found = self._kept.get(facts.exam, {}).get(key)
        if found is None:
            log = load_entries(self._database, facts.exam) if begun else []
            found = self._summarise(facts, reader, log, list(map(Bitmaps.of_row, own)))
            with self._lock:
                if last == self._last:  # nothing was stored meanwhile
                    kept = self._kept.setdefault(facts.exam, {})
                    for other in [each for each in kept if each[1] == reader]:
                        del kept[other]
                    kept[key] = found
        return found

    def _summarise(
        self, facts: ExamFacts, reader: Reader, log: list[Entry], displayed: list[Bitmaps]
    ) -> Summary:
        workflow = self._workflow
        own = own_reading(log, workflow=workflow, reader=reader.name, role=reader.role)
        reading = fold(own, reader=reader.name, screening=facts.screening)
        progress, events = _from_record(facts), None
        if facts.readable and (log or displayed):
            try:
                events = flagged_events(facts.folder)
                progress = make_progress(
                    reading,
                    displayed,
                    events=events,
                    offered=events_to_decide(log, reading, events, role=reader.role),
                    to_read=listed_frames(facts.folder),
                    without_picture=facts.without_picture,
                )
            except CapsieveError:  # the list is complete whatever is wrong with one exam
                events = None
        waiting = 0
        if reader.role == "validator" and reading.state != "signed":
            whose = reader.name, reader.role
            mine = [each for each in displayed if (each.reader, each.role) == whose]
            waiting = len(to_validate(reading, mine))
        return Summary(
            state=reading.state,
            revision=reading.revision,
            urgent=reading.urgent,
            findings=len(reading.findings),
            decided_events=sum(subject.startswith("event:") for subject in reading.decisions),
            to_validate=waiting,
            readers=reader_states(log, reading.state, workflow=workflow, reader=reader),
            problems=(*reading.problems, *elsewhere_words(reading, events or None)),
            progress=progress,
        )


def _from_record(facts: ExamFacts) -> Progress:
    """Return the progress of an exam that nobody has opened."""
    return Progress(
        events=facts.events,
        offered=min(facts.events, BLOCK),
        to_read=facts.to_read,
        frames=facts.frames,
        without_picture=facts.without_picture,
    )


def reader_states(
    log: Sequence[Entry], state: ReadingState, *, workflow: Workflow, reader: Reader
) -> tuple[ReaderState, ...]:
    """Return who wrote about an exam, each with the state of the reading.

    Blind work, before both have signed: no names of others; and a reader who takes part, or can
    take part, sees nothing of the other.

    Parameters
    ----------
    log
        All entries of the exam.
    state
        Of the reading that this reader may see.
    """
    if workflow != "blind":
        names = dict.fromkeys(entry.reader for entry in log)
        return tuple(ReaderState(reader=name, state=state) for name in names)
    readings, opened = blind_readings(log), both_signed(log)
    alone = reader.role == "reader" and not opened
    if alone and (reader.name in readings or len(readings) < BLIND_READERS):
        readings = {name: each for name, each in readings.items() if name == reader.name}
    return tuple(
        ReaderState(
            reader=name if opened or reader == Reader(name, "reader") else "",
            state=fold(each).state,
        )
        for name, each in readings.items()
    )
