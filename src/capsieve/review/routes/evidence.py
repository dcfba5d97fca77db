"""Why a frame was flagged or not."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from capsieve.review import messages
from capsieve.review.refusals import NotThereError
from capsieve.review.routes.given import Chosen, FrameNumber, HeadNumber, Here, Wanted, known_head

__all__ = ["router"]

router = APIRouter(tags=["Evidence"])


@router.get("/exams/{exam}/evidence/{head}/{frame}")
def get_evidence(
    facts: Chosen, room: Here, head: HeadNumber, frame: FrameNumber, wanted: Wanted
) -> messages.Evidence:
    """Words, values with their bounds, shapes, and the names of maps."""
    head = known_head(facts, head)
    found = room.evidence.evidence(facts, head, frame, wanted=wanted)
    return messages.Evidence(
        words=found.words,
        values=[messages.Value(**each._asdict()) for each in found.values],
        balls=[messages.Ball(**each._asdict()) for each in found.balls],
        ellipses=[messages.Ellipse(**each._asdict()) for each in found.ellipses],
        maps=list(found.maps),
    )


@router.get(
    "/exams/{exam}/evidence/{head}/{frame}/{name}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
def get_evidence_map(
    facts: Chosen,
    room: Here,
    head: HeadNumber,
    frame: FrameNumber,
    name: Annotated[str, Path(max_length=64)],
    wanted: Wanted,
) -> Response:
    """A map as a transparent picture in the frame's own size."""
    head = known_head(facts, head)
    png = room.evidence.overlay(facts, head, frame, name, wanted=wanted)
    if png is None:
        raise NotThereError(f"there is no map {name!r} for frame {frame} of head {head}")
    return Response(png, media_type="image/png")
