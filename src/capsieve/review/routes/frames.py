"""Frames: one by one, in packs, small, and as columns of the timeline."""

from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from capsieve.review import messages
from capsieve.review.decisions.refusals import EntryError
from capsieve.review.frames import MEDIA_TYPES, MOST_TOGETHER, timeline_bytes
from capsieve.review.refusals import NotThereError, NotWantedError
from capsieve.review.routes.given import (
    Chosen,
    FrameNumber,
    HeadNumber,
    Here,
    Responses,
    Wanted,
    known_head,
    reading_results,
)

__all__ = ["router"]

router = APIRouter(tags=["Frames"])

_BINARY: Responses = {200: {"content": {"application/octet-stream": {}}}}
_PICTURE: Responses = {
    200: {"content": {"image/jpeg": {}, "image/png": {}}},
    304: {"description": "The page has it."},
}
_LIST = Query(
    pattern=r"^[0-9]{1,10}(,[0-9]{1,10})*$",
    max_length=11 * MOST_TOGETHER,
    description=f"Numbers with commas between, {MOST_TOGETHER} at most.",
)


@router.get("/exams/{exam}/preparing")
def get_preparing(facts: Chosen, room: Here) -> messages.Preparing:
    """How far the index of the exam is; asking begins it. Frames come before, but slowly."""
    found = room.frames.prepare(facts)
    return messages.Preparing(state=found.state, words=found.words, done=found.done, of=found.of)


@router.get("/exams/{exam}/timeline", response_class=Response, responses=_BINARY)
def get_timeline(facts: Chosen, head: Annotated[int, Query(ge=0, lt=2**15)] = 0) -> Response:
    """Every frame of a head as plain columns: time, score, label, colour, ..."""
    head = known_head(facts, head)
    with reading_results():
        content = timeline_bytes(facts.folder, head=head)
    return Response(content, media_type="application/octet-stream")


@router.get("/exams/{exam}/frames/{head}/{frame}", response_class=Response, responses=_PICTURE)
def get_frame(
    facts: Chosen,
    room: Here,
    head: HeadNumber,
    frame: FrameNumber,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """One frame, exactly the one that was scored; X-Sha1 is that of its pixels."""
    exam = room.frames.frames(facts)
    sha1 = exam.digest(known_head(facts, head), frame)
    headers = {"etag": f'"{sha1}"', "x-sha1": sha1, "x-frame": f"{head}/{frame}"}
    if if_none_match == headers["etag"]:
        return Response(status_code=304, headers=headers)
    kind, content = exam.encoded(head, frame)
    if not kind:
        raise NotThereError(f"frame {frame} of head {head} cannot be shown")
    return Response(content, media_type=MEDIA_TYPES[kind], headers=headers)


@router.get("/exams/{exam}/frames/{head}", response_class=Response, responses=_BINARY)
def get_pack(
    facts: Chosen,
    room: Here,
    head: HeadNumber,
    still_wanted: Wanted,
    first: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
    count: Annotated[int, Query(ge=1, le=MOST_TOGETHER)] = 1,
    step: Annotated[int, Query(ge=-1, le=1)] = 1,
    numbers: Annotated[str | None, _LIST] = None,
) -> Response:
    """Several frames in one answer: a run from `first`, or a list of `numbers`.

    For each frame, little-endian: number (uint32), bytes (uint32), kind (uint8: 0 nothing, 1 JPEG,
    2 PNG, 3 WebP), three zeros, and the bytes.
    """
    exam = room.frames.frames(facts)
    known_head(facts, head)
    if numbers is not None:
        wanted = _listed(numbers, facts.frames_by_head[head])
    elif first is not None and step:
        wanted = exam.numbers(head, first, count, step)
    else:
        raise EntryError("say which frames: first and count, with a step of 1 or -1, or numbers")
    content = exam.pack(head, _while_wanted(wanted, still_wanted))
    return Response(content, media_type="application/octet-stream")


@router.get("/exams/{exam}/thumbnails/{head}", response_class=Response, responses=_BINARY)
def get_thumbnails(
    facts: Chosen,
    room: Here,
    head: HeadNumber,
    still_wanted: Wanted,
    numbers: Annotated[str, _LIST],
) -> Response:
    """Small pictures of several frames, in the form of a pack."""
    exam = room.frames.frames(facts)
    wanted = _listed(numbers, facts.frames_by_head[known_head(facts, head)])
    content = exam.thumbnails(head, _while_wanted(wanted, still_wanted))
    return Response(content, media_type="application/octet-stream")


def _while_wanted(numbers: list[int], still_wanted: Callable[[], bool]) -> Iterator[int]:
    """Yield frames one by one, until whoever asked has gone."""
    for number in numbers:
        if not still_wanted():
            raise NotWantedError
        yield number


def _listed(numbers: str, frames: int) -> list[int]:
    """Return the frames of a list, as far as there are such frames."""
    wanted = [int(number) for number in numbers.split(",")]
    if len(wanted) > MOST_TOGETHER:
        raise EntryError(f"{MOST_TOGETHER} frames at most come in one answer")
    return [number for number in wanted if number < frames]
