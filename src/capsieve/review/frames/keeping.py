"""Where the reading room keeps what it made of an exam's source, and for which source it holds."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from capsieve.errors import FileError
from capsieve.sources.source import Place
from capsieve.store.record import Record

__all__ = ["ROOM", "identity_of", "room_folder"]

ROOM = "review"
"""The folder in an exam's folder."""


def room_folder(exam: Path) -> Path:
    """Return the folder for what is made of an exam's source; it is made where that is possible.

    Where it is not, whoever writes into it says so.
    """
    folder = exam / ROOM
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    return folder


def identity_of(record: Record, place: Place, *, version: int) -> str:
    """Return a text that is another one when an index must be made anew.

    It changes with the version of the index, the source's content as it was screened, its table of
    frames, and the size and the time of the file as it lies there now. A file whose time alone
    changed is read through again, and nothing is lost.

    Raises
    ------
    FileError
        The source is not there.
    """
    try:
        status = Path(place.path).stat()
    except OSError as error:
        raise FileError(
            f"cannot read the exam's source {place.path}: {error.strerror or error}"
        ) from error
    source = next(source for source in record["sources"] if source["head"] == place.head)
    content: list[Any] = [
        version,
        [place.kind, place.head, place.stream, place.names],
        source["sha256"],
        record["tables"],
        [status.st_size, status.st_mtime_ns],
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
