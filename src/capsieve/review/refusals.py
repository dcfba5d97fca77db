"""Errors as answers: one sentence each, with the status that says whose fault it is."""

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from capsieve.decisions.model import (
    ConflictError,
    EntryError,
    ForbiddenError,
    UnreachableError,
)
from capsieve.errors import CapsieveError, FileError, MissingExtraError
from capsieve.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["DETAILS", "NotThereError", "NotWantedError", "OtherReaderError", "add_refusals"]

DETAILS = {
    401: "Nobody is let in without the room's link, or a name and a password; and nobody writes in "
    "another's name.",
    403: "It is not this reader's to do or to see.",
    404: "There is no such thing, or it cannot be shown.",
    409: "It does not fit what stands already.",
    422: "The request makes no sense as it stands.",
    503: "The decisions or the exam cannot be reached just now; send the same request again.",
}
"""What each status means, for the documentation of the interface."""

_NOBODY_READS_IT = 499  # what servers write down where the one who asked has gone
_LONGEST = 500  # letters of a sentence


class NotThereError(CapsieveError):
    """What a request names is not there."""


class OtherReaderError(CapsieveError):
    """A page says what somebody did who is not in any more."""


class NotWantedError(Exception):
    """Whoever asked has gone, and the work was not begun, or not ended."""


_STATUS = (
    (EntryError, 422),
    (ForbiddenError, 403),
    (ConflictError, 409),
    (MissingExtraError, 501),
    (UnreachableError, 503),
    (FileError, 404),  # a frame or a map that cannot be shown
    (NotThereError, 404),
    (OtherReaderError, 401),
)


def add_refusals(app: FastAPI) -> None:
    """Turn every error that capsieve raises on purpose, and every bad request, into a sentence."""

    @app.exception_handler(CapsieveError)
    async def refused(request: Request, error: CapsieveError) -> JSONResponse:
        status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
        # Where things lie on the disk is nobody's business but that of who started the room.
        room = request.app.state.room
        text = str(error).replace(f"decisions in {room.database.where}", "decisions of this room")
        return _answer(status, text.replace(f"{room.catalogue.out}/", ""))

    @app.exception_handler(NotWantedError)
    async def gone(request: Request, error: NotWantedError) -> Response:
        return Response(status_code=_NOBODY_READS_IT)

    @app.exception_handler(RequestValidationError)
    async def senseless(request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(422, _first_problem(error.errors()))

    @app.exception_handler(ValidationError)
    async def unsayable(request: Request, error: ValidationError) -> JSONResponse:
        return _answer(500, f"what is stored cannot be shown: {_first_problem(error.errors())}")

    @app.exception_handler(400)
    async def unreadable(request: Request, error: Exception) -> JSONResponse:
        return _answer(400, "the request is no JSON")

    @app.exception_handler(404)
    async def unknown(request: Request, error: Exception) -> JSONResponse:
        return _answer(404, getattr(error, "detail", "") or "there is no such address")

    @app.exception_handler(405)
    async def unfit(request: Request, error: Exception) -> JSONResponse:
        return _answer(405, "this address does not take that kind of request")

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        # The server's log has the rest; what went wrong inside may name files.
        return _answer(500, "the server made a mistake, which its terminal describes")


def _answer(status: int, text: str) -> JSONResponse:
    sentence = " ".join(plain(text).split())[:_LONGEST]
    sentence = f"{sentence[:1].upper()}{sentence[1:].removesuffix('.')}."
    return JSONResponse({"detail": sentence}, status)


def _first_problem(problems: "Sequence[Mapping[str, Any]]") -> str:
    """Return the first thing that is wrong with a request, in one sentence."""
    if not problems:
        return "the request makes no sense"
    first = problems[0]
    if first["type"] in ("json_invalid", "json_type"):
        return "the request is no JSON"
    place = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    message = str(first["msg"])
    return f"{place or 'the request'}: {message[:1].lower()}{message[1:]}"
