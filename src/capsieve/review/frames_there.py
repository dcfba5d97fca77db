"""Checks of an action against the exam: frames and events that it names exist."""

from collections.abc import Iterable, Sequence

from capsieve.decisions.exam import Event, flagged_events
from capsieve.decisions.model import (
    Content,
    Decision,
    EntryError,
    Finding,
    Landmark,
    Note,
    Request,
    Span,
    parse_place,
)
from capsieve.review.catalogue import ExamFacts


def check_contents(facts: ExamFacts, contents: Sequence[Request | Content]) -> None:
    """Refuse an action on frames or events that do not exist, or on a frame of another event.

    Raises
    ------
    EntryError
        A head, a frame or an event does not exist, or the displayed frame is not in the event.
    FileError
        The table of frames cannot be read.
    """
    for content in contents:
        if isinstance(content, Finding):
            check_spans(facts, content.spans)
            if content.missed and _is_flagged(flagged_events(facts.folder), content):
                raise EntryError(
                    "a polyp on a flagged frame was not missed: accept its event, or mark it "
                    "without `missed`"
                )
        elif isinstance(content, Landmark):
            check_spans(facts, [_one(content.head, content.frame)])
        elif isinstance(content, Decision | Note):
            place = parse_place(content.subject)
            if place is not None:
                check_spans(facts, [_one(*place[1:])])
        if isinstance(content, Decision) and content.subject.startswith("event:"):
            _check_event(facts, content)


def _is_flagged(events: Iterable[Event], finding: Finding) -> bool:
    return any(finding.shows(event.head, frame) for event in events for frame in event.frames)


def _check_event(facts: ExamFacts, decision: Decision) -> None:
    """Refuse a decision on an event that the exam does not have, or on a frame of another event."""
    found = (each for each in flagged_events(facts.folder) if each.subject == decision.subject)
    event = next(found, None)
    if event is None:
        raise EntryError(f"the exam {facts.exam} has no {decision.subject}; open the exam again")
    if decision.frame not in event.frames:
        raise EntryError(
            f"frame {decision.frame} was displayed, which is not in {decision.subject}; go to a "
            "frame of the event and decide again"
        )


def _one(head: int, frame: int) -> Span:
    return Span(head=head, first=frame, last=frame)


def check_spans(facts: ExamFacts, spans: Iterable[Span]) -> None:
    """Refuse frames that do not exist.

    Raises
    ------
    EntryError
        A head or a frame does not exist.
    """
    for span in spans:
        if span.head not in facts.frames_by_head:
            raise EntryError(f"the exam {facts.exam} has no head {span.head}")
        count = facts.frames_by_head[span.head]
        if span.last >= count:
            raise EntryError(
                f"head {span.head} of {facts.exam} has no frame {span.last}; they are numbered 0 "
                f"to {count - 1}"
            )
