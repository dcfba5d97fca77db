"""Findings, landmarks, cleanliness and decisions of a reading as rows of texts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from capsieve.decisions.model import (
    CLEANLINESS_GRADES,
    CLEANLINESS_SEGMENTS,
    DECISIONS,
    LANDMARKS,
    PARIS,
    SEGMENTS,
    SIZES,
    Decision,
    Entry,
    Finding,
    Landmark,
    Note,
    Spot,
    event_subject,
    parse_place,
    said,
)
from capsieve.decisions.reading import Reading
from capsieve.report.exam_tables import Event
from capsieve.report.reading_moments import Moments, when
from capsieve.report.reading_pictures import FramePicture, pointer
from capsieve.report.text import plain

_NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding as the page shows it: texts that are ready to be escaped.

    Attributes
    ----------
    number
        From 1, in the order of the exam.
    time, frame, frames
        Of the frame that the reader chose; and on how many frames it is seen.
    segment, size, size_frame, paris
        In words; what the reader left open is "not stated".
    urgent, missed
        What the reader marked.
    note, by
        The reader's text, and who described it.
    picture, drawing
        The frame, and the ring around the place that the reader pointed to.
    """

    number: int
    time: str
    frame: str
    frames: int
    segment: str
    size: str
    size_frame: str
    paris: str
    urgent: bool
    missed: bool
    note: str
    by: str
    picture: FramePicture
    drawing: Markup


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Decisions in numbers.

    Attributes
    ----------
    events
        How many the detector found.
    accepted, rejected, unsure, undecided
        What was decided on them.
    frames
        Decisions on single frames.
    elsewhere
        Decisions on events that the exam does not have.
    """

    events: int
    accepted: int
    rejected: int
    unsure: int
    undecided: int
    frames: int
    elsewhere: int


def written(text: str) -> str:
    """Return what somebody wrote, line by line, without characters that could disguise it."""
    return "\n".join(plain(line.replace("\t", " ")) for line in text.strip().splitlines())


def finding_rows(
    findings: Sequence[Entry],
    moments: Moments,
    pictures: Mapping[tuple[int, int], FramePicture],
    *,
    roles: bool,
) -> list[FindingRow]:
    """Return findings, numbered from 1 in the given order.

    Parameters
    ----------
    roles
        Whether the role of the reader is named.
    """
    rows: list[FindingRow] = []
    for number, entry in enumerate(findings, start=1):
        finding = said(entry, Finding)
        picture = pictures.get((finding.best.head, finding.best.frame), FramePicture())
        place = finding.place if picture.address else None
        rows.append(
            FindingRow(
                number=number,
                time=moments.text(finding.best.head, finding.best.frame),
                frame=moments.name(finding.best.head, finding.best.frame),
                frames=sum(span.last + 1 - span.first for span in finding.spans),
                segment=SEGMENTS.get(finding.segment or "", _NOT_STATED),
                size=SIZES.get(finding.size or "", _NOT_STATED),
                size_frame=_name(finding.size_on, moments),
                paris=PARIS.get(finding.paris or "", _NOT_STATED),
                urgent=finding.urgent,
                missed=finding.missed,
                note=written(finding.note),
                by=f"{plain(entry.reader)} ({entry.role})" if roles else plain(entry.reader),
                picture=picture,
                drawing=Markup("") if place is None else pointer(picture, place.row, place.col),
            )
        )
    return rows


def _name(spot: Spot | None, moments: Moments) -> str:
    return "" if spot is None else moments.name(spot.head, spot.frame)


def landmark_rows(reading: Reading, moments: Moments) -> list[tuple[str, str, str]]:
    """Return name, time and frame of every landmark, in the order of the colon.

    Those that nobody marked are there too: they must not look forgotten.
    """
    rows: list[tuple[str, str, str]] = []
    for name, words in LANDMARKS.items():
        entry = reading.landmarks.get(name)
        title = f"{words[:1].upper()}{words[1:]}"
        if entry is None:
            rows.append((title, "", "not marked"))
        else:
            mark = said(entry, Landmark)
            place = (mark.head, mark.frame)
            rows.append((title, moments.text(*place), moments.name(*place)))
    return rows


def cleanliness_rows(reading: Reading) -> list[tuple[str, str, str]]:
    """Return segment, grade and what the grade means."""
    rows: list[tuple[str, str, str]] = []
    for name, words in CLEANLINESS_SEGMENTS.items():
        grade = reading.cleanliness.segments[name]
        title = f"{words[:1].upper()}{words[1:]}"
        if grade is None:
            rows.append((title, "\N{EN DASH}", "not graded"))
        else:
            rows.append((title, str(grade), CLEANLINESS_GRADES[grade]))
    return rows


def decision_counts(reading: Reading, events: Iterable[Event]) -> DecisionCounts:
    """Count the decisions on the detector's events."""
    known = {event_subject(each.head, each.best_frame) for each in events}
    decisions = {
        subject: said(entry, Decision).decision for subject, entry in reading.decisions.items()
    }
    own = [decision for subject, decision in decisions.items() if subject in known]
    kinds = [subject.partition(":")[0] for subject in decisions]
    accepted, rejected, unsure = (own.count(word) for word in DECISIONS)
    return DecisionCounts(
        events=len(known),
        accepted=accepted,
        rejected=rejected,
        unsure=unsure,
        undecided=len(known) - len(own),
        frames=kinds.count("frame"),
        elsewhere=kinds.count("event") - len(own),
    )


def note_rows(reading: Reading, moments: Moments) -> list[tuple[str, str, str, str]]:
    """Return what each note is about, its text, who wrote it, and when."""
    rows: list[tuple[str, str, str, str]] = []
    for entry in reading.notes:
        place = parse_place(entry.subject)
        about = "Exam"
        if place is not None:
            about = f"Frame {moments.name(*place[1:])}, {moments.text(*place[1:])}"
        rows.append((about, written(said(entry, Note).text), plain(entry.reader), when(entry.time)))
    return rows
