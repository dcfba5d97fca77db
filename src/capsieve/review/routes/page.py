"""The built page and its files."""

from fastapi import APIRouter, Response

from capsieve.review.refusals import NotThereError
from capsieve.review.routes.given import Here
from capsieve.review.small_pages import small_page
from capsieve.review.static_pages import ABSENT, StaticFile

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/")
def get_page(room: Here) -> Response:
    """The page, or one sentence where it has not been built."""
    index = room.pages.index()
    if index is None:
        return small_page("absent.html", 503, sentence=ABSENT)
    return _answer(index)


@router.get("/{name:path}")
def get_file(room: Here, name: str) -> Response:
    """A file of the page."""
    found = room.pages.find(name)
    if found is None:
        raise NotThereError("there is no such address")
    return _answer(found)


def _answer(file: StaticFile) -> Response:
    return Response(file.content, media_type=file.media_type, headers={"cache-control": file.cache})
