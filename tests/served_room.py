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

__all__ = ["WAIT", "free_port", "served"]

WAIT = 120.0  # seconds, for a machine that is busy with other things


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@contextmanager
def served(
    results: Path, database: Path | str, *more: str, state: Path
) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    """Start the room; yield the process, and a client that has opened its link.

    Parameters
    ----------
    results, database
        What is read, and where decisions go.
    more
        Options of the command.
    state
        Where the account keeps tokens.
    """
    command = [sys.executable, "-m", "capsieve", "review", results, "--no-browser"]
    command += ["--database", database, "--reader", "anna", *more]
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
        with httpx.Client(base_url=f"http://{link.netloc.decode()}", timeout=WAIT) as client:
            assert client.get(link).status_code == 303
            yield process, client
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
