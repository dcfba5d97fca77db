"""A folder of images: every file is a frame, in natural order."""

import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources import image_list
from capsieve.sources.image_list import LARGEST_IMAGE, Row
from capsieve.sources.image_names import belongs, is_image_name
from capsieve.sources.natural_order import natural_key
from capsieve.sources.source import Place, Segment, SourceFrame, Survey

__all__ = ["ImageFolder", "list_images"]

# The checksum of a file that cannot be read, and what stands for its sha256 in the listing.
_UNREADABLE = -1
_NO_SHA256 = "unreadable"


class ImageFolder:
    """One head's images in a folder.

    A file that is no readable image keeps its place as a frame that could not be decoded.

    Parameters
    ----------
    place
        The folder; :attr:`~capsieve.sources.source.Place.names` selects among its files, or is the
        name of a folder inside.
    """

    def __init__(self, place: Place) -> None:
        self._place = place

    @property
    def place(self) -> Place:
        """Where it is."""
        return self._place

    def survey(self) -> Survey:
        """Read every file once, without decoding it."""
        rows: list[Row] = []
        listing = hashlib.sha256()
        size = 0
        for name in self._names():
            data = self.content(name)
            rows.append((name, _checksum(data)))
            if isinstance(data, bytes):
                size += len(data)
                listing.update(f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode())
            else:
                listing.update(f"{_NO_SHA256}  {name}\n".encode())
        return Survey(
            sha256=listing.hexdigest(),
            size=size,
            declared=None,
            segments=image_list.cut_into_segments(rows),
            description=image_list.describe("folder of images", rows, self._decode),
        )

    def frames(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield every frame of a segment in order; those that cannot be decoded, too.

        Raises
        ------
        FileError
            A file is gone, or its content is not what was surveyed.
        """
        for row in image_list.rows_of(segment):
            yield self._decode(row)

    def expected(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield the same frames without decoding: no pixels, no problem."""
        return image_list.expected_frames(segment)

    def samples(self, survey: Survey, count: int) -> list[NDArray[Any]]:
        """Return pixels of about `count` images spread evenly over the folder."""
        return image_list.sample_frames(survey, count, self._decode)

    def frame_named(self, file: str) -> SourceFrame:
        """Return a frame by the name of its file.

        Raises
        ------
        FileError
            There is no such image in the folder.
        """
        if file not in self._names():
            raise FileError(f"{self._place.path} holds no image {file!r}; was it moved or renamed?")
        return image_list.decode_frame(file, self.content(file))

    def content(self, name: str) -> bytes | str:
        """Return a file's bytes, or the reason why they cannot be had.

        Parameters
        ----------
        name
            As the survey, and the column "file" of the tables, have it.

        Raises
        ------
        FileError
            The file is gone.
        """
        path = _stored_path(self._place.path, name)
        try:
            return _read_regular(path)
        except FileNotFoundError:
            if os.path.lexists(path):
                return "it is a link that points nowhere"
            raise image_list.changed(self._place.path, name, "is gone") from None
        except OSError as error:
            return error.strerror or str(error)

    def _names(self) -> list[str]:
        inside = self._place.names if self._place.names.endswith("/") else ""
        names = [f"{inside}{name}" for name in list_images(os.path.join(self._place.path, inside))]
        names = [name for name in names if belongs(name, self._place.names)]
        if not names:
            raise FileError(
                f"{self._place.path} holds no images any more; screen it when they are back"
            )
        return names

    def _decode(self, row: Row) -> SourceFrame:
        name, checksum, *_ = row
        data = self.content(name)
        if _checksum(data) != checksum:
            why = "has another content" if isinstance(data, bytes) else f"cannot be read: {data}"
            raise image_list.changed(self._place.path, name, why)
        return image_list.decode_frame(name, data)


def list_images(folder: str | os.PathLike[str]) -> list[str]:
    """Return the names of the images directly in a folder, in natural order.

    Names that are not valid text come with their bytes escaped: tables hold only valid text.

    Raises
    ------
    FileError
        The folder cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            names = [
                _as_text(entry.name)
                for entry in entries
                if is_image_name(entry.name) and not _is_folder(entry)
            ]
    except OSError as error:
        raise FileError(f"cannot list {folder}: {error.strerror or error}") from error
    return sorted(names, key=natural_key)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    # Unlike the entry itself, os.path takes a link that goes in circles for no folder.
    return entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and os.path.isdir(entry.path))


def _as_text(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _stored_path(folder: str, name: str) -> str:
    """Return the path of a file that :func:`list_images` named."""
    path = os.path.join(folder, name)
    if "\\x" in name and not os.path.lexists(path):
        inside, _, last = name.rpartition("/")
        for stored in os.listdir(os.path.join(folder, inside)):
            if _as_text(stored) == last:
                return os.path.join(folder, inside, stored)
    return path


def _checksum(data: bytes | str) -> int:
    return zlib.crc32(data) if isinstance(data, bytes) else _UNREADABLE


def _read_regular(path: str) -> bytes | str:
    """Return the bytes of a regular file; a pipe, a device or a huge file is never read."""
    refusal = _refusal(os.stat(path))
    if refusal:
        return refusal
    # Should a pipe take its place just now, opening it must not wait for somebody to write.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        # One byte more than it should have: a file that grows is noticed by its checksum.
        status = os.fstat(descriptor)
        return _refusal(status) or file.read(status.st_size + 1)


def _refusal(status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_size > LARGEST_IMAGE:
        return f"it is larger than {LARGEST_IMAGE // 10**6} MB, which no capsule frame is"
    return ""
