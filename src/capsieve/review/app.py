"""The application: its parts, and the layers around them."""

from fastapi import FastAPI

from capsieve._version import __version__
from capsieve.review import frame_routes, messages
from capsieve.review.access import Gate
from capsieve.review.asgi import App
from capsieve.review.headers import SafeHeaders
from capsieve.review.limits import BodyLimit
from capsieve.review.refusals import DETAILS, add_refusals
from capsieve.review.room import ReadingRoom
from capsieve.review.routes import changes, docs, evidence, exams, exports, login, page
from capsieve.review.routes import reading as readings
from capsieve.review.routes.given import Responses

__all__ = ["create_api", "create_app"]

_ABOUT = (
    "What the page of the reading room asks for and says. Every error is an object with one "
    "sentence in `detail`."
)


def create_app(room: ReadingRoom) -> App:
    """Return the application of a room.

    Parameters
    ----------
    room
        An open one; whoever opened it closes it.
    """
    api = create_api()
    api.state.room = room
    # Around everything, errors of the server included; the gate reads no body.
    return SafeHeaders(Gate(BodyLimit(api), door=room.door))


def create_api() -> FastAPI:
    """Return the routes, without data; `app.state.room` is set before the first request."""
    app = FastAPI(
        title="The reading room of capsieve",
        version=__version__,
        description=_ABOUT,
        docs_url=None,  # it would load scripts from another host; routes/docs.py has our own
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
    )
    add_refusals(app)
    problems: Responses = {
        status: {"model": messages.Problem, "description": words}
        for status, words in DETAILS.items()
    }
    for part in (exams, frame_routes, evidence, readings, exports, changes):
        app.include_router(part.router, prefix="/api", responses=problems)
    app.include_router(docs.router)
    app.include_router(login.router)
    app.include_router(page.router)  # the last one: it takes every other address
    return app
