"""What a reading contains, as texts and rows of texts for its report."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from capsieve.decisions.agreement import Agreement
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
    Reopen,
    Signature,
    Spot,
    event_subject,
    parse_place,
    said,
)
from capsieve.decisions.reading import Reading
from capsieve.report.exam_tables import Event
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.text import DASH, clock, decimals, percent, plain, plural
from capsieve.report.timeline_scale import FrameTimes

if TYPE_CHECKING:
    from capsieve.decisions.progress import Progress

Row = dict[str, object]

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


def date_text(time: str) -> str:
    """Return a time as 1 March 2026, 12:00:07 UTC; unchanged if its zone is unknown."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    if moment.tzinfo is None:
        return time
    moment = moment.astimezone(UTC)
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M:%S} UTC"


def multiline(text: str) -> str:
    """Return a text of a reader with its line breaks and without other control characters."""
    return "\n".join(plain(line.replace("\t", " ")) for line in text.strip().splitlines())


def state_name(reading: Reading) -> str:
    """Return the state in capitals, for the stamp of the report."""
    return {"signed": "SIGNED", "in reading": "DRAFT"}.get(reading.state, "NOT READ")


def readers_text(facts: ReadingFacts) -> str:
    """Return the readers of a reading."""
    if facts.role == "consensus":
        return "consensus of two blind readings"
    if facts.workflow == "blind":
        return f"{plain(facts.reader)}, blind" if facts.reader else ""
    who = dict.fromkeys((entry.reader, entry.role) for entry in facts.entries)
    parts = []
    for role, verb in {
        "reader": "",
        "pre-reader": "pre-read by ",
        "validator": "validated by ",
    }.items():
        names = [plain(name) for name, of in who if of == role]
        parts += [verb + " and ".join(names)] if names else []
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Decisions by kind: on flagged events, on single frames, and on events the exam lacks."""

    events: int
    accepted: int
    rejected: int
    unsure: int
    undecided: int
    frames: int
    elsewhere: int


def decision_counts(reading: Reading, events: Iterable[Event]) -> DecisionCounts:
    """Count the decisions of a reading."""
    known = {event_subject(each.head, each.best_frame) for each in events}
    on_events = [
        said(entry, Decision).decision
        for subject, entry in reading.decisions.items()
        if subject in known
    ]
    kinds = [subject.partition(":")[0] for subject in reading.decisions]
    accepted, rejected, unsure = (on_events.count(word) for word in DECISIONS)
    return DecisionCounts(
        events=len(known),
        accepted=accepted,
        rejected=rejected,
        unsure=unsure,
        undecided=len(known) - len(on_events),
        frames=kinds.count("frame"),
        elsewhere=kinds.count("event") - len(on_events),
    )


def summary_texts(facts: ReadingFacts, counts: DecisionCounts) -> list[str]:
    """Return the sentences at the top of the report."""
    flagged = f"The detector flagged {plural(counts.events, 'event')}"
    if facts.reading.state == "unread":
        return ["No decisions yet.", f"{flagged}."]
    parts = [
        f"{number} {words}"
        for number, words in (
            (counts.accepted, DECISIONS["accept"]),
            (counts.rejected, DECISIONS["reject"]),
            (counts.unsure, DECISIONS["unsure"]),
            (counts.undecided, "undecided"),
        )
        if number
    ]
    clean = facts.reading.cleanliness
    lines = [
        *_finding_texts([said(each, Finding) for each in facts.reading.findings]),
        f"{flagged}{': ' if parts else ''}{', '.join(parts)}.",
        f"Cleanliness is {clean.words} (CC-CLEAR {clean.sum} of 9)."
        if clean.words
        else "Cleanliness was not graded in all three segments.",
    ]
    if facts.progress is not None:
        lines += _progress_texts(facts.progress)
    if facts.to_validate:
        lines.append(f"To validate: {plural(facts.to_validate, 'pre-reader decision')}.")
    return lines


def _progress_texts(progress: "Progress") -> list[str]:
    """Return what was offered, decided and displayed."""
    share = f" ({percent(progress.displayed / progress.frames)})" if progress.frames else ""
    lines = [f"Displayed: {progress.displayed:,} of {plural(progress.frames, 'frame')}{share}."]
    if progress.events:
        lines.append(
            f"Offered: {progress.offered:,} of {plural(progress.events, 'event')}; "
            f"{progress.opened:,} of them were opened and {progress.decided:,} decided."
        )
    if progress.to_read:
        lines.append(
            f"Frames of the reading list: {progress.to_read_displayed:,} of {progress.to_read:,} "
            f"were displayed and {progress.to_read_viewed:,} viewed."
        )
    return lines


def _finding_texts(findings: list[Finding]) -> list[str]:
    if not findings:
        return ["No finding was described."]
    sizes = Counter(finding.size for finding in findings)
    parts = [f"{sizes[size]} {words}" for size, words in reversed(SIZES.items()) if sizes[size]]
    parts += [f"{sizes[None]} without a size"] if sizes[None] else []
    listed = ", ".join(parts) if len(findings) > 1 else parts[0].removeprefix("1 ")
    urgent = sum(finding.urgent for finding in findings)
    missed = sum(finding.missed for finding in findings)
    lines = [f"{plural(len(findings), 'finding')}: {listed}."]
    lines += [f"Urgent: {urgent}."] if urgent else []
    lines += [f"Missed by the detector: {missed}."] if missed else []
    return lines


def transit_text(reading: Reading, times: FrameTimes) -> str:
    """Return the time of the capsule in the colon, or why it is unknown."""
    marks = [reading.landmarks.get(name) for name in ("first-colon", "last-colon")]
    if None in marks:
        return "not known: first and last frame of the colon are not both marked"
    first, last = (said(each, Landmark) for each in marks if each is not None)
    start, end = (times.seconds(mark.head, mark.frame) for mark in (first, last))
    if start is None or end is None:
        return f"not known: {times.scale.note or 'the times of these frames are unknown'}"
    if end < start:
        return "not known: the last frame of the colon is marked before the first"
    return f"{clock(end - start)} (h:mm:ss)"


def findings_by_time(findings: Iterable[Entry], times: FrameTimes) -> list[Entry]:
    """Return findings in the order of their best frames, which gives them their numbers."""

    def place(entry: Entry) -> tuple[float, int, int]:
        best = said(entry, Finding).best
        position = times.position(best.head, best.frame)
        return (float("inf") if position is None else position, best.head, best.frame)

    return sorted(findings, key=place)


def finding_row(entry: Entry, times: FrameTimes, *, role: bool) -> Row:
    """Return the texts of a finding; `role` adds that of the reader."""
    finding = said(entry, Finding)
    size_on, best = finding.size_on, (finding.best.head, finding.best.frame)
    return {
        "time": times.clock(*best),
        "frame": times.name(*best),
        "frames": sum(span.last + 1 - span.first for span in finding.spans),
        "segment": SEGMENTS.get(finding.segment or "", "not stated"),
        "size": SIZES.get(finding.size or "", "not stated"),
        "size_frame": "" if size_on is None else times.name(size_on.head, size_on.frame),
        "paris": PARIS.get(finding.paris or "", "not stated"),
        "urgent": finding.urgent,
        "missed": finding.missed,
        "note": multiline(finding.note),
        "by": f"{plain(entry.reader)} ({entry.role})" if role else plain(entry.reader),
    }


def spot_of(entry: Entry) -> Spot:
    """Return the frame that a reader decided on: of an event, the displayed one."""
    place = parse_place(entry.subject)
    assert place is not None
    return Spot(head=place[1], frame=said(entry, Decision).frame)


def unsure_decisions(reading: Reading, times: FrameTimes) -> list[Entry]:
    """Return the decisions "unsure" on events and frames, in the order of the exam."""

    def place(entry: Entry) -> tuple[float, int, int]:
        spot = spot_of(entry)
        position = times.position(spot.head, spot.frame)
        return (float("inf") if position is None else position, spot.head, spot.frame)

    entries = reading.decisions.values()
    return sorted(
        (each for each in entries if said(each, Decision).decision == "unsure"), key=place
    )


def unsure_row(entry: Entry, times: FrameTimes, *, role: bool) -> Row:
    """Return the texts of a decision "unsure"."""
    spot = spot_of(entry)
    return {
        "time": times.clock(spot.head, spot.frame),
        "frame": times.name(spot.head, spot.frame),
        "kind": entry.subject.partition(":")[0],
        "by": f"{plain(entry.reader)} ({entry.role})" if role else plain(entry.reader),
    }


def landmark_rows(reading: Reading, times: FrameTimes) -> list[tuple[str, str, str]]:
    """Return name, time and frame of every landmark, also of those that are not marked."""
    rows: list[tuple[str, str, str]] = []
    for name, words in LANDMARKS.items():
        entry, time, frame = reading.landmarks.get(name), "", "not marked"
        if entry is not None:
            mark = said(entry, Landmark)
            time, frame = times.clock(mark.head, mark.frame), times.name(mark.head, mark.frame)
        rows.append((f"{words[:1].upper()}{words[1:]}", time, frame))
    return rows


def cleanliness_rows(reading: Reading) -> list[tuple[str, str, str]]:
    """Return segment, grade and meaning of the grade."""
    grades = reading.cleanliness.segments
    return [
        (
            f"{words[:1].upper()}{words[1:]}",
            DASH if (grade := grades[name]) is None else str(grade),
            "not graded" if grade is None else CLEANLINESS_GRADES[grade],
        )
        for name, words in CLEANLINESS_SEGMENTS.items()
    ]


def note_rows(reading: Reading, times: FrameTimes) -> list[tuple[str, str, str, str]]:
    """Return subject, text, reader and time of every note."""
    rows: list[tuple[str, str, str, str]] = []
    for entry in reading.notes:
        place = parse_place(entry.subject)
        about = "Exam"
        if place is not None:
            about = f"Frame {times.name(*place[1:])}, {times.clock(*place[1:])}"
        text = multiline(said(entry, Note).text)
        rows.append((about, text, plain(entry.reader), date_text(entry.time)))
    return rows


def status(facts: ReadingFacts) -> Row:
    """Return what to know of a reading before anything else.

    `kind` ("unread", "draft", "broken" or "signed") selects the style of the page; `title`, `text`
    and `problems` are those of a draft or an invalid signature, and `newer` is about a newer
    revision.
    """
    reading, opened = facts.reading, facts.reopened
    newer = ""
    if opened is not None:
        reason = multiline(opened.content.reason) if isinstance(opened.content, Reopen) else ""
        newer = (
            f"This is revision {reading.revision} of {facts.latest}: {plain(opened.reader)} "
            f"reopened the exam on {date_text(opened.time)}. Reason: {reason}"
        )
    kind, title, text, problems = "signed", "", "", ()
    if reading.signature is not None and (problems := facts.invalid(reading.signature)):
        kind, title = "broken", "The signature is not valid"
        text = "This report differs from the signed one. Do not use it until this is resolved."
    elif reading.state == "unread":
        kind = "unread"  # the stamp is enough
    elif reading.signature is None:
        kind, title, problems = "draft", "Draft", facts.misfits
        text = "This reading is not signed and can still change. Do not use it as a result."
    return {"kind": kind, "title": title, "text": text, "problems": problems, "newer": newer}


def signature_rows(facts: ReadingFacts) -> list[Row]:
    """Return the signatures of all revisions up to this one."""
    rows: list[Row] = []
    for entry in facts.reading.signatures:
        content = entry.content if isinstance(entry.content, Signature) else None
        role = "" if facts.workflow == "single" else f" ({entry.role})"
        lines = [] if content is None else [content.statement]
        lines += [] if content is None else _reason_texts(content.reasons)
        rows.append(
            {
                "revision": entry.revision,
                "signed": f"{plain(entry.reader)}{role}, {date_text(entry.time)}",
                "hash": "" if content is None else content.hash,
                "statement": multiline("\n".join(lines)),
                "problems": facts.invalid(entry),
            }
        )
    return rows


def _reason_texts(reasons: Mapping[str, str]) -> list[str]:
    """Return each reason once, with what was left open for it."""
    lines: list[str] = []
    for reason in dict.fromkeys(reasons.values()):
        keys = [key for key, given in reasons.items() if given == reason]
        events = sum(key.startswith("event:") for key in keys)
        parts = [f"{plural(events, 'event')} without a decision"] if events else []
        parts += [key.replace("-", " ") for key in keys if not key.startswith("event:")]
        lines.append(f"Left open: {', '.join(parts)}. Reason: {reason}")
    return lines


def kappa_text(found: Agreement) -> str:
    """Return the agreement of two blind readers."""
    if found.kappa is None:
        return f"Cohen's kappa is not defined: {found.reason}."
    words = f"Cohen's kappa is {decimals(found.kappa, 2)}"
    if found.interval is None:
        return f"{words}, without an interval: {found.reason}."
    low, high = (decimals(each, 2) for each in found.interval)
    return f"{words} (95 % interval {low} to {high})."


def difference_rows(agreement: Agreement, times: FrameTimes) -> list[tuple[str, str, str, str]]:
    """Return place, time and both decisions of every difference between two readings."""
    rows: list[tuple[str, str, str, str]] = []
    for one in agreement.differences:
        kind = one.subject.partition(":")[0].capitalize()
        where = f"{kind}, frame {times.name(one.head, one.first)}"
        if one.last != one.first:
            where = f"{kind}, frames {one.first:,} to {times.name(one.head, one.last)}"
        words = [DECISIONS.get(word, word) for word in (one.a, one.b)]
        rows.append((where, times.clock(one.head, one.first), words[0], words[1]))
    return rows
