"""Errors as answers: a message and a status."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from capsieve.decisions.model import ConflictError, EntryError, ForbiddenError, UnreachableError
from capsieve.errors import CapsieveError, FileError, MissingExtraError
from capsieve.report.text import plain

STATUS = {
    401: "Without the link, or a name and password; or a page of another reader.",
    403: "This reader may not do or see that.",
    404: "It does not exist, or it cannot be shown.",
    409: "It does not fit what is stored.",
    422: "The request makes no sense.",
    503: "Decisions or exam cannot be reached now; send the same request again.",
}
"""What each status means, for the description of the interface."""

_CLIENT_GONE = 499  # as servers log it
_LONGEST = 500  # letters of a message


class NotFoundError(CapsieveError):
    """What a request names does not exist."""


class OtherReaderError(CapsieveError):
    """The page of a reader who is not logged in any more."""


class CancelledRequestError(Exception):
    """Nobody waits for the answer any more."""


_KINDS = (
    (EntryError, 422),
    (ForbiddenError, 403),
    (ConflictError, 409),
    (MissingExtraError, 501),
    (UnreachableError, 503),
    (FileError, 404),  # a frame or a map that cannot be shown
    (NotFoundError, 404),
    (OtherReaderError, 401),
)


@contextmanager
def reading_results() -> Iterator[None]:
    """Raise UnreachableError if the files of an exam cannot be read: it may be read again."""
    try:
        yield
    except FileError as error:
        raise UnreachableError(str(error)) from error


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of capsieve, and every invalid request, with a message."""

    @app.exception_handler(CapsieveError)
    async def known(request: Request, error: CapsieveError) -> JSONResponse:
        status = next((code for kind, code in _KINDS if isinstance(error, kind)), 500)
        # Paths are shown on the terminal of the server only.
        state = request.app.state.capsieve
        text = str(error).replace(f"decisions in {state.database.where}", "decisions")
        return _answer(status, text.replace(f"{state.catalogue.out}/", ""))

    @app.exception_handler(CancelledRequestError)
    async def cancelled(request: Request, error: CancelledRequestError) -> Response:
        return Response(status_code=_CLIENT_GONE)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(422, _first_problem(error.errors()))

    @app.exception_handler(ValidationError)
    async def not_sent(request: Request, error: ValidationError) -> JSONResponse:
        return _answer(500, f"what is stored cannot be sent: {_first_problem(error.errors())}")

    sentences = {
        400: "the request is not JSON",
        404: "there is no such address",
        405: "this address does not take this method",
        Exception: "an error in the server; its terminal describes it",
    }
    for kind, sentence in sentences.items():

        async def other(request: Request, error: Exception, sentence: str = sentence) -> Response:
            return _answer(getattr(error, "status_code", 500), sentence)

        app.add_exception_handler(kind, other)


def _answer(status: int, text: str) -> JSONResponse:
    sentence = " ".join(plain(text).split())[:_LONGEST]
    sentence = f"{sentence[:1].upper()}{sentence[1:].removesuffix('.')}."
    return JSONResponse({"detail": sentence}, status)


def _first_problem(problems: Sequence[Mapping[str, Any]]) -> str:
    """Return the first error of a request."""
    if not problems:
        return "the request makes no sense"
    first = problems[0]
    if first["type"] in ("json_invalid", "json_type"):
        return "the request is not JSON"
    place = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    message = str(first["msg"])
    return f"{place or 'the request'}: {message[:1].lower()}{message[1:]}"
