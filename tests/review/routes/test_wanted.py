"""Work that nobody waits for any more is not begun."""

import socket
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from capsieve.review import evidence_desk
from capsieve.review.app import create_app
from capsieve.review.evidence_view import evidence_view
from room_client import PORT

EVIDENCE = "/api/exams/small/evidence/0"


class Held:
    """Evidence that waits before it is found, and notes which frame it was for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.frames: list[int] = []
        monkeypatch.setattr(evidence_desk, "evidence_view", self._wait_and_find)

    def _wait_and_find(self, recalled, detector):
        self.frames.append(int(recalled.row["frame"]))
        self.begun.set()
        assert self.go_on.wait(30)
        return evidence_view(recalled, detector)


@pytest.fixture
def address(room) -> Iterator[tuple[str, int]]:
    """A real server: only that knows when somebody has gone."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(room), log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join(30)


def asked(address: tuple[str, int], path: str, cookies: httpx.Cookies) -> socket.socket:
    connection = socket.create_connection(address)
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{PORT}", f"Cookie: {cookie}", "", ""]
    connection.sendall("\r\n".join(lines).encode())
    return connection


def test_evidence_that_was_called_off_is_not_looked_for(room, address, monkeypatch):
    held = Held(monkeypatch)
    headers = {"host": f"127.0.0.1:{PORT}"}
    with httpx.Client(base_url="http://{}:{}".format(*address), headers=headers, timeout=60) as one:
        assert one.get("/", params={"token": room.door.token}).status_code == 303
        first = asked(address, f"{EVIDENCE}/0", one.cookies)
        assert held.begun.wait(30)
        others = [asked(address, f"{EVIDENCE}/{frame}", one.cookies) for frame in range(1, 6)]
        time.sleep(0.5)  # so that the server has taken them up
        for connection in others:
            connection.close()
        time.sleep(0.5)
        held.go_on.set()
        assert one.get(f"{EVIDENCE}/6").status_code == 200
        first.close()
    assert held.frames == [0, 6]
