"""What routes are given: the room, who asks, and the exam that the address names."""

from typing import Annotated, Any

from fastapi import Depends, Path, Request

from capsieve.review.catalogue import ExamFacts
from capsieve.review.refusals import NotThereError
from capsieve.review.room import ReadingRoom
from capsieve.review.sessions import Reader

__all__ = ["Chosen", "FrameNumber", "HeadNumber", "Here", "Responses", "Who", "known_head"]

Responses = dict[int | str, dict[str, Any]]
"""What a route answers beside its message, for the documentation."""

FrameNumber = Annotated[int, Path(ge=0, lt=2**31, description="From 0.")]
HeadNumber = Annotated[int, Path(ge=0, lt=2**15, description="Which camera.")]


async def the_room(request: Request) -> ReadingRoom:
    """Return the room."""
    return request.app.state.room


async def the_reader(request: Request) -> Reader:
    """Return who asks; the gate has let them in."""
    return request.state.reader


Here = Annotated[ReadingRoom, Depends(the_room)]
Who = Annotated[Reader, Depends(the_reader)]


def the_exam(exam: str, room: Here) -> ExamFacts:
    """Look up the exam that the address names."""
    facts = room.catalogue.find(exam)
    if facts is None:
        raise NotThereError(f"there is no exam {exam!r} in this room")
    if not facts.readable:
        raise NotThereError(f"the exam {exam} cannot be read: {facts.problems[0]}")
    return facts


Chosen = Annotated[ExamFacts, Depends(the_exam)]


def known_head(facts: ExamFacts, head: int) -> int:
    """Return a head that the exam has.

    Raises
    ------
    NotThereError
        It has no such head.
    """
    if head not in facts.heads:
        heads = " and ".join(map(str, facts.heads))
        raise NotThereError(f"the exam {facts.exam} has no head {head}; it has {heads}")
    return head
