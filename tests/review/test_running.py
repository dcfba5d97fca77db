"""The server as a process of its own."""

import json
import os
import signal
import socket
import threading
import time

import httpx
import pytest

from capsieve.errors import ParameterError
from capsieve.review.running import bound_socket
from served_room import WAIT, free_port, served

pytestmark = pytest.mark.slow


def note(client, number):
    body = {"kind": "note", "subject": "exam", "content": {"text": f"{number}"}}
    return client.post("/api/exams/small/entries", json=body | {"key": f"note-{number:08d}"})


def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(results, tmp_path):
    database, port = tmp_path / "decisions.sqlite", free_port()
    acknowledged = []
    with served(results, database, "--port", port, state=tmp_path) as (process, client):

        def write():
            try:
                for number in range(100_000):
                    answer = note(client, number)
                    if answer.status_code == 200:
                        acknowledged.append(answer.json())
            except httpx.HTTPError:
                return

        writing = threading.Thread(target=write)
        writing.start()
        end = time.monotonic() + WAIT
        while len(acknowledged) < 20 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        writing.join(WAIT)
    assert len(acknowledged) >= 20
    # The same port at once, and the page goes on: what it is not sure of it sends again.
    with served(results, database, "--port", port, state=tmp_path) as (_, client):
        kept = client.get("/api/exams/small/entries").json()
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) - len(acknowledged) in (0, 1)
        again = note(client, len(acknowledged)).json()
        assert again["number"] == len(acknowledged) + 1
        assert len(client.get("/api/exams/small/entries").json()) == len(acknowledged) + 1


def test_another_window_follows_and_the_end_is_clean(results, tmp_path):
    database = tmp_path / "decisions.sqlite"
    with served(results, database, state=tmp_path) as (process, client):
        with client.stream("GET", "/api/changes?after=0") as changes:
            lines = changes.iter_lines()
            assert next(lines) == ": from 0"
            with served(results, database, state=tmp_path) as (
                _,
                other,
            ):  # another process, another port
                assert other.base_url.port != client.base_url.port
                number = note(other, 1).json()["number"]
            data = next(line for line in lines if line.startswith("data: "))
            assert json.loads(data.removeprefix("data: ")) == {"number": number, "exam": "small"}
            process.send_signal(signal.SIGINT)  # while the answer is still open
            assert list(lines) is not None
        _, errors = process.communicate(timeout=WAIT)
        assert process.returncode == 0
        assert errors == "The reading room is closed.\n"


def test_the_log_does_not_hold_the_token(results, tmp_path):
    with served(results, tmp_path / "decisions.sqlite", state=tmp_path) as (process, client):
        client.get("/?token=wrong")
        client.get("/api/exams/none")
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=WAIT)
    assert "token" not in output + errors


def test_a_port_in_use_is_one_sentence_and_another_is_taken_where_none_was_asked_for():
    with bound_socket("127.0.0.1", None) as first, bound_socket("127.0.0.1", None) as second:
        ports = {each.getsockname()[1] for each in (first, second)}
        assert len(ports) == 2
        with pytest.raises(ParameterError, match="is in use"):
            bound_socket("127.0.0.1", first.getsockname()[1])


def test_connections_send_small_pieces_at_once():
    with (
        bound_socket("127.0.0.1", None) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_host_that_is_not_ours_is_one_sentence():
    with pytest.raises(ParameterError, match="host"):
        bound_socket("203.0.113.1", None)
    if os.geteuid() != 0:
        with pytest.raises(ParameterError, match="reserved"):
            bound_socket("127.0.0.1", 80)
