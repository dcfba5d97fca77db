"""Any frame of a screened exam, exactly the one that was scored."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_images import browser_kind, jpeg, shrink
from capsieve.frames import pixel_hash
from capsieve.review.frames.byte_cache import ByteCache
from capsieve.review.frames.image_reader import ImageReader
from capsieve.review.frames.indexing import Progress, not_what_was_screened
from capsieve.review.frames.open_group import OpenGroup
from capsieve.review.frames.opening import Opened, open_head
from capsieve.review.frames.packs import Picture, pack
from capsieve.review.frames.table import HeadTable, head_tables
from capsieve.review.frames.video_reader import VideoReader
from capsieve.store.record import read_record

__all__ = ["Caches", "ExamFrames"]

Result = TypeVar("Result")

_GROUP_BYTES = 256_000_000
_PICTURE_BYTES = 96_000_000
_THUMBNAIL_SIDE = 160
_THUMBNAIL_QUALITY = 80


@dataclass(frozen=True, slots=True, eq=False)
class Caches:
    """What open exams keep in memory together.

    Attributes
    ----------
    groups
        Decoded groups of pictures.
    pictures
        Encoded pictures.
    """

    groups: ByteCache[OpenGroup] = field(default_factory=partial(ByteCache, _GROUP_BYTES))
    pictures: ByteCache[Picture] = field(default_factory=partial(ByteCache, _PICTURE_BYTES))


class ExamFrames:
    """The frames of a screened exam, from its source. Threads may share it.

    Every frame is held against the SHA-1 that was screened, and refused where it differs. Files
    and decoders open when they are first needed; :meth:`release` closes them.

    Parameters
    ----------
    folder
        The exam's folder.
    caches
        Shared between exams; of its own where not given.

    Raises
    ------
    FileError
        The exam cannot be read.
    """

    def __init__(self, folder: Path, *, caches: Caches | None = None) -> None:
        self._folder = folder
        self._record = read_record(folder)
        self._tables = head_tables(folder)
        self._caches = caches or Caches()
        # Results of another screening in the same folder must not meet these in the cache.
        self._name = f"{folder.absolute()} {self._record['tables'].get('frames.parquet', '')}"
        self._opened: dict[int, Opened] = {}
        self._locks = {head: Lock() for head in self._tables}
        self._preparing = {head: Lock() for head in self._tables}

    @property
    def heads(self) -> dict[int, int]:
        """How many frames each head has."""
        return {head: len(table) for head, table in self._tables.items()}

    def prepare(self, *, progress: Progress | None = None) -> None:
        """Make the index of each head, and the proxy where one is needed; once for each source.

        Until that is done frames can be read too, but slowly.

        Parameters
        ----------
        progress
            Called with what is being done, how much is done and out of how much. What it raises
            ends the work; the next call goes on.

        Raises
        ------
        FileError
            A source is not there, or not what was screened, or there is no room.
        """
        failed: FileError | None = None
        for head in self._tables:
            try:
                with self._preparing[head]:
                    if self._open(head, progress=progress).lacks_proxy:
                        self._replace(head, self._new(head, proxy=True, progress=progress))
            except FileError as error:  # the other head can be prepared all the same
                failed = failed or error
        if failed is not None:
            raise failed

    @property
    def is_prepared(self) -> bool:
        """Whether every head is open and its frames come quickly."""
        opened = [self._opened.get(head) for head in self._tables]
        return all(each is not None and not each.lacks_proxy for each in opened)

    def digest(self, head: int, frame: int) -> str:
        """Return the SHA-1 of a frame's pixels as it was screened.

        Raises
        ------
        FileError
            There is no such frame, or it was not decoded.
        """
        table = self._table(head)
        table.check(frame)
        return table.value("sha1", frame)

    def frame(self, head: int, frame: int) -> NDArray[Any]:
        """Return the pixels of a frame.

        Raises
        ------
        FileError
            There is no such frame, it could not be decoded, its source is not there, or what the
            source gives now is not what was scored.
        """
        digest = self.digest(head, frame)

        def read(reader: VideoReader | ImageReader) -> NDArray[Any]:
            return self._verified((reader.pixels, reader.as_screened), head, frame, digest)

        return self._while_open(head, read)

    def range(
        self, head: int, first: int, count: int, step: int = 1
    ) -> Iterator[tuple[int, NDArray[Any] | None]]:
        """Yield frames with their numbers, forward or backward, as far as there are any.

        Where one cannot be shown, None stands in its place.
        """
        for number in self.numbers(head, first, count, step):
            try:
                yield number, self.frame(head, number)
            except FileError:
                yield number, None

    def numbers(self, head: int, first: int, count: int, step: int = 1) -> list[int]:
        """Return the numbers of a run of frames, as far as there are such frames."""
        frames = len(self._table(head))
        run = range(first, first + count * step, step)
        return [number for number in run if 0 <= number < frames]

    def encoded(self, head: int, frame: int) -> Picture:
        """Return a frame as a browser shows it: its kind ("jpeg", "png") and its bytes.

        Raises
        ------
        FileError
            As for :meth:`frame`.
        """
        return self._cached("whole", head, frame, self._encode)

    def thumbnail(self, head: int, frame: int) -> Picture:
        """Return a frame as a small JPEG.

        Raises
        ------
        FileError
            As for :meth:`frame`.
        """
        return self._cached("small", head, frame, self._shrink)

    def pack(self, head: int, numbers: Iterable[int]) -> bytes:
        """Return frames in one run of bytes, see :mod:`capsieve.review.frames.packs`.

        Frames that cannot be shown are in it without content; :meth:`encoded` tells why.
        """
        return pack((number, self._or_nothing(self.encoded, head, number)) for number in numbers)

    def thumbnails(self, head: int, numbers: Iterable[int]) -> bytes:
        """Return small pictures in one run of bytes, as :meth:`pack` does."""
        return pack((number, self._or_nothing(self.thumbnail, head, number)) for number in numbers)

    def release(self) -> None:
        """Close files and decoders, and let go of decoded pictures; they open again when needed."""
        for head in self._tables:
            self._replace(head, None)

    def _table(self, head: int) -> HeadTable:
        if head not in self._tables:
            has = " and ".join(str(each) for each in sorted(self._tables))
            raise FileError(f"the exam {self._folder.name} has no head {head}; it has {has}")
        return self._tables[head]

    def _open(self, head: int, *, progress: Progress | None = None) -> Opened:
        opened = self._opened.get(head)
        if opened is None:
            with self._locks[head]:
                opened = self._opened.get(head)
                if opened is None:
                    opened = self._opened[head] = self._new(head, progress=progress)
        return opened

    def _new(self, head: int, *, proxy: bool = False, progress: Progress | None = None) -> Opened:
        return open_head(
            self._folder,
            self._record,
            self._tables[head],
            cache=self._caches.groups,
            owner=(self._name, head),
            proxy=proxy,
            progress=progress,
        )

    def _replace(self, head: int, opened: Opened | None) -> None:
        with self._locks[head]:
            before = self._opened.pop(head, None)
            if opened is not None:
                self._opened[head] = opened
        if before is not None:
            before.reader.close()

    def _while_open(self, head: int, read: Callable[[VideoReader | ImageReader], Result]) -> Result:
        """Read from a head, and once more if somebody closed it meanwhile."""
        opened = self._open(head)
        try:
            return read(opened.reader)
        except FileError:
            if self._opened.get(head) is opened:
                raise
        return read(self._open(head).reader)

    def _shrink(self, head: int, frame: int) -> Picture:
        small = shrink(self.frame(head, frame), side=_THUMBNAIL_SIDE)
        return "jpeg", jpeg(small, quality=_THUMBNAIL_QUALITY)

    def _encode(self, head: int, frame: int) -> Picture:
        digest = self.digest(head, frame)
        if not isinstance(self._open(head).reader, ImageReader):
            return "jpeg", jpeg(self.frame(head, frame))

        def read(reader: VideoReader | ImageReader) -> Picture:
            assert isinstance(reader, ImageReader)
            content = reader.stored(frame)
            pixels = self._verified([lambda n: reader.decode(n, content)], head, frame, digest)
            kind = browser_kind(content)
            return (kind, content) if kind else ("jpeg", jpeg(pixels))

        return self._while_open(head, read)

    def _verified(
        self,
        ways: Iterable[Callable[[int], NDArray[Any] | None]],
        head: int,
        frame: int,
        digest: str,
    ) -> NDArray[Any]:
        for way in ways:
            pixels = way(frame)
            if pixels is not None and pixel_hash(pixels) == digest:
                return pixels
        raise not_what_was_screened(f"frame {frame} of head {head} of {self._folder.name}")

    def _cached(
        self, size: str, head: int, frame: int, make: Callable[[int, int], Picture]
    ) -> Picture:
        key = ((self._name, head), frame, size)
        picture = self._caches.pictures.get(key)
        if picture is None:
            picture = make(head, frame)
            self._caches.pictures.put(key, picture, len(picture[1]))
        return picture

    def _or_nothing(self, make: Callable[[int, int], Picture], head: int, frame: int) -> Picture:
        try:
            return make(head, frame)
        except FileError:
            return "", b""
