"""What others do, as it happens: server-sent events.

Every half second the database is asked for new numbers: entries of another process are noticed the
same way as those of this one.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from capsieve.decisions.log import heard_after, last_number
from capsieve.decisions.model import UnreachableError
from capsieve.review.security import cookie_secret
from capsieve.review.sessions import Reader
from capsieve.review.state import Here, State, Who

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
    who: Who,
    after: Annotated[
        int | None, Query(ge=0, description="The last number that is known; now by default.")
    ] = None,
    last_event_id: Annotated[int | None, Header(ge=0)] = None,
) -> StreamingResponse:
    """Number and exam of every new entry that this reader may know of, as server-sent events."""
    said = last_event_id if last_event_id is not None else after
    start = await run_in_threadpool(last_number, room.database) if said is None else said
    # The last number of all is not told: in blind work it would say how much others wrote.
    hello = f": from {'now' if said is None else said}\n\n"
    return StreamingResponse(
        _events(request, room, who, start, hello=hello),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},
    )


async def _events(
    request: Request, room: State, who: Reader, last: int, *, hello: str
) -> AsyncIterator[str]:
    """Yield changes until the reader leaves, the session ends, or the server does."""
    secret = cookie_secret(request.scope, room.access.cookie) or ""
    yield hello
    quiet = 0.0
    listening = partial(
        heard_after,
        room.database,
        workflow=room.workflow,
        reader=who.name,
        role=who.role,
        most=_MOST,
    )
    while not room.ending.is_set() and room.access.sessions.reader(secret, touch=False) == who:
        try:
            heard, last, more = await run_in_threadpool(listening, last)
        except UnreachableError:  # whoever writes or reads is told; what is new is told later
            heard, more = [], False
        for number, exam in heard:
            yield f"id: {number}\ndata: {json.dumps({'number': number, 'exam': exam})}\n\n"
        quiet = 0.0 if heard else quiet + _STEP
        if quiet >= _PULSE:
            quiet = 0.0
            yield ": here\n\n"
        if not more:
            await asyncio.sleep(_STEP)
