"""Frames of screened exams as images for a browser, read from their sources on request.

Each open head has one :class:`~capsieve.sources.reader.FrameReader`, which returns only pixels
that have the hash of the scored ones. The number of open readers, the size of the cache of
encoded images and the number of threads that decode are bounded.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeVar

from cachetools import LRUCache
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_images import browser_kind, jpeg, shrink
from capsieve.report.text import plain
from capsieve.review.catalogue import ExamFacts
from capsieve.sources.reader import FrameReader
from capsieve.store.exam import Exam
from capsieve.store.record import read_record

_READERS = 4  # each keeps up to 256 MB of decoded pictures
_CACHE_BYTES = 96_000_000
_OVERHEAD = 200  # bytes of a cache entry apart from the file
_THUMBNAIL_WIDTH = 160
_THREADS = min(4, max(2, os.cpu_count() or 2))

Result = TypeVar("Result")


class FrameImage(NamedTuple):
    """An image file; if the frame cannot be shown, the kind is "" and the content the reason."""

    kind: Literal["", "jpeg", "png"]
    content: bytes


class FrameService:
    """Reads frames of exams. Threads may share it.

    Parameters
    ----------
    readers
        Number of readers that stay open; the one with the oldest use is closed.
    cache_bytes
        Size of the cache of encoded images.
    """

    def __init__(self, *, readers: int = _READERS, cache_bytes: int = _CACHE_BYTES) -> None:
        self._readers: LRUCache[tuple[str, str, int], FrameReader] = LRUCache(readers)
        self._images: LRUCache[tuple[str, str, int, int, int], FrameImage] = LRUCache(
            cache_bytes, getsizeof=lambda image: len(image.content) + _OVERHEAD
        )
        # The page asks for the thumbnails of one exam in several requests.
        self._thumbnails: LRUCache[tuple[str, str], dict[tuple[int, int], bytes]] = LRUCache(2)
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="frames")

    async def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a method of the service in one of the few threads that decode frames."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, function, *arguments)

    def pixel_hash(self, facts: ExamFacts, head: int, frame: int) -> str | None:
        """Return the hash of the scored pixels; None if the frame was not decoded.

        Raises
        ------
        FileError
            The exam has no such frame, or its tables cannot be read.
        """
        with self._open(facts, head) as reader:
            return reader.pixel_hash(frame)

    def pixels(self, facts: ExamFacts, head: int, frame: int) -> NDArray[Any]:
        """Return the scored pixels.

        Raises
        ------
        FileError
            The exam has no such frame, it was not decoded, or its source is missing or changed.
        """
        with self._open(facts, head) as reader:
            return reader.pixels(frame)

    def key_frame(self, facts: ExamFacts, head: int, frame: int) -> int:
        """Return the nearest frame at or before this one that decodes without others."""
        with self._open(facts, head) as reader:
            return reader.key_frame(frame)

    def image(self, facts: ExamFacts, head: int, frame: int, width: int = 0) -> FrameImage:
        """Return a frame as an image file, with at most `width` columns unless that is 0.

        Raises
        ------
        FileError
            As for :meth:`pixels`.
        """
        key = (facts.exam, facts.stamp, head, frame, width)
        with self._lock:
            image = self._images.get(key)
        if image is None:
            with self._open(facts, head) as reader:
                image = _image(reader, frame, width)
            with self._lock, suppress(ValueError):  # larger than the whole cache
                self._images[key] = image
        return image

    def image_or_none(self, facts: ExamFacts, head: int, frame: int, width: int = 0) -> FrameImage:
        """Return a frame as for :meth:`image`, or the reason why it cannot be shown."""
        try:
            return self.image(facts, head, frame, width)
        except FileError as error:
            return FrameImage("", plain(error).encode())

    def thumbnails(
        self, facts: ExamFacts, head: int, frames: list[int]
    ) -> list[tuple[int, FrameImage]]:
        """Return small images of frames: stored ones of flagged frames, the others decoded."""
        key = (facts.exam, facts.stamp)
        with self._lock:
            stored = self._thumbnails.get(key)
        if stored is None:
            stored = {}
            with suppress(FileError):  # without the table all of them are decoded
                stored = Exam(facts.folder).thumbnails()
            with self._lock:
                self._thumbnails[key] = stored
        return [
            (
                frame,
                FrameImage("jpeg", stored[head, frame])
                if (head, frame) in stored
                else self.image_or_none(facts, head, frame, _THUMBNAIL_WIDTH),
            )
            for frame in frames
        ]

    def close(self) -> None:
        """End the threads and close all readers."""
        self._threads.shutdown(cancel_futures=True)
        with self._lock:
            for reader in self._readers.values():
                reader.close()
            self._readers.clear()

    @contextmanager
    def _open(self, facts: ExamFacts, head: int) -> Iterator[FrameReader]:
        """Yield the reader of a head; errors do not name the folders of the source."""
        key = (facts.exam, facts.stamp, head)
        evicted: list[FrameReader] = []
        try:
            with self._lock:
                reader = self._readers.get(key)
                if reader is None:
                    reader = Exam(facts.folder).reader(head)
                    while len(self._readers) >= self._readers.maxsize:
                        evicted.append(self._readers.popitem()[1])
                    self._readers[key] = reader
            for oldest in evicted:  # a thread that still uses it opens the file again
                oldest.close()
            yield reader
        except FileError as error:
            raise _without_folder(error, facts) from error


def _image(reader: FrameReader, frame: int, width: int) -> FrameImage:
    """Return the stored file if a browser shows it with the scored pixels, or else a JPEG file."""
    content = None if width else reader.stored_file(frame)
    kind = browser_kind(content) if content is not None else ""
    if content is not None and kind:
        return FrameImage(kind, content)
    pixels = reader.pixels(frame)
    return FrameImage("jpeg", jpeg(shrink(pixels, width=width) if width else pixels))


def _without_folder(error: FileError, facts: ExamFacts) -> FileError:
    """Return an error without the folders of the sources, which readers need not know."""
    text = str(error)
    for source in read_record(facts.folder)["sources"]:
        text = text.replace(f"{Path(source['path']).parent}/", "")
    return FileError(text)
