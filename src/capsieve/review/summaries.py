"""How far the reading of every exam has come, for the list of exams.

A reading is folded from its entries. The list asks for all of them, and often: what was found is
kept until a new entry about the exam is written, by whomever, in whatever process.
"""

import threading
from dataclasses import dataclass, replace

from capsieve.decisions.database import Database
from capsieve.decisions.exam import Event, flagged_events
from capsieve.decisions.log import changes_after, load_entries
from capsieve.decisions.model import Entry
from capsieve.decisions.reading import Reading, elsewhere_words, fold
from capsieve.decisions.roles import Workflow
from capsieve.decisions.signing import to_validate
from capsieve.decisions.viewed import load_viewed
from capsieve.decisions.workflow import (
    BLIND_READERS,
    blind_readings,
    both_signed,
    own_reading,
    pre_read,
)
from capsieve.errors import CapsieveError
from capsieve.review.catalogue import ExamFacts
from capsieve.review.sessions import Reader

__all__ = ["Summaries", "Summary"]

_MOST = 1000  # changes that are asked for at once


@dataclass(frozen=True, slots=True)
class Summary:
    """How far a reading has come.

    Attributes
    ----------
    state, revision, urgent, findings
        As in the reading.
    decided_events
        Events that are decided.
    to_validate
        Pre-reader decisions on frames that were not displayed to this validator.
    readers
        Name and state of everybody who wrote about the exam; no name of others who read it blind,
        before both have signed.
    problems
        Entries that cannot be read, or were made on another screening, a sentence each.
    """

    state: str = "unread"
    revision: int = 1
    urgent: bool = False
    decided_events: int = 0
    findings: int = 0
    to_validate: int = 0
    readers: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    pre_read: Reading | None = None  # if it has pre-reader decisions, and a validator asks


class Summaries:
    """Keeps summaries while they hold.

    Parameters
    ----------
    database
        Of decisions.
    workflow
        Of the exams.
    """

    def __init__(self, database: Database, *, workflow: Workflow) -> None:
        self._database = database
        self._workflow: Workflow = workflow
        self._kept: dict[str, dict[tuple[str, Reader], Summary]] = {}
        self._begun: set[str] = set()
        self._last = 0
        self._lock = threading.Lock()

    def summary(self, facts: ExamFacts, reader: Reader) -> Summary:
        """Return the summary of an exam, as this reader may see it; call `follow` before."""
        with self._lock:
            if facts.exam not in self._begun:
                return Summary()
            found = self._kept.get(facts.exam, {}).get((facts.stamp, reader))
            last = self._last
        if found is None:
            found = self._summarised(facts, reader)
            with self._lock:
                if last == self._last:  # nothing was written meanwhile
                    self._kept.setdefault(facts.exam, {})[facts.stamp, reader] = found
        if found.pre_read is None:
            return found
        # What was displayed changes without an entry.
        own = [
            each
            for each in load_viewed(self._database, facts.exam, facts.screening)
            if (each.reader, each.role) == (reader.name, reader.role)
        ]
        return replace(found, to_validate=len(to_validate(found.pre_read, own)))

    def follow(self) -> None:
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

    def _summarised(self, facts: ExamFacts, reader: Reader) -> Summary:
        log = load_entries(self._database, facts.exam)
        own = own_reading(log, workflow=self._workflow, reader=reader.name, role=reader.role)
        events = _events(facts)
        reading = fold(own, reader=reader.name, screening=facts.screening)
        validates = reader.role == "validator" and reading.state != "signed"
        return Summary(
            state=reading.state,
            revision=reading.revision,
            urgent=reading.urgent,
            decided_events=sum(event.subject in reading.decisions for event in events),
            findings=len(reading.findings),
            readers=_readers(log, reading.state, self._workflow, reader),
            problems=(*reading.problems, *elsewhere_words(reading, events or None)),
            pre_read=reading if validates and pre_read(reading) else None,
        )


def _readers(
    log: list[Entry], state: str, workflow: Workflow, reader: Reader
) -> tuple[tuple[str, str], ...]:
    """Return who wrote, each with the state of the reading that is theirs.

    Before both have signed, a blind reader is told of no other, unless two others have the exam.
    """
    if workflow == "blind":
        readings, opened = blind_readings(log), both_signed(log)
        alone = reader.role == "reader" and not opened
        if alone and (reader.name in readings or len(readings) < BLIND_READERS):
            readings = {name: each for name, each in readings.items() if name == reader.name}
        return tuple(
            (name if opened or reader == Reader(name, "reader") else "", fold(each).state)
            for name, each in readings.items()
        )
    return tuple((name, state) for name in dict.fromkeys(entry.reader for entry in log))


def _events(facts: ExamFacts) -> tuple[Event, ...]:
    """Return the events of an exam; none if they cannot be read."""
    if not facts.readable:
        return ()
    try:
        return flagged_events(facts.folder)
    except CapsieveError:  # the list is complete whatever is wrong with one exam
        return ()
