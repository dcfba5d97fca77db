"""Checks of the frames that an action names: they exist and belong to the decided event."""

from collections.abc import Iterable
from typing import Any

from capsieve.review.catalogue import ExamFacts
from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.subjects import parse_subject
from capsieve.review.exam_events import flagged_events
from capsieve.review.messages import Action

__all__ = ["check_speaks_of", "check_there"]


def check_speaks_of(facts: ExamFacts, action: Action) -> None:
    """Refuse an action on frames that do not exist, or on a frame of another event.

    Values of other types than integers are refused by the check of the entry itself.

    Raises
    ------
    EntryError
        A head or a frame does not exist, or the shown frame is in another event or in none.
    FileError
        The table of frames cannot be read.
    """
    if action.kind == "undo":
        return
    subject = parse_subject(action.subject)
    if subject.kind in ("frame", "event"):
        check_there(facts, subject.head, (subject.first, subject.last))
    content = action.content
    if action.kind == "verdict" and subject.kind == "event" and content.get("verdict") is not None:
        _check_event(facts, action.subject, content.get("frame"))
    if action.kind in ("finding", "landmark") and "head" in content:
        frames = content.get("frames")
        named = [content.get(name) for name in ("frame", "best_frame", "size_frame")]
        check_there(facts, content["head"], [*named, *(frames if isinstance(frames, list) else ())])


def _check_event(facts: ExamFacts, subject: str, shown: Any) -> None:
    """Refuse a decision about an event that the screening does not have, or on another frame.

    Withdrawing a decision needs no event: it may have been made on an earlier screening.
    """
    event = next((each for each in flagged_events(facts.folder) if each.subject == subject), None)
    if event is None:
        raise EntryError(
            f"the exam {facts.exam} has no {subject} in this screening; open the exam again"
        )
    if isinstance(shown, int) and shown not in event.frames:
        raise EntryError(
            f"frame {shown} was shown, which is not in {subject}; go to a frame of the event and "
            "decide it again"
        )


def check_there(facts: ExamFacts, head: Any, frames: Iterable[Any]) -> None:
    """Refuse frames that do not exist.

    Raises
    ------
    EntryError
        A head or a frame does not exist.
    """
    if not isinstance(head, int):
        return
    if head not in facts.frames_by_head:
        raise EntryError(f"the exam {facts.exam} has no head {head}")
    count = facts.frames_by_head[head]
    for frame in frames:
        if isinstance(frame, int) and not 0 <= frame < count:
            raise EntryError(
                f"head {head} of {facts.exam} has no frame {frame}; they are numbered 0 to "
                f"{count - 1}"
            )
