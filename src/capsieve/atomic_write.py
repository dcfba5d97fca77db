"""Files that appear complete or not at all."""

import os
import re
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from capsieve.errors import FileError, file_errors

__all__ = ["atomic_write", "remove_leftovers", "sync"]

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.part(\.[^.]*)?")
_ABANDONED_S = 24 * 3600.0


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, durable: bool = False) -> Generator[Path]:
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
        The folder is missing or not writable, the disk is full, or the path is a folder.
    """
    path = Path(path)
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.parent}; create it first")
    # The suffix stays last, because writers choose the format by it.
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.part{path.suffix}")
    with file_errors("write", path):
        try:
            yield temporary
            if durable:
                sync(temporary)
            temporary.replace(path)
            if durable:
                sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


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
