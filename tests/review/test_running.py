"""The server as a process of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import pytest

from capsieve.errors import ParameterError
from capsieve.review.running import bound_socket

pytestmark = pytest.mark.slow
WAIT = 120.0  # seconds, for a machine that is busy with other things


@contextmanager
def served(results, database, *more):
    """Start the room; yield the process, and a client that has opened its link."""
    command = [sys.executable, "-m", "capsieve", "review", results, "--no-browser"]
    command += ["--database", database, "--reader", "anna", *more]
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_STATE_HOME": str(database.parent / "state")},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line + process.stderr.read()
        link = httpx.URL(found[0])
        with httpx.Client(base_url=f"http://{link.netloc.decode()}", timeout=WAIT) as client:
            assert client.get(link).status_code == 303
            yield process, client
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def note(client, number):
    body = {"kind": "note", "subject": "exam", "content": {"text": f"{number}"}}
    return client.post("/api/exams/small/entries", json=body | {"key": f"note-{number:08d}"})


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(results, tmp_path):
    database, port = tmp_path / "decisions.sqlite", free_port()
    acknowledged = []
    with served(results, database, "--port", port) as (process, client):

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
    with served(results, database, "--port", port) as (_, client):
        kept = client.get("/api/exams/small/entries").json()
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) - len(acknowledged) in (0, 1)
        again = note(client, len(acknowledged)).json()
        assert again["number"] == len(acknowledged) + 1
        assert len(client.get("/api/exams/small/entries").json()) == len(acknowledged) + 1


def test_another_window_follows_and_the_end_is_clean(results, tmp_path):
    database = tmp_path / "decisions.sqlite"
    with served(results, database) as (process, client):
        with client.stream("GET", "/api/changes?after=0") as changes:
            lines = changes.iter_lines()
            assert next(lines) == ": from 0"
            with served(results, database) as (_, other):  # another process, another port
                assert other.base_url.port != client.base_url.port
                number = note(other, 1).json()["number"]
            data = next(line for line in lines if line.startswith("data: "))
            assert json.loads(data.removeprefix("data: ")) == {"number": number, "exam": "small"}
            process.send_signal(signal.SIGINT)  # while the answer is still open
            assert list(lines) is not None
        _, errors = process.communicate(timeout=WAIT)
        assert process.returncode == 0
        assert "closed" in errors


def test_the_log_does_not_hold_the_token(results, tmp_path):
    with served(results, tmp_path / "decisions.sqlite") as (process, client):
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


def test_a_host_that_is_not_ours_is_one_sentence():
    with pytest.raises(ParameterError, match="host"):
        bound_socket("203.0.113.1", None)
    if os.geteuid() != 0:
        with pytest.raises(ParameterError, match="reserved"):
            bound_socket("127.0.0.1", 80)
