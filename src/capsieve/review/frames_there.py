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
    shown = content.get("frame")
    if action.kind == "verdict" and subject.kind == "event" and isinstance(shown, int):
        events = flagged_events(facts.folder)
        if not any(each.subject == action.subject and shown in each.frames for each in events):
            raise EntryError(
                f"frame {shown} was shown, which is not in {action.subject}; go to a frame of the "
                "event and decide it again"
            )
    if action.kind in ("finding", "landmark") and "head" in content:
        frames = content.get("frames")
        named = [content.get(name) for name in ("frame", "best_frame", "size_frame")]
        check_there(facts, content["head"], [*named, *(frames if isinstance(frames, list) else ())])


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
