"""Files that appear complete or not at all."""

import json
import os
import re
import secrets
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from capsieve.errors import FileError, file_errors
from capsieve.user_files import PathLike

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.part(\.[^.]*)?")
_ABANDONED_S = 24 * 3600.0

# How files of capsieve begin, and what they contain in their first or last bytes.
_MARKS = {
    b"<!doctype html": b'name="generator" content="capsieve',
    b"{": b'"capsieve":',
    b"#": b"# Parameters of capsieve",
    b"capsieve frame hashes": b"capsieve",
    b"\x89PNG": b"capsieve",
    b"<?xml": b"capsieve",  # SVG
    b"%PDF": b"capsieve",
    b"PAR1": b"capsieve",
    b"\x08": b"capsieve.sha256",  # model files
}
_MARKED_BYTES = 1 << 16


@contextmanager
def atomic_write(path: PathLike, *, durable: bool = False) -> Generator[Path]:
    """Yield a temporary path; when the block ends, that file replaces `path`.

    If the block fails or is interrupted, the temporary file is deleted and `path` is as before.
    Every call has a temporary file of its own, so of several writers the last one wins.

    Parameters
    ----------
    path
        The file to write. Its folder must exist.
    durable
        Wait until the file would survive a power failure. Without it, a power failure can leave
        an empty file: use it for data that cannot be computed again.

    Raises
    ------
    FileError
        The folder is missing or not writable, the disk is full, or the path is a folder. Errors of
        the block that are about another file or about a connection are raised unchanged.
    """
    path = Path(path)
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.parent}; create it first")
    # The suffix stays last, because writers choose the format by it.
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.part{path.suffix}")
    try:
        with _write_errors(path, temporary):
            yield temporary
        with file_errors("write", path):
            if durable:
                sync(temporary)
            temporary.replace(path)
            if durable:
                sync(path.parent)
    finally:
        with file_errors("write", path):
            temporary.unlink(missing_ok=True)


@contextmanager
def _write_errors(path: Path, temporary: Path) -> Generator[None]:
    """Raise FileError if writing fails; errors that name another file are raised unchanged."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and os.fspath(error.filename) != str(temporary):
            raise
        with file_errors("write", path):
            raise


def write_json(content: Any, path: Path) -> None:
    """Write plain values as JSON, complete or not at all; NaN and infinity are an error."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1)
    with atomic_write(path) as temporary:
        temporary.write_bytes(f"{text}\n".encode("utf-8", "replace"))


def check_replaceable(
    *paths: PathLike,
    columns: Iterable[str] = (),
    record: PathLike | None = None,
) -> None:
    """Raise FileError if one of the files exists and was not written by capsieve.

    Parameters
    ----------
    *paths
        Files that are about to be written.
    columns
        If they are CSV files: exactly the columns that capsieve writes.
    record
        The JSON file that is written with them: next to one of capsieve, they are its own.
    """
    if record is not None and _is_own(Path(record)):
        return
    for path in map(Path, paths):
        with file_errors("read", path):
            if path.exists() and not _is_own(path, columns):
                raise FileError(
                    f"{path} exists and was not written by capsieve; rename it, or choose another "
                    "name with -o"
                )


def _is_own(path: Path, columns: Iterable[str] = ()) -> bool:
    if not path.is_file():
        return False
    header = ",".join(columns).encode()
    with path.open("rb") as file:
        first = file.read(_MARKED_BYTES)
        file.seek(max(0, path.stat().st_size - _MARKED_BYTES))
        content = first + file.read(_MARKED_BYTES)
    beginning = first.lower()
    if header and first.splitlines()[:1] == [header]:
        return True
    return any(
        beginning.startswith(start.lower()) and mark in content for start, mark in _MARKS.items()
    )


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of killed writers: those that have not changed for a day.

    The age is the only safe sign. On a shared folder the writer may be a process of another host.
    """
    for path in folder.glob(".*.part*"):
        with suppress(OSError):  # it is already gone, or belongs to another user
            abandoned = time.time() - path.stat().st_mtime > _ABANDONED_S
            if abandoned and _TEMPORARY.fullmatch(path.name):
                path.unlink()


def sync(path: Path) -> None:
    """Wait until a file's content, or the names in a folder, would survive a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
