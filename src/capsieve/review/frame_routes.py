"""Routes for frames: one image, several images in one response, thumbnails, the timeline."""

import struct
from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from capsieve.decisions.model import EntryError
from capsieve.review.errors import CancelledRequestError, reading_results
from capsieve.review.frame_service import FrameImage
from capsieve.review.state import (
    Chosen,
    FrameNumber,
    HeadNumber,
    Here,
    Responses,
    State,
    known_head,
)
from capsieve.review.timeline import timeline_bytes

router = APIRouter(tags=["Frames"])

_MAX_NUMBERS = 64
_HEADER = struct.Struct("<IIB3x")
_KINDS = ("", "jpeg", "png")

_BINARY: Responses = {200: {"content": {"application/octet-stream": {}}}}
_IMAGE: Responses = {200: {"content": {"image/jpeg": {}, "image/png": {}}}}
_Numbers = Annotated[
    str,
    Query(
        pattern=r"^[0-9]{1,10}(,[0-9]{1,10})*$",
        max_length=11 * _MAX_NUMBERS,
        description=f"Frame numbers separated by commas, at most {_MAX_NUMBERS}.",
    ),
]
_Width = Annotated[int, Query(ge=0, le=4096, description="Most columns of an image; 0: unchanged.")]
_Snap = Annotated[
    Literal["key"] | None,
    Query(description="key: instead of each frame, the nearest key frame at or before it."),
]


@router.get("/exams/{exam}/timeline", response_class=Response, responses=_BINARY)
def get_timeline(facts: Chosen, head: Annotated[int, Query(ge=0, lt=2**15)] = 0) -> Response:
    """Return columns of all frames of a head: time, score, flag, colour and others."""
    head = known_head(facts, head)
    with reading_results():
        content = timeline_bytes(facts.folder, head=head)
    return Response(content, media_type="application/octet-stream")


@router.get("/exams/{exam}/frames/{head}/{frame}", response_class=Response, responses=_IMAGE)
async def get_frame(
    facts: Chosen, app: Here, head: HeadNumber, frame: FrameNumber, width: _Width = 0
) -> Response:
    """Return one frame as an image file; X-Pixel-Hash is the hash of the scored pixels."""
    frames = app.frames
    scored = await frames.run(frames.pixel_hash, facts, known_head(facts, head), frame)
    headers = {"x-frame": f"{head}/{frame}"}
    if scored is not None:
        headers["x-pixel-hash"] = scored
    image = await frames.run(frames.image, facts, head, frame, width)
    return Response(image.content, media_type=f"image/{image.kind}", headers=headers)


@router.get("/exams/{exam}/frames/{head}", response_class=Response, responses=_BINARY)
async def get_frames(
    request: Request,
    facts: Chosen,
    app: Here,
    head: HeadNumber,
    numbers: _Numbers,
    width: _Width = 0,
    snap: _Snap = None,
) -> Response:
    """Return several frames in one response.

    For each frame, little-endian: its number (uint32), the number of bytes (uint32), the kind of
    the image (uint8: 0 cannot be shown, 1 JPEG, 2 PNG), three zeros, and the image file, or in
    UTF-8 the reason why the frame cannot be shown. With `snap=key` the numbers are those of the
    key frames, each of them once.
    """
    frames = app.frames
    wanted = _listed(numbers, facts.frames_by_head[known_head(facts, head)])
    if snap == "key":
        wanted = [await frames.run(frames.key_frame, facts, head, number) for number in wanted]
        wanted = list(dict.fromkeys(wanted))
    images: list[tuple[int, FrameImage]] = []
    for number in wanted:
        await _check_waiting(request, app)
        images.append((number, await frames.run(frames.image_or_none, facts, head, number, width)))
    return _pack(images)


@router.get("/exams/{exam}/thumbnails/{head}", response_class=Response, responses=_BINARY)
async def get_thumbnails(facts: Chosen, app: Here, head: HeadNumber, numbers: _Numbers) -> Response:
    """Return small images of several frames, in the form of the route for several frames."""
    wanted = _listed(numbers, facts.frames_by_head[known_head(facts, head)])
    return _pack(await app.frames.run(app.frames.thumbnails, facts, head, wanted))


def _pack(images: Iterable[tuple[int, FrameImage]]) -> Response:
    parts: list[bytes] = []
    for number, (kind, content) in images:
        parts += [_HEADER.pack(number, len(content), _KINDS.index(kind)), content]
    return Response(b"".join(parts), media_type="application/octet-stream")


def _listed(numbers: str, count: int) -> list[int]:
    """Return the numbers of a list that are frames of the head."""
    wanted = [int(number) for number in numbers.split(",")]
    if len(wanted) > _MAX_NUMBERS:
        raise EntryError(f"a response has at most {_MAX_NUMBERS} frames; ask for fewer")
    return [number for number in wanted if number < count]


async def _check_waiting(request: Request, app: State) -> None:
    """Stop if the browser has cancelled the request: it wants other frames now."""
    if app.ending.is_set() or await request.is_disconnected():
        raise CancelledRequestError
