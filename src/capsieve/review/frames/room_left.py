"""Whether the disk has room for a proxy, by what its frames have taken so far."""

import errno
import shutil
from pathlib import Path

import numpy as np

from capsieve.errors import FileError
from capsieve.review.frames.proxy_file import ProxyTable

__all__ = ["SPARE", "NoRoomError", "became_full", "bytes_to_come", "check_room", "is_no_room"]

SPARE = 500_000_000
"""Bytes that a proxy leaves free: what readers decide is written to the same disk."""

_ENOUGH = 25  # frames by which the size of the others is judged
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READABLE = "the exam can be read all the same, with slower jumps until there is room"


class NoRoomError(FileError):
    """The disk has no room for a proxy."""


def bytes_to_come(table: ProxyTable, frame: int) -> float:
    """Return how much a proxy will still grow after a frame, by the mean of those that it holds.

    The first frames of an exam may be dark, and pack better than others: ask again and again.
    """
    held = table.size[table.size > 0]
    if len(held) < _ENOUGH:
        return 0.0
    return float(held.mean()) * int(np.count_nonzero(table.size[frame + 1 :] == 0))


def check_room(folder: Path, table: ProxyTable, frame: int, *, exam: str) -> None:
    """Refuse to go on with a proxy for which there is no room.

    Parameters
    ----------
    folder
        Where it is made.
    table
        What it holds.
    frame
        The last one that was looked at.
    exam
        Its name, for the sentence.

    Raises
    ------
    NoRoomError
        The rest would not fit.
    """
    needed, free = bytes_to_come(table, frame), shutil.disk_usage(folder).free
    if needed and free < needed + SPARE:
        raise NoRoomError(
            f"the disk has no room for the lossless copy of {exam}, by which any frame is near: "
            f"{_gigabytes(needed + SPARE)} GB must be free, and {_gigabytes(free)} GB are; "
            f"{_READABLE}"
        )


def is_no_room(error: BaseException | None) -> bool:
    """Tell whether an error, or what caused it, says that a disk has no room."""
    if error is None:
        return False
    full = isinstance(error, NoRoomError) or getattr(error, "errno", None) in _FULL
    return full or is_no_room(error.__cause__)


def became_full(exam: str) -> NoRoomError:
    """Return the error for a disk that became full while a proxy was made."""
    return NoRoomError(
        f"the disk became full while the lossless copy of {exam} was made, which was removed "
        f"again; {_READABLE}"
    )


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:,.1f}"
