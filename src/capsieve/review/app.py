"""The application: its routes, and the layers around them."""

import mimetypes
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from capsieve._version import __version__
from capsieve.review import (
    evidence_routes,
    exam_routes,
    exports,
    frame_routes,
    login,
    messages,
    reading_routes,
)
from capsieve.review.errors import STATUS, add_error_handlers
from capsieve.review.headers import ResponseHeaders
from capsieve.review.security import AccessControl, App, BodyLimit, RemoteUser
from capsieve.review.small_pages import small_page
from capsieve.review.state import Responses, State

_STATIC = Path(__file__).parent / "static"
_NOT_BUILT = (
    "The page has not been built: run npm ci and npm run build in web/, or install a released "
    "capsieve."
)
mimetypes.add_type("text/javascript", ".js")  # a system may have another


def create_app(state: State) -> App:
    """Return the application on an open state, which the caller closes."""
    api = create_api()
    api.state.capsieve = state
    access = state.access
    # The layers are around everything, also around errors of the server.
    app: App = ResponseHeaders(AccessControl(BodyLimit(api), access))
    if access.trusted_proxy is not None:
        proxied: Any = ProxyHeadersMiddleware(app, trusted_hosts=[access.trusted_proxy])  # pyright: ignore
        app = RemoteUser(proxied, access)  # before the client's address replaces the proxy's
    return app


def create_api() -> FastAPI:
    """Return the routes, without data; `app.state.capsieve` is set before the first request."""
    app = FastAPI(
        title="The reading room of capsieve",
        version=__version__,
        description="Every error is an object with a message in `detail`.",
        docs_url=None,  # its page would load scripts from another host
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
    )
    add_error_handlers(app)
    problems: Responses = {
        status: {"model": messages.Problem, "description": words}
        for status, words in STATUS.items()
    }
    for part in (exam_routes, frame_routes, evidence_routes, reading_routes, exports):
        app.include_router(part.router, prefix="/api", responses=problems)
    app.include_router(exam_routes.health)
    app.include_router(login.router)
    app.add_api_route("/", _index, methods=["GET", "HEAD"], include_in_schema=False)
    app.mount("/", _Static(directory=_STATIC, check_dir=False))  # takes every other address
    return app


class _Static(StaticFiles):
    """The built page. Vite puts a digest into every name in assets/."""

    async def get_response(self, path: str, scope: Any) -> Response:
        response = await super().get_response(path, scope)
        kept = "private, max-age=31536000, immutable"
        response.headers["cache-control"] = kept if path.startswith("assets/") else "no-cache"
        return response


async def _index(request: Request) -> Response:
    if not (_STATIC / "index.html").is_file():
        return small_page("absent.html", 503, sentence=_NOT_BUILT)
    return await _Static(directory=_STATIC).get_response("index.html", request.scope)
