"""What others do, as it happens: server-sent events.

Every half second the database is asked for new numbers: entries of another process are noticed the
same way as those of this one.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from capsieve.review.access import shown_secret
from capsieve.review.decisions.log import changes_after, last_number
from capsieve.review.room import ReadingRoom
from capsieve.review.routes.given import Here

__all__ = ["router"]

router = APIRouter(tags=["Reading"])

_STEP = 0.5  # seconds between two looks
_PULSE = 15.0  # seconds after which something is sent in any case, so that the line stays open
_MOST = 1000


@router.get(
    "/changes",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def get_changes(
    request: Request,
    room: Here,
    after: Annotated[
        int | None, Query(ge=0, description="The last number that is known; now by default.")
    ] = None,
    last_event_id: Annotated[int | None, Header(ge=0)] = None,
) -> StreamingResponse:
    """Number and exam of every new entry, as server-sent events."""
    start = last_event_id if last_event_id is not None else after
    if start is None:
        start = await run_in_threadpool(last_number, room.database)
    return StreamingResponse(
        _events(request, room, start),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},
    )


async def _events(request: Request, room: ReadingRoom, last: int) -> AsyncIterator[str]:
    """Yield changes until the reader leaves, the session ends, or the server does."""
    secret = shown_secret(request.scope, room.door.cookie) or ""
    yield f": from {last}\n\n"
    quiet = 0.0
    while not room.ending.is_set() and room.door.sessions.reader(secret, touch=False) is not None:
        changes = await run_in_threadpool(changes_after, room.database, last, most=_MOST)
        for number, exam in changes:
            last = number
            yield f"id: {number}\ndata: {json.dumps({'number': number, 'exam': exam})}\n\n"
        quiet = 0.0 if changes else quiet + _STEP
        if quiet >= _PULSE:
            quiet = 0.0
            yield ": here\n\n"
        if len(changes) < _MOST:
            await asyncio.sleep(_STEP)
