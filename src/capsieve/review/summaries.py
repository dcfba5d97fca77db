"""How far the reading of every exam has come, for the list of exams.

A reading is folded from its entries. The list asks for all of them, and often: what was found is
kept until a new entry about the exam is written, by whomever, in whatever process.
"""

import threading
from dataclasses import dataclass

from capsieve.errors import CapsieveError
from capsieve.report.exam_tables import event_list
from capsieve.review.catalogue import ExamFacts
from capsieve.review.decisions.access import blind_readings, both_signed, own_reading
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.log import changes_after, load_entries
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.screenings import load_foreign
from capsieve.review.decisions.subjects import event_subject
from capsieve.review.sessions import Reader
from capsieve.review.way import Way
from capsieve.store.exam import Exam

__all__ = ["Summaries", "Summary"]

_MOST = 1000  # changes that are asked for at once


@dataclass(frozen=True, slots=True)
class Summary:
    """How far a reading has come.

    Attributes
    ----------
    state, version, urgent, findings
        As in the reading.
    decided_events
        Events of the sieve on which a verdict stands.
    readers
        Name and state of everybody who wrote about the exam; no name of others who read it blind,
        before both have signed.
    problems
        Entries that cannot be read, or were made on another screening, a sentence each.
    """

    state: str = "unread"
    version: int = 1
    urgent: bool = False
    decided_events: int = 0
    findings: int = 0
    readers: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()


class Summaries:
    """Keeps summaries while they hold.

    Parameters
    ----------
    database
        Of decisions.
    way
        How the room works.
    """

    def __init__(self, database: Database, *, way: Way) -> None:
        self._database = database
        self._way: Way = way
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
        if found is not None:
            return found
        found = self._summarised(facts, reader)
        with self._lock:
            if last == self._last:  # nothing was written meanwhile
                self._kept.setdefault(facts.exam, {})[facts.stamp, reader] = found
        return found

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
        entries = load_entries(self._database, facts.exam)
        own = own_reading(entries, way=self._way, reader=reader.name, role=reader.role)
        foreign = load_foreign(self._database, own, exam=facts.exam, screening=facts.screening)
        reading = fold(own, reader=reader.name, foreign=foreign if facts.readable else ())
        events = _event_subjects(facts)
        return Summary(
            state=reading.state,
            version=reading.version,
            urgent=reading.urgent,
            decided_events=sum(subject in events for subject in reading.verdicts),
            findings=len(reading.findings),
            readers=_readers(entries, reading.state, self._way, reader),
            problems=(*reading.problems, *([reading.foreign] if reading.foreign else ())),
        )


def _readers(
    entries: list[Entry], state: str, way: Way, reader: Reader
) -> tuple[tuple[str, str], ...]:
    """Return who wrote, each with the state of the reading that is theirs."""
    if way == "blind":
        is_open = both_signed(entries)
        return tuple(
            (name if is_open or reader == Reader(name, "reader") else "", fold(each).state)
            for name, each in blind_readings(entries).items()
        )
    return tuple((name, state) for name in dict.fromkeys(entry.reader for entry in entries))


def _event_subjects(facts: ExamFacts) -> set[str]:
    """Return the names of the events that the sieve found in an exam."""
    if not facts.readable:
        return set()
    try:
        events = event_list(Exam(facts.folder).columns(table="events"))
    except CapsieveError:  # the list stands whatever is wrong with one exam; opening it says so
        return set()
    return {event_subject(each.head, each.first_frame, each.last_frame) for each in events}
