"""Decisions as labels that `capsieve evaluate` and `capsieve train` read.

Only what a reader said becomes a label. An accepted event makes its flagged frames polyps, a
rejected one makes them normal; a frame's own verdict beats its event's; the frames of a finding are
polyps. Unsure, undecided, refused by a validator: no label. Heads never speak for each other.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from capsieve.errors import ParameterError
from capsieve.review.decisions.csv_text import csv_text
from capsieve.review.decisions.reading import Finding, Reading, Verdict
from capsieve.review.decisions.subjects import FlaggedEvent, parse_subject

__all__ = ["LABEL_COLUMNS", "Label", "Labels", "agreed_labels", "labels_csv", "reading_labels"]

LABEL_COLUMNS = ("exam", "head", "frame", "label", "polyp", "reader")

Place = tuple[int, int]
"""Head and frame."""

Seen = Mapping[int, Mapping[int, float]]
"""Milliseconds by head and frame; see :func:`~capsieve.review.decisions.seen.add_up`."""


@dataclass(frozen=True, slots=True)
class Label:
    """What a reader says of a frame.

    Attributes
    ----------
    label
        "polyp" or "normal".
    polyps
        The findings that it shows; empty for normal frames, and where the reader named none.
    reader
        Who said so.
    """

    label: str
    polyps: tuple[str, ...]
    reader: str


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of an exam.

    Attributes
    ----------
    exam
        The exam.
    frames
        By head and frame.
    problems
        What was said and could not become a label, one sentence each.
    """

    exam: str
    frames: Mapping[Place, Label] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def reading_labels(
    reading: Reading,
    *,
    exam: str,
    events: Iterable[FlaggedEvent],
    seen: Seen | None = None,
    least_ms: float | None = None,
) -> Labels:
    """Return the labels that a reading gives.

    Parameters
    ----------
    reading
        The reading.
    exam
        Its exam, as the screening names it.
    events
        All events of the screening.
    seen, least_ms
        Where both are given and the exam is signed: frames that stood on the screen for this long
        or longer, and lie in no finding and no event that was not rejected, are normal too. A frame
        between the first and the last one of a finding or event lies in it, flagged or not.

    Raises
    ------
    ParameterError
        `least_ms` is not above 0, or comes without `seen`.
    """
    events = list(events)
    standing = {
        subject: one for subject, one in reading.verdicts.items() if one.confirmed is not False
    }
    findings = [one for one in reading.findings if one.confirmed is not False]
    known = {finding.id for finding in findings}
    own = {
        (place.head, place.first): one
        for subject, one in reading.verdicts.items()
        if (place := parse_subject(subject)).kind == "frame"
    }
    frames: dict[Place, Label] = {}
    for event in events:
        verdict = standing.get(event.subject)
        for frame in event.frames:
            if verdict is not None:
                _say(frames, (event.head, frame), verdict, known)
    for place, verdict in own.items():
        event_polyps = frames[place].polyps if place in frames else ()
        frames.pop(place, None)
        if verdict.confirmed is not False:
            _say(frames, place, verdict, known, event_polyps)
    problems = _add_findings(frames, findings, own) + _unknown_events(reading, events)
    if least_ms is not None:
        if seen is None or not least_ms > 0:
            raise ParameterError(
                "least_ms", "frames that were merely seen need the ledger, and a time above 0"
            )
        if reading.signature is None:
            problems.append("the exam is not signed, so frames that were merely seen are left out")
        else:
            _add_seen(frames, reading, events, seen, least_ms, own)
    return Labels(exam, dict(sorted(frames.items())), tuple(problems))


def _say(
    frames: dict[Place, Label],
    place: Place,
    verdict: Verdict,
    known: set[str],
    polyps: tuple[str, ...] = (),
) -> None:
    if verdict.verdict == "accept":
        named = (verdict.finding,) if verdict.finding in known and verdict.finding else polyps
        frames[place] = Label("polyp", named, verdict.reader)
    elif verdict.verdict == "reject":
        frames[place] = Label("normal", (), verdict.reader)


def _add_findings(
    frames: dict[Place, Label], findings: Sequence[Finding], own: Mapping[Place, Verdict]
) -> list[str]:
    """Label the frames of findings; a frame whose own verdict contradicts has no label."""
    contrary: set[Place] = set()
    found: dict[Place, list[Finding]] = {}
    for finding in findings:
        for frame in finding.frames:
            place = (finding.head, frame)
            if place in own and _contradicts(own[place]):
                contrary.add(place)
            else:
                found.setdefault(place, []).append(finding)
    for place, those in found.items():
        polyps = tuple(sorted({finding.id for finding in those}))
        frames[place] = Label("polyp", polyps, those[0].reader)
    for place in contrary:
        frames.pop(place, None)
    return [
        f"a finding is seen on frame {frame} of head {head}, and the frame's own verdict differs: "
        "it has no label"
        for head, frame in sorted(contrary)
    ]


def _contradicts(verdict: Verdict) -> bool:
    return verdict.verdict != "accept" and verdict.confirmed is not False


def _unknown_events(reading: Reading, events: Sequence[FlaggedEvent]) -> list[str]:
    known = {event.subject for event in events}
    return [
        f"{subject} is no event of this screening: what was said of it gives no labels"
        for subject in reading.verdicts
        if parse_subject(subject).kind == "event" and subject not in known
    ]


def _add_seen(
    frames: dict[Place, Label],
    reading: Reading,
    events: Sequence[FlaggedEvent],
    seen: Seen,
    least_ms: float,
    own: Mapping[Place, Verdict],
) -> None:
    """Label frames normal that were looked at, and that nobody said anything of."""
    assert reading.signature is not None
    verdicts = reading.verdicts
    kept = [
        (event.head, event.frames[0], event.frames[-1])
        for event in events
        if not _rejected(verdicts.get(event.subject))
    ]
    # Also findings that the validator refused: what the two differ about is no plain frame.
    kept += [(one.head, one.frames[0], one.frames[-1]) for one in reading.findings]
    for head, of_head in seen.items():
        covered = _covered((first, last) for found, first, last in kept if found == head)
        for frame, shown in of_head.items():
            place = (head, frame)
            if shown < least_ms or place in frames or place in own:
                continue
            if not covered(frame):
                frames[place] = Label("normal", (), reading.signature.reader)


def _covered(spans: Iterable[tuple[int, int]]) -> Callable[[int], bool]:
    """Return whether a frame lies in one of the spans; they may lie in each other."""
    firsts: list[int] = []
    lasts: list[int] = []  # the largest so far: whatever begins before a frame may reach it
    for first, last in sorted(spans):
        firsts.append(first)
        lasts.append(max(last, lasts[-1]) if lasts else last)

    def covered(frame: int) -> bool:
        before = bisect_right(firsts, frame)
        return before > 0 and frame <= lasts[before - 1]

    return covered


def _rejected(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.verdict == "reject" and verdict.confirmed is not False


def agreed_labels(a: Labels, b: Labels) -> Labels:
    """Return the labels on which two blind readings agree.

    Of a frame that both call a polyp, the first reading says which polyps it shows.
    """
    frames: dict[Place, Label] = {}
    for place, label in a.frames.items():
        other = b.frames.get(place)
        if other is not None and other.label == label.label:
            frames[place] = Label(label.label, label.polyps, f"{label.reader} and {other.reader}")
    problems = (*a.problems, *b.problems)
    return Labels(a.exam, dict(sorted(frames.items())), tuple(dict.fromkeys(problems)))


def labels_csv(labels: Iterable[Labels]) -> str:
    """Return the labels of exams; a frame that shows several polyps has a row for each."""
    return csv_text(
        LABEL_COLUMNS,
        (
            (one.exam, head, frame, label.label, polyp, label.reader)
            for one in labels
            for (head, frame), label in one.frames.items()
            for polyp in label.polyps or (None,)
        ),
    )
