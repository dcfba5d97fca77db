"""The log of the server: one line of JSON for each log-in, failure, exam, export and signature."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from capsieve.decisions.model import utc_now
from capsieve.errors import file_errors

Log = Callable[..., None]
"""Takes the name of an event, and its facts by name."""


def log_nothing(event: str, **facts: str | int) -> None:
    """Log nothing."""


def log_to(path: Path | None) -> Log:
    """Return what writes the log to a file, or to stderr.

    The file is opened for each line, so that the system's tools can rotate it at any time.

    Raises
    ------
    FileError
        The file cannot be written.
    """
    lock = threading.Lock()
    if path is not None:
        with file_errors("write", path), path.open("a"):
            pass

    def log(event: str, **facts: str | int) -> None:
        # Letters that are not ASCII are escaped: a name cannot begin a line of its own.
        line = json.dumps({"time": utc_now(), "event": event} | facts)
        with lock:
            try:
                if path is None:
                    print(line, file=sys.stderr, flush=True)
                else:
                    with path.open("a", encoding="ascii") as file:
                        file.write(f"{line}\n")
            except OSError:  # a full disk stops no reader
                pass

    return log
