"""Limits for slow request heads and unauthenticated connections."""

import time
from contextlib import ExitStack

import pytest

from capsieve.review.connections import LimitedProtocol
from support.served_app import connected, received, served_app

WHOLE = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"


def limited(**limits):
    """Return the protocol with other limits."""
    return type("Limited", (LimitedProtocol,), limits)


async def app(scope, receive, send):
    """Take whoever asks for /reader as authenticated."""
    if scope["path"] == "/reader":
        scope["state"]["reader"] = "anna"
    fields = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": b"ok"})


def asked(connection, address=b"other"):
    connection.sendall(WHOLE % address)
    answer = b""
    while not answer.endswith(b"ok"):
        part = connection.recv(65536)
        assert part, answer
        answer += part
    return answer


@pytest.mark.parametrize("said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_an_incomplete_head_ends_the_connection(said):
    with (
        served_app(app, http=limited(head_seconds=0.2)) as (_, port),
        connected(port, said) as half,
    ):
        assert received(half) == b""


def test_a_head_that_comes_byte_by_byte_ends_the_connection():
    with served_app(app, http=limited(head_seconds=0.3)) as (_, port), connected(port) as slow:
        ended, end = False, time.monotonic() + 30
        while not ended and time.monotonic() < end:
            try:
                slow.sendall(b"G")
                time.sleep(0.02)
            except OSError:
                ended = True
        assert ended


def test_the_second_head_of_a_connection_must_be_complete_too():
    with served_app(app, http=limited(head_seconds=0.3)) as (_, port), connected(port) as reader:
        asked(reader, b"reader")
        reader.sendall(b"G")
        assert received(reader) == b""


def test_an_authenticated_connection_is_kept_for_longer():
    protocol = limited(head_seconds=0.2, unauthenticated_keep_alive=0.2)
    with (
        served_app(app, http=protocol, timeout_keep_alive=60) as (_, port),
        connected(port) as reader,
        connected(port) as other,
    ):
        asked(reader, b"reader")
        asked(other)
        assert received(other) == b""
        time.sleep(0.4)
        assert asked(reader, b"reader").startswith(b"HTTP/1.1 200")


def test_the_oldest_unauthenticated_connection_makes_room_and_readers_keep_theirs():
    protocol = limited(head_seconds=60, most_unauthenticated=5)
    with (
        served_app(app, http=protocol, timeout_keep_alive=60) as (server, port),
        ExitStack() as stack,
    ):
        readers = [stack.enter_context(connected(port)) for _ in range(4)]
        for reader in readers:
            asked(reader, b"reader")
        halves = [stack.enter_context(connected(port, b"G")) for _ in range(20)]
        for half in halves[:15]:
            assert received(half) == b""
        late = stack.enter_context(connected(port))
        assert asked(late).startswith(b"HTTP/1.1 200")
        assert len(server.server_state.connections) <= 4 + 5
        for reader in readers:
            assert asked(reader, b"reader").startswith(b"HTTP/1.1 200")
