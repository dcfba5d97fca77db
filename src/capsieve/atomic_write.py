"""A file that appears whole or not at all."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from capsieve.errors import FileError

__all__ = ["atomic_write", "remove_leftovers", "sync"]

_TEMPORARY = re.compile(r"\..+\.(\d+)\.part(\.[^.]*)?")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside the path; what was written there takes the path's place.

    When the body fails, the temporary file goes away and the path is as it was.

    Raises
    ------
    FileError
        The folder is absent or not writable, the disk is full, the path is a folder.
    """
    path = Path(path)
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.parent}; make it first")
    # The ending stays the last one: writers choose their format by it.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield temporary
        sync(temporary)  # or a power failure could leave the name without the content
        temporary.replace(path)
        sync(path.parent)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        room = "; make room, and run it again" if error.errno in _NO_ROOM else ""
        raise FileError(f"cannot write {path}: {error.strerror or error}{room}") from error
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder."""
    for path in folder.glob(".*.part*"):
        found = _TEMPORARY.fullmatch(path.name)
        if found is None:
            continue
        try:
            os.kill(int(found[1]), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
        except (OSError, OverflowError):  # somebody else's process, or no process at all
            continue


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's names, would survive a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
