"""A folder that one run at a time works in."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from capsieve.errors import FileError, OccupiedError

__all__ = ["LOCK", "locked"]

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder while the body runs.

    The system lets go of the lock when the process ends, however it ends.

    Raises
    ------
    OccupiedError
        Another run works there.
    FileError
        The folder cannot be written to.
    """
    path = folder / LOCK
    handle = _held(path)
    try:
        with suppress(OSError):  # a full disk: the lock holds, it only does not say whose it is
            os.truncate(handle, 0)
            os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _held(path: Path) -> int:
    """Return an open file that carries the lock and still has its name."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FileError(f"cannot write to {path.parent}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever held it before may have removed the name while we waited for the handle.
            if _same_file(handle, path):
                return handle
        except BlockingIOError:
            holder = os.pread(handle, 200, 0).decode(errors="replace") or "another process"
            os.close(handle)
            raise OccupiedError(
                f"another run is working on {path.parent} ({holder}); wait for it to end, "
                "or name another folder"
            ) from None
        except OSError as error:
            os.close(handle)
            raise FileError(f"cannot lock {path.parent}: {error.strerror}") from error
        os.close(handle)


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
