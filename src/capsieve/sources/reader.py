"""Any screened frame by its number, verified by its hash."""

import operator
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frames import pixel_hash as hash_pixels

CACHE_BYTES = 256_000_000
"""Size of the cache of decoded pictures of a video."""


class Pictures(Protocol):
    """Random access to the frames of a source. Calls of one object come one after the other."""

    has_files: bool  # each frame is an image file

    def candidates(self, frame: int) -> Iterator[tuple[NDArray[Any], bytes | None]]:
        """Yield the pixels of a frame, decoded by each possible method, the fastest one first.

        With them is the content of its image file, if it is one.
        """
        ...

    def stored_order(self, frame: int) -> int:
        """Return a number that ascends in the fastest order of reading."""
        ...

    def starts(self) -> NDArray[np.bool_]:
        """Return which frames are decoded without any other."""
        ...

    def close(self) -> None:
        """Release what is open."""
        ...


class FrameReader:
    """Reads frames of one head in any order; threads may share it.

    Parameters
    ----------
    path
        Path of the source, for messages.
    hashes
        Hash of the pixels of each frame; null if the frame could not be decoded.
    pictures
        Access to the source.
    """

    def __init__(self, path: str, hashes: pa.ChunkedArray, pictures: Pictures) -> None:
        self._path = path
        self._hashes: list[str | None] = hashes.to_pylist()
        self._pictures = pictures
        self._lock = threading.Lock()
        decoded = hashes.is_valid().to_numpy()
        self._key_frames: list[int] = np.flatnonzero(decoded & pictures.starts()).tolist()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and empty the cache."""
        with self._lock:
            self._pictures.close()

    def pixels(self, frame: int) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Return the pixels of a frame, identical to those that were screened.

        Raises
        ------
        FileError
            There is no such frame, it could not be decoded, or the source is missing or changed.
        """
        return self._verified(frame)[0]

    def stored_file(self, frame: int) -> bytes | None:
        """Return the content of a frame's image file, after verifying its pixels; None for videos.

        Raises
        ------
        FileError
            As for :meth:`pixels`.
        """
        self._decoded_hash(frame)
        return self._verified(frame)[1] if self._pictures.has_files else None

    def key_frame(self, frame: int) -> int:
        """Return the nearest frame at or before this one that is decoded without any other.

        Before the first such frame it is the frame itself.
        """
        earlier = bisect_right(self._key_frames, frame)
        return self._key_frames[earlier - 1] if earlier else frame

    def in_stored_order(self, frames: Iterable[int]) -> list[int]:
        """Return frames in the fastest order of reading."""
        return sorted(frames, key=lambda frame: (self._pictures.stored_order(frame), frame))

    def pixel_hash(self, frame: int) -> str | None:
        """Return the hash of a frame's pixels; None if it could not be decoded.

        Raises
        ------
        FileError
            There is no such frame.
        """
        frame = operator.index(frame)
        if not 0 <= frame < len(self._hashes):
            raise FileError(
                f"{self._path} has no frame {frame}; frames are numbered 0 to "
                f"{len(self._hashes) - 1}"
            )
        return self._hashes[frame]

    def _verified(self, frame: int) -> tuple[NDArray[Any], bytes | None]:
        expected = self._decoded_hash(frame)
        with self._lock:
            for pixels, content in self._pictures.candidates(frame):
                if hash_pixels(pixels) == expected:
                    return pixels, content
        raise FileError(
            f"frame {frame} of {self._path} is not the one that was screened: the source has "
            "changed; screen it again with --overwrite"
        )

    def _decoded_hash(self, frame: int) -> str:
        expected = self.pixel_hash(frame)
        if expected is None:
            raise FileError(f"frame {frame} of {self._path} could not be decoded")
        return expected
