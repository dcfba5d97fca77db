"""Packets read by their place in a file, each known by its checksum."""

import os
import weakref
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from capsieve.errors import FileError
from capsieve.review.frames.indexing import not_what_was_screened

if TYPE_CHECKING:
    from av import Packet

__all__ = ["PacketFile"]


class PacketFile:
    """An open file from which threads read packets at once.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    FileError
        It cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror or error}") from error

        self._closing = weakref.finalize(self, os.close, self._descriptor)

    def close(self) -> None:
        """Close the file; it closes too when nobody has it any more."""
        self._closing()

    def packet(self, offset: int, size: int, check: int) -> "Packet":
        """Return the packet at a place.

        Raises
        ------
        FileError
            Other bytes are there now, or none.
        """
        import av

        if not self._closing.alive:
            raise FileError(f"{self._path} was closed while it was being read")
        try:
            content = os.pread(self._descriptor, size, offset)
        except OSError as error:
            raise FileError(f"cannot read {self._path}: {error.strerror or error}") from error
        if len(content) != size or zlib.crc32(content) != check:
            raise not_what_was_screened(self._path)
        return av.Packet(content)
