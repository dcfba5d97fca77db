"""``capsieve review`` as a process that can be killed and started again."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

__all__ = ["Entry", "Server"]


@dataclass(frozen=True)
class Entry:
    """A row of the table capsieve_entries."""

    number: int
    action: int
    key: str
    exam: str
    revision: int
    reader: str
    role: str
    screening: str
    time: str
    kind: str
    content: dict[str, Any]

    @property
    def subject(self) -> str:
        return self.content.get("subject", "")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A room over OUT.

    Parameters
    ----------
    out
        The results.
    options
        More of the command's.
    database
        Where decisions are kept.
    reader
        Who opens it; None where readers log in.
    state
        Where the account keeps tokens.
    """

    def __init__(
        self, out: Path, *options: str, database: Path, reader: str | None, state: Path
    ) -> None:
        self.out, self.database, self.port = out, database, _free_port()
        self.link = ""
        self._state = state
        self._command = [sys.executable, "-m", "capsieve", "review", str(out), "--no-browser"]
        self._command += ["--database", str(database)]
        self._command += [] if reader is None else ["--reader", reader]
        self._command += ["--port", str(self.port), *options]
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, and wait for the link."""
        environment: dict[str, Any] = {**os.environ, "XDG_STATE_HOME": str(self._state)}
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/(\?token=\S+)?", line)
        assert found, line
        self.link = found[0]

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it at once, as a power failure would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None

    def entries(self, exam: str) -> list[Entry]:
        """Return what is in the database."""
        names = [field.name for field in fields(Entry)]
        query = f"SELECT {', '.join(names)} FROM capsieve_entries WHERE exam = ? ORDER BY number"
        with closing(sqlite3.connect(self.database)) as opened:
            rows = [dict(zip(names, row, strict=True)) for row in opened.execute(query, [exam])]
        return [Entry(**row | {"content": json.loads(row["content"])}) for row in rows]
