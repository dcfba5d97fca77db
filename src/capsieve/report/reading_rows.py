"""Findings, landmarks, cleanliness and verdicts of a reading as rows of texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from capsieve.report.exam_tables import Event
from capsieve.report.reading_choice import Chosen
from capsieve.report.reading_moments import Moments, when
from capsieve.report.reading_pictures import FramePicture, pointer
from capsieve.report.text import plain
from capsieve.review.decisions.reading import Finding, Reading
from capsieve.review.decisions.standing import in_order, stand
from capsieve.review.decisions.subjects import event_subject, parse_subject
from capsieve.review.decisions.vocabulary import (
    CLEANLINESS_GRADES,
    CLEANLINESS_SEGMENTS,
    LANDMARKS,
    PARIS,
    SEGMENTS,
    SIZES,
    VERDICTS,
)

__all__ = [
    "FindingRow",
    "VerdictCounts",
    "cleanliness_rows",
    "finding_rows",
    "in_exam_order",
    "landmark_rows",
    "note_rows",
    "verdict_counts",
    "written",
]

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
    validator
        What the validator said, in words; "" where nobody validates.
    refused
        Whether the validator refused it.
    remark, note
        The validator's text and the reader's.
    by
        Who described it.
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
    validator: str
    refused: bool
    remark: str
    note: str
    by: str
    picture: FramePicture
    drawing: Markup


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Verdicts in numbers.

    Attributes
    ----------
    events
        How many the sieve found.
    accepted, rejected, unsure, undecided
        What was said of them.
    frames
        Verdicts on single frames.
    elsewhere
        Verdicts on events that this screening does not have.
    confirmed, refused
        Verdicts on events or frames to which a validator agreed, and to which not.
    """

    events: int
    accepted: int
    rejected: int
    unsure: int
    undecided: int
    frames: int
    elsewhere: int
    confirmed: int
    refused: int


def written(text: str) -> str:
    """Return what somebody wrote, line by line, without what could disguise it."""
    return "\n".join(plain(line.replace("\t", " ")) for line in text.strip().splitlines())


def in_exam_order(findings: Iterable[Finding], moments: Moments) -> list[Finding]:
    """Return findings in the order in which the capsule passed them."""

    def place(finding: Finding) -> tuple[float, int, int]:
        best = finding.content["best_frame"]
        position = moments.position(finding.head, best)
        return (float("inf") if position is None else position, finding.head, best)

    return sorted(findings, key=place)


def finding_rows(
    chosen: Chosen, moments: Moments, pictures: Mapping[tuple[int, int], FramePicture]
) -> list[FindingRow]:
    """Return the findings in the order of the exam."""
    remarks = _remarks(chosen)
    rows: list[FindingRow] = []
    for number, finding in enumerate(in_exam_order(chosen.reading.findings, moments), start=1):
        said, head, best = finding.content, finding.head, finding.content["best_frame"]
        picture = pictures.get((head, best), FramePicture())
        place = said["place"] if picture.address else None
        size_frame = said["size_frame"]
        rows.append(
            FindingRow(
                number=number,
                time=moments.text(head, best),
                frame=moments.name(head, best),
                frames=len(finding.frames),
                segment=SEGMENTS.get(said["segment"], _NOT_STATED),
                size=SIZES.get(said["size"], _NOT_STATED),
                size_frame="" if size_frame is None else moments.name(head, size_frame),
                paris=PARIS.get(said["paris"], _NOT_STATED),
                urgent=said["urgent"],
                missed=said["missed_by_sieve"],
                validator=_validator(finding) if chosen.way == "validated" else "",
                refused=finding.confirmed is False,
                remark=remarks.get(finding.number, ""),
                note=written(said["note"]),
                by=plain(finding.reader),
                picture=picture,
                drawing=Markup("")
                if place is None
                else pointer(picture, place["row"], place["col"]),
            )
        )
    return rows


def _validator(finding: Finding) -> str:
    if finding.confirmed is not None:
        return "confirmed" if finding.confirmed else "refused"
    return "described by the validator" if finding.role == "validator" else "not yet confirmed"


def _remarks(chosen: Chosen) -> dict[int, str]:
    """Return what the validator wrote, by the number of the entry that it is about."""
    return {
        entry.content["of"]: written(entry.content["text"])
        for entry in stand(in_order(chosen.entries)).entries
        if entry.kind == "confirm"
    }


def landmark_rows(reading: Reading, moments: Moments) -> list[tuple[str, str, str]]:
    """Return name, time and frame of every landmark, in the order of the colon.

    Those that nobody marked are there too: what is not marked must not look forgotten.
    """
    rows: list[tuple[str, str, str]] = []
    for name, words in LANDMARKS.items():
        mark = reading.landmarks.get(name)
        title = f"{words[:1].upper()}{words[1:]}"
        if mark is None:
            rows.append((title, "", "not marked"))
        else:
            rows.append(
                (title, moments.text(mark.head, mark.frame), moments.name(mark.head, mark.frame))
            )
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


def verdict_counts(reading: Reading, events: Iterable[Event]) -> VerdictCounts:
    """Count what was said of the sieve's events."""
    known = {event_subject(each.head, each.first_frame, each.last_frame) for each in events}
    said = {subject: one.verdict for subject, one in reading.verdicts.items()}
    own = [verdict for subject, verdict in said.items() if subject in known]
    kinds = [parse_subject(subject).kind for subject in said]
    accepted, rejected, unsure = (own.count(word) for word in VERDICTS)
    return VerdictCounts(
        events=len(known),
        accepted=accepted,
        rejected=rejected,
        unsure=unsure,
        undecided=len(known) - len(own),
        frames=kinds.count("frame"),
        elsewhere=kinds.count("event") - len(own),
        confirmed=sum(one.confirmed is True for one in reading.verdicts.values()),
        refused=sum(one.confirmed is False for one in reading.verdicts.values()),
    )


def note_rows(reading: Reading, moments: Moments) -> list[tuple[str, str, str, str]]:
    """Return what each note is about, its text, who wrote it, and when."""
    rows: list[tuple[str, str, str, str]] = []
    for note in reading.notes:
        subject = parse_subject(note.subject)
        about = "Exam"
        if subject.kind == "frame":
            time = moments.text(subject.head, subject.first)
            about = f"Frame {moments.name(subject.head, subject.first)}, {time}"
        rows.append((about, written(note.text), plain(note.reader), when(note.time)))
    return rows
