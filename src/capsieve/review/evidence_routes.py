"""Routes for the evidence of a frame."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from capsieve.review import messages
from capsieve.review.errors import NotFoundError
from capsieve.review.state import (
    Chosen,
    FrameNumber,
    HeadNumber,
    Here,
    Responses,
    Wanted,
    known_head,
    run_in,
)

router = APIRouter(tags=["Evidence"])

_PNG: Responses = {200: {"content": {"image/png": {}}}}
_Name = Annotated[str, Path(max_length=64)]


@router.get("/exams/{exam}/evidence/{head}/{frame}")
async def get_evidence(
    facts: Chosen, app: Here, head: HeadNumber, frame: FrameNumber, wanted: Wanted
) -> messages.Evidence:
    """Words, values with their bounds, shapes, and the names of maps."""
    found = await app.evidence.evidence(facts, known_head(facts, head), frame, wanted)
    return messages.Evidence(
        words=found.words,
        values=[messages.Value(**each._asdict()) for each in found.values],
        balls=[messages.Ball(**each._asdict()) for each in found.balls],
        ellipses=[messages.Ellipse(**each._asdict()) for each in found.ellipses],
        maps=list(found.maps),
    )


@router.get(
    "/exams/{exam}/evidence/{head}/{frame}/{name}.png", response_class=Response, responses=_PNG
)
async def get_map(
    facts: Chosen, app: Here, head: HeadNumber, frame: FrameNumber, name: _Name, wanted: Wanted
) -> Response:
    """A map as a transparent picture of the frame's own size."""
    found = await app.evidence.evidence(facts, known_head(facts, head), frame, wanted)
    png = await run_in(app.exports, found.overlay, name)
    if png is None:
        raise NotFoundError(f"there is no map {name!r} for frame {frame} of head {head}")
    return Response(png, media_type="image/png")
