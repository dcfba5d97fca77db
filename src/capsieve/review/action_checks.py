"""Checks of an action against the exam: its frames exist and have a picture, its events exist."""

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
    Spot,
    UnreachableError,
    parse_place,
)
from capsieve.errors import FileError
from capsieve.review.catalogue import ExamFacts
from capsieve.review.frame_service import FrameService


def check_contents(
    facts: ExamFacts, contents: Sequence[Request | Content], frames: FrameService
) -> None:
    """Refuse an action on frames or events that do not exist, or that could not be displayed.

    Raises
    ------
    EntryError
        A head, a frame or an event does not exist, the displayed frame is not in the event, or a
        frame could not be decoded.
    UnreachableError
        A frame cannot be read now; the action may be repeated.
    FileError
        The table of frames cannot be read.
    """
    for content in contents:
        spots = _displayed(content)
        check_spans(facts, [Span(head=at.head, first=at.frame, last=at.frame) for at in spots])
        if isinstance(content, Finding):
            check_spans(facts, content.spans)
            if content.missed and _is_flagged(flagged_events(facts.folder), content):
                raise EntryError(
                    "a polyp on a flagged frame was not missed: accept its event, or mark it "
                    "without `missed`"
                )
        elif isinstance(content, Decision) and content.subject.startswith("event:"):
            _check_event(facts, content)
        for spot in spots:
            _check_picture(facts, spot, frames)


def event_of_frame(events: Iterable[Event], head: int, frame: int) -> Event | None:
    """Return the event of a frame: the one that has it, or the shortest one around it.

    An unflagged frame between the first and the last frame of an event belongs to it.
    """
    around = [e for e in events if e.head == head and e.frames[0] <= frame <= e.frames[-1]]
    has = (event for event in around if frame in event.frames)
    return next(has, min(around, key=lambda e: e.frames[-1] - e.frames[0], default=None))


def _displayed(content: Request | Content) -> list[Spot]:
    """Return the frames that the reader looked at for a content."""
    if isinstance(content, Finding):
        return list(dict.fromkeys(spot for spot in (content.best, content.size_on) if spot))
    if isinstance(content, Landmark):
        return [Spot(head=content.head, frame=content.frame)]
    place = parse_place(content.subject) if isinstance(content, Decision | Note) else None
    if place is None:
        return []
    _, head, frame = place
    return [Spot(head=head, frame=content.frame if isinstance(content, Decision) else frame)]


def _check_picture(facts: ExamFacts, spot: Spot, frames: FrameService) -> None:
    """Refuse a frame without a picture: nobody saw it."""
    try:
        if frames.pixel_hash(facts, spot.head, spot.frame) is None:
            raise EntryError(
                f"frame {spot.frame} of head {spot.head} could not be decoded: it has no picture "
                "to decide on"
            )
        frames.image(facts, spot.head, spot.frame)
    except FileError as error:
        raise UnreachableError(str(error)) from error


def _is_flagged(events: Iterable[Event], finding: Finding) -> bool:
    return any(finding.shows(event.head, frame) for event in events for frame in event.frames)


def _check_event(facts: ExamFacts, decision: Decision) -> None:
    """Refuse a decision on an event that the exam does not have, or on a frame of another event."""
    events = flagged_events(facts.folder)
    event = next((each for each in events if each.subject == decision.subject), None)
    if event is None:
        raise EntryError(f"the exam {facts.exam} has no {decision.subject}; open the exam again")
    if event_of_frame(events, event.head, decision.frame) != event:
        raise EntryError(
            f"frame {decision.frame} was displayed, which is not in {decision.subject}; go to a "
            "frame of the event and decide again"
        )


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
