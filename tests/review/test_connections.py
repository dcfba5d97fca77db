"""Half a request holds no connection for long, and strangers do not take them all."""

import time
from contextlib import ExitStack

import pytest

from capsieve.review import connections
from capsieve.review.connections import guarded
from support.served_app import connected, received, served_app

WHOLE = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def app(scope, receive, send):
    """Let in whoever asks for /reader, as the gate would."""
    if scope["path"] == "/reader":
        scope["state"]["reader"] = "anna"
    fields = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": b"ok"})


def asked(connection, address=b"stranger"):
    connection.sendall(WHOLE % address)
    answer = b""
    while not answer.endswith(b"ok"):
        part = connection.recv(65536)
        assert part, answer
        answer += part
    return answer


@pytest.mark.parametrize("said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_half_a_head_is_not_waited_for(said):
    with (
        served_app(app, http=guarded(head_seconds=0.2)) as (_, port),
        connected(port, said) as half,
    ):
        assert received(half) == b""


def test_a_head_that_comes_byte_by_byte_is_not_waited_for():
    with served_app(app, http=guarded(head_seconds=0.3)) as (_, port), connected(port) as slow:
        ended, end = False, time.monotonic() + 30
        while not ended and time.monotonic() < end:
            try:
                slow.sendall(b"G")
                time.sleep(0.02)
            except OSError:
                ended = True
        assert ended


def test_the_second_head_of_a_connection_has_to_be_whole_too():
    with served_app(app, http=guarded(head_seconds=0.3)) as (_, port), connected(port) as reader:
        asked(reader, b"reader")
        reader.sendall(b"G")
        assert received(reader) == b""


def test_who_is_let_in_stays_connected_for_longer_than_a_head_may_take(monkeypatch):
    monkeypatch.setattr(connections, "_STRANGERS_KEEP_ALIVE", 0.2)
    with (
        served_app(app, http=guarded(head_seconds=0.2), timeout_keep_alive=60) as (_, port),
        connected(port) as reader,
        connected(port) as stranger,
    ):
        asked(reader, b"reader")
        asked(stranger)
        assert received(stranger) == b""
        time.sleep(0.4)
        assert asked(reader, b"reader").startswith(b"HTTP/1.1 200")


def test_strangers_make_room_for_each_other_and_take_none_from_readers():
    with (
        served_app(app, http=guarded(head_seconds=60, most_strangers=5), timeout_keep_alive=60) as (
            server,
            port,
        ),
        ExitStack() as stack,
    ):
        readers = [stack.enter_context(connected(port)) for _ in range(4)]
        for reader in readers:
            asked(reader, b"reader")
        halves = [stack.enter_context(connected(port, b"G")) for _ in range(20)]
        for half in halves[:15]:  # those who kept us waiting longest
            assert received(half) == b""
        late = stack.enter_context(connected(port))
        assert asked(late).startswith(b"HTTP/1.1 200")
        assert len(server.server_state.connections) <= 4 + 5
        for reader in readers:
            assert asked(reader, b"reader").startswith(b"HTTP/1.1 200")
