"""``capsieve review`` as a process of its own, and a client that has opened its link."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

__all__ = ["TIMEOUT", "free_port", "listening_socket", "serve_review"]

TIMEOUT = 120.0  # seconds, long enough for a busy machine


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def listening_socket() -> socket.socket:
    """Return a listening socket, made like that of the server."""
    from capsieve.review.server import bound_socket

    return bound_socket("127.0.0.1", None)


@contextmanager
def serve_review(
    results: Path, database: Path | str, *options: str, state: Path
) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    """Start the server; yield the process and a client that has opened the link.

    Parameters
    ----------
    results, database
        The screened exams and the place of the decisions.
    options
        Further options of the command.
    state
        The folder of the link tokens.
    """
    command = [sys.executable, "-m", "capsieve", "review", results, "--no-browser"]
    command += ["--database", database, "--reader", "anna", *options]
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"XDG_STATE_HOME": str(state)},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line + process.stderr.read()
        link = httpx.URL(found[0])
        with httpx.Client(base_url=f"http://{link.netloc.decode()}", timeout=TIMEOUT) as client:
            assert client.get(link).status_code == 303
            yield process, client
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
