"""Decisions as CSV: every entry, and the findings that they add up to."""

from collections.abc import Iterable, Sequence

from capsieve.review.decisions.csv_text import csv_text
from capsieve.review.decisions.entries import Entry, canonical
from capsieve.review.decisions.reading import Reading
from capsieve.review.decisions.standing import in_order, stand

__all__ = ["DECISION_COLUMNS", "FINDING_COLUMNS", "decisions_csv", "findings_csv"]

DECISION_COLUMNS = (
    "number",
    "time",
    "exam",
    "version",
    "reader",
    "role",
    "kind",
    "subject",
    "stands",  # no: it was undone
    "undoes",
    "content",  # JSON
    "key",
    "problem",  # why it cannot be read; content that is no JSON object stands under "stored"
)

FINDING_COLUMNS = (
    "exam",
    "version",
    "state",
    "finding",
    "head",
    "best_frame",
    "first_frame",
    "last_frame",
    "frames",  # how many
    "size",
    "size_frame",
    "paris",
    "segment",
    "row",
    "col",
    "urgent",
    "missed_by_sieve",
    "confirmed",
    "note",
    "reader",
    "role",
    "time",
)


def decisions_csv(entries: Iterable[Entry]) -> str:
    """Return every entry, in order, and whether it stands.

    Parameters
    ----------
    entries
        Of any exams and readers; see :func:`~capsieve.review.decisions.access.visible`.
    """
    log = in_order(entries)
    numbers = stand(log).numbers
    return csv_text(
        DECISION_COLUMNS,
        (
            (
                entry.number,
                entry.time,
                entry.exam,
                entry.version,
                entry.reader,
                entry.role,
                entry.kind,
                entry.subject,
                entry.number in numbers,
                entry.undoes,
                canonical(dict(entry.content)),
                entry.key,
                entry.problem,
            )
            for entry in log
        ),
    )


def findings_csv(readings: Sequence[Reading]) -> str:
    """Return the findings of readings, one row each."""
    rows: list[tuple[object, ...]] = []
    for reading in readings:
        for finding in reading.findings:
            said, place = finding.content, finding.content["place"] or {}
            rows.append(
                (
                    reading.exam,
                    reading.version,
                    reading.state,
                    finding.id,
                    finding.head,
                    said["best_frame"],
                    finding.frames[0],
                    finding.frames[-1],
                    len(finding.frames),
                    said["size"],
                    said["size_frame"],
                    said["paris"],
                    said["segment"],
                    place.get("row"),
                    place.get("col"),
                    said["urgent"],
                    said["missed_by_sieve"],
                    finding.confirmed,
                    said["note"],
                    finding.reader,
                    finding.role,
                    finding.time,
                )
            )
    return csv_text(FINDING_COLUMNS, rows)
