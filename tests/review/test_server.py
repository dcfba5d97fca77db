"""The server of the review app as a process of its own."""

import os
import signal
import socket
import threading
import time

import httpx
import pytest

from support.commands import assert_failed, invoke
from support.contents import note
from support.review_server import TIMEOUT, free_port, listening_socket, serve_review
from support.users import add_user, cheap_hashes

pytestmark = pytest.mark.slow

ENTRIES = "/api/exams/small/entries"


def post_note(client, number):
    screening = client.get("/api/exams/small").json()["screening"]
    who = {"reader": "anna", "role": "reader", "screening": screening}
    body = {"key": f"note-{number:08d}", "entries": [note(f"{number}")]}
    return client.post(ENTRIES, json=body | who)


def test_acknowledged_entries_survive_a_killed_server(results, tmp_path):
    database, port = tmp_path / "decisions.sqlite", free_port()
    acknowledged = []
    with serve_review(results, database, "--port", port, state=tmp_path) as (process, client):

        def write():
            try:
                for number in range(100_000):
                    answer = post_note(client, number)
                    if answer.status_code == 200:
                        acknowledged.extend(answer.json())
            except httpx.HTTPError:
                return

        writing = threading.Thread(target=write)
        writing.start()
        end = time.monotonic() + TIMEOUT
        while len(acknowledged) < 20 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        writing.join(TIMEOUT)
    assert len(acknowledged) >= 20
    # The same port is free again. The page sends requests again that were not acknowledged.
    with serve_review(results, database, "--port", port, state=tmp_path) as (_, client):
        stored = client.get(ENTRIES).json()
        assert stored[: len(acknowledged)] == acknowledged
        assert len(stored) - len(acknowledged) in (0, 1)
        [again] = post_note(client, len(acknowledged)).json()
        assert again["number"] == len(acknowledged) + 1
        assert len(client.get(ENTRIES).json()) == len(acknowledged) + 1


def test_entries_of_one_server_are_in_the_answers_of_another(results, tmp_path):
    database = tmp_path / "decisions.sqlite"
    with (
        serve_review(results, database, state=tmp_path) as (_, client),
        serve_review(results, database, state=tmp_path) as (_, other),
    ):
        assert other.base_url.port != client.base_url.port
        before = client.get("/api/exams/small/reading")
        post_note(other, 1)
        known = {"if-none-match": before.headers["etag"]}
        assert len(client.get("/api/exams/small/reading", headers=known).json()["notes"]) == 1


def test_ctrl_c_ends_open_requests_without_a_traceback(results, tmp_path):
    with serve_review(results, tmp_path / "decisions.sqlite", state=tmp_path) as (process, client):
        (cookie,) = client.cookies.jar
        head = (
            f"POST {ENTRIES} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
            f"Cookie: {cookie.name}={cookie.value}\r\n\r\nhalf of it"
        )
        with socket.create_connection((client.base_url.host, client.base_url.port)) as half:
            half.sendall(head.encode())
            client.get("/api/exams")  # the other request was read before this one
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0
        assert len(errors.splitlines()) == 1


def test_the_log_does_not_contain_the_token(results, tmp_path):
    database = tmp_path / "decisions.sqlite"
    with serve_review(results, database, state=tmp_path) as (process, client):
        client.get("/?token=wrong")
        client.get("/api/exams/none")
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=TIMEOUT)
    assert "token" not in output + errors


@pytest.fixture
def review(results, tmp_path, monkeypatch):
    """Run the command in this process; all tests that use it fail before a server starts."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    database = tmp_path / "decisions.sqlite"
    return lambda *options: invoke("review", results, "--database", database, *options)


def test_a_port_in_use_is_reported(review):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert_failed(review("--port", port), port, code=2)


def test_a_host_of_another_machine_is_reported(review, tmp_path, monkeypatch):
    cheap_hashes(monkeypatch)
    add_user(tmp_path / "users.json", "anna")
    users = ("--users", tmp_path / "users.json")
    assert_failed(review("--host", "203.0.113.1", *users), "host", "203.0.113.1", code=2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every port")
def test_a_reserved_port_is_reported(review):
    assert_failed(review("--port", "80"), "80", code=2)


def test_small_packets_are_sent_without_delay():
    with (
        listening_socket() as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
