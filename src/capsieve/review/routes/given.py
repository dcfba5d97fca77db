"""What routes are given: the room, who asks, and the exam that the address names."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Depends, Path, Request, Response
from pydantic import TypeAdapter
from xxhash import xxh3_128_hexdigest

from capsieve.decisions.model import UnreachableError
from capsieve.errors import FileError
from capsieve.review.catalogue import ExamFacts
from capsieve.review.refusals import NotThereError
from capsieve.review.room import ReadingRoom
from capsieve.review.sessions import Reader

__all__ = [
    "UNCHANGED",
    "Chosen",
    "FrameNumber",
    "HeadNumber",
    "Here",
    "Responses",
    "Wanted",
    "Who",
    "known_head",
    "reading_results",
    "unless_known",
]

Responses = dict[int | str, dict[str, Any]]
"""What a route answers beside its message, for the documentation."""

UNCHANGED: Responses = {304: {"description": "The page has this message."}}

FrameNumber = Annotated[int, Path(ge=0, lt=2**31, description="From 0.")]
HeadNumber = Annotated[int, Path(ge=0, lt=2**15, description="Which camera.")]


async def the_room(request: Request) -> ReadingRoom:
    """Return the room."""
    return request.app.state.room


async def the_reader(request: Request) -> Reader:
    """Return who asks; the gate has let them in."""
    return request.state.reader


async def still_wanted(
    request: Request, room: Annotated[ReadingRoom, Depends(the_room)]
) -> Callable[[], bool]:
    """Return what tells a working thread whether somebody waits for the answer.

    A page that leafs on calls off what it asked for. Without this, the server would go on with all
    of it, one frame after the other, before it came to the frame that is on the screen.
    """
    loop = asyncio.get_running_loop()

    def wanted() -> bool:
        if room.ending.is_set():
            return False
        return not asyncio.run_coroutine_threadsafe(request.is_disconnected(), loop).result()

    return wanted


Here = Annotated[ReadingRoom, Depends(the_room)]
Who = Annotated[Reader, Depends(the_reader)]
Wanted = Annotated[Callable[[], bool], Depends(still_wanted)]


def the_exam(exam: str, room: Here) -> ExamFacts:
    """Look up the exam that the address names."""
    facts = room.catalogue.find(exam)
    if facts is None:
        raise NotThereError(f"there is no exam {exam!r} in this room")
    if not facts.readable:
        raise UnreachableError(f"the exam {exam} cannot be read: {facts.problems[0]}")
    return facts


Chosen = Annotated[ExamFacts, Depends(the_exam)]


@contextmanager
def reading_results() -> Iterator[None]:
    """Tell that an exam which is there cannot be read just now, where its files cannot.

    Raises
    ------
    UnreachableError
        A table or the record could not be read.
    """
    try:
        yield
    except FileError as error:
        raise UnreachableError(str(error)) from error


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


def unless_known(request: Request, messages: TypeAdapter[Any], value: Any) -> Response:
    """Return a message with an ETag; status 304 without it if the page has this message.

    The ETag is a hash of the message, so it says nothing that the message does not say.
    """
    content = messages.dump_json(value)
    headers = {"etag": f'"{xxh3_128_hexdigest(content)}"'}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/json", headers=headers)
