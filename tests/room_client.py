"""A browser's side of the reading room, without a server in between."""

import asyncio
from typing import Any

import httpx

from capsieve.review.app import create_app
from capsieve.review.room import ReadingRoom

__all__ = ["BASE", "PORT", "RoomClient"]

PORT = 8765
BASE = f"http://127.0.0.1:{PORT}"


class RoomClient:
    """Asks a room, keeps its cookies, and follows no redirection.

    Parameters
    ----------
    room
        Whose.
    enter
        Whether to open the room's link first.
    address
        Where the browser is.
    """

    def __init__(
        self, room: ReadingRoom, *, enter: bool = True, address: str = "127.0.0.1"
    ) -> None:
        transport = httpx.ASGITransport(
            create_app(room), raise_app_exceptions=False, client=(address, 123)
        )
        self._client = httpx.AsyncClient(transport=transport, base_url=BASE)
        if enter:
            assert self.get("/", params={"token": room.door.token}).status_code == 303

    def get(self, address: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._client.get(address, **options))

    def post(self, address: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._client.post(address, **options))
