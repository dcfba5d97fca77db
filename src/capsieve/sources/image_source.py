"""Folders and ZIP archives of images as sources of frames: one frame per image, in natural order.

Archives are never unpacked to disk.
"""

import hashlib
import io
import os
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError, file_errors, printable
from capsieve.names import natural_key, split_head
from capsieve.sources.base import PacketTable, Place, Segment, SourceFrame, Survey, file_stamp
from capsieve.sources.image_file import (
    LARGEST_FILE,
    decode_image,
    image_damage,
    image_size,
    read_file,
)
from capsieve.sources.reader import FrameReader
from capsieve.user_files import PathLike, open_file

_KINDS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG", ".bmp": "BMP"} | dict.fromkeys(
    (".tif", ".tiff"), "TIFF"
)
_SEGMENT_IMAGES = 240
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNREADABLE = -1  # instead of the CRC-32 of an image that cannot be read
_SAMPLED_BYTES = 500_000_000
_TRIES = 8

_END_BYTES = 22  # of the record at the end of an archive
_MANY = 0xFFFF  # the number of entries is in another record
_ENCRYPTED = 0x1  # bit of the general-purpose flags
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # LZMA can take gigabytes of memory
_MOST_COMPRESSED = 1032  # deflate does not compress further
_ZIP_ERRORS = (  # raised by zipfile for damaged archives
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError),
    *(EOFError, ValueError, RuntimeError),
)


class ImageSource:
    """The images of one head in a folder or ZIP archive.

    An image that cannot be read or decoded is a frame too, and keeps its number.

    Parameters
    ----------
    place
        The folder or archive; see :attr:`~capsieve.sources.base.Place.names` for two heads.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        inside = place.names if place.names.endswith("/") else ""
        self._files = _Archive(place.path) if place.kind == "zip" else _Folder(place.path, inside)

    def names(self) -> list[str]:
        """Return the names of the images in natural order.

        Raises
        ------
        FileError
            There are none, two have the same name, or the archive is refused.
        """
        path, head = self.place.path, self.place.names
        names = [name for name in self._files.names() if _belongs(name, head)]
        if not names:
            raise FileError(f"{path} contains no images (JPEG, PNG, BMP or TIFF)")
        name, count = Counter(names).most_common(1)[0]
        if count > 1:
            raise FileError(f"{path} contains {count} files named {name}; rename them")
        return sorted(names, key=natural_key)

    def read(self, name: str) -> bytes:
        """Return the content of an image file.

        Raises
        ------
        FileError
            It is missing, too large, damaged in the archive, or cannot be read.
        """
        return self._files.read(name)

    def stamp(self) -> str:
        """Return a text that changes with sizes or modification times, without reading content."""
        return self._files.stamp()

    def survey(self) -> Survey:
        """Read every image once without decoding it."""
        names = self.names()
        images: list[tuple[str, int]] = []
        listing = hashlib.sha256()
        size, shape = 0, None
        for name in names:
            crc, digest = _UNREADABLE, "unreadable"
            with suppress(FileError):
                data = self.read(name)
                crc, digest = zlib.crc32(data), hashlib.sha256(data).hexdigest()
                size += len(data)
                shape = shape or image_size(data, name=name)
            images.append((name, crc))
            listing.update(f"{digest}  {name}\n".encode())
        starts = range(0, len(images), _SEGMENT_IMAGES)
        parts = [images[start : start + _SEGMENT_IMAGES] for start in starts]
        rows, cols = shape or (None, None)
        kinds = Counter(_KINDS[PurePosixPath(name).suffix.lower()] for name in names)
        is_zip = self.place.kind == "zip"
        return Survey(
            sha256=listing.hexdigest(),
            size=size,
            declared=len(names) if is_zip else None,
            segments=tuple(
                Segment(number, len(part), f"{zlib.crc32(repr(part).encode()):08x}", part)
                for number, part in enumerate(parts)
            ),
            description={
                "container": f"{'ZIP archive' if is_zip else 'folder'} of images",
                "codec": ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()),
                "rows": rows,
                "cols": cols,
                "colour": "as stored (sRGB assumed)",
            },
        )

    def frames(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield every frame of a segment in order, including those that cannot be decoded."""
        for name, crc in segment.span:
            yield self._frame(name, crc)

    def expected(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield the same frames without decoding: no pixels, no problem."""
        for name, _ in segment.span:
            yield SourceFrame(None, file=name)

    def samples(self, survey: Survey, count: int) -> list[NDArray[Any]]:
        """Return pixels of about `count` images that are spread evenly over the source.

        An image that cannot be decoded is replaced by one of the next images. Very large images
        end the list early, because of the memory.
        """
        images = [image for segment in survey.segments for image in segment.span]
        count = min(count, len(images))
        sampled: list[NDArray[Any]] = []
        for number in range(count):
            # From the middle of each interval, so both ends of the exam have equal weight.
            first = (2 * number + 1) * len(images) // (2 * count)
            for image in images[first : first + min(_TRIES, len(images) // count)]:
                pixels = self._frame(*image).pixels
                if pixels is not None:
                    sampled.append(pixels)
                    break
            if sum(pixels.nbytes for pixels in sampled) > _SAMPLED_BYTES:
                break
        return sampled

    def reader(
        self,
        frames: pa.Table,
        *,
        packets: PacketTable | None = None,
        description: Mapping[str, Any] | None = None,
        cache_bytes: int = 0,
    ) -> FrameReader:
        """Return a reader of frames that were screened."""
        files = frames["file"].to_pylist()
        return FrameReader(self.place.path, frames["pixel_hash"], _Images(self, files))

    def _frame(self, name: str, crc: int) -> SourceFrame:
        label = os.path.join(self.place.path, name)
        checksum, pixels = _UNREADABLE, None
        try:
            data = self.read(name)
            checksum = zlib.crc32(data)
            pixels, problem = decode_image(data, name=label), image_damage(data)
        except FileError as error:
            problem = str(error).removeprefix(printable(f"cannot read {label}: "))
        if checksum != crc:
            raise FileError(
                f"{self.place.path} changed while it was being read ({name}); screen it again "
                "when no program writes to it"
            )
        return SourceFrame(pixels, file=name, problem=problem)


class _Images:
    """Images of a source by frame."""

    has_files = True

    def __init__(self, source: ImageSource, files: Sequence[str | None]) -> None:
        self._source = source
        self._files = files

    def candidates(self, frame: int) -> Iterator[tuple[NDArray[Any], bytes]]:
        """Yield the pixels of an image and the content of its file; nothing if it is damaged."""
        name = self._files[frame]
        if name is None:
            return
        content = self._source.read(name)
        with suppress(FileError):
            yield decode_image(content, name=name), content

    def stored_order(self, frame: int) -> int:
        """Return the number of the frame."""
        return frame

    def starts(self) -> NDArray[np.bool_]:
        """Return that every frame is decoded without any other."""
        return np.ones(len(self._files), np.bool_)

    def close(self) -> None:
        """Do nothing: the archives of a process stay open."""


def is_image_name(name: str) -> bool:
    """Return whether a file is a frame by its name: the ending of an image, and not hidden.

    The files that macOS adds to archives (``__MACOSX/``, ``._name``) have the endings of images.
    """
    path = PurePosixPath(name)
    if any(part.startswith(".") and part != ".." for part in path.parts):
        return False
    return path.suffix.lower() in _KINDS and "__MACOSX" not in path.parts


def list_images(folder: PathLike) -> list[str]:
    """Return the names of the images directly in a folder, in natural order.

    Raises
    ------
    FileError
        The folder cannot be listed, or a name is not UTF-8 text.
    """
    with file_errors("list", folder), os.scandir(folder) as entries:
        # DirEntry.is_dir fails for a link to itself; os.path.isdir does not.
        images = [entry for entry in entries if is_image_name(entry.name)]
        names = [entry.name for entry in images if not os.path.isdir(entry.path)]
    for name in names:
        if _SURROGATES.search(name):  # of bytes that are not UTF-8
            raise FileError(f"{folder} contains {name!r}, which is not UTF-8 text; rename it")
    return sorted(names, key=natural_key)


def _belongs(name: str, names: str) -> bool:
    """Return whether an image is one of a head; see :attr:`~capsieve.sources.base.Place.names`."""
    if names.endswith("/"):
        return f"{name.rpartition('/')[0]}/" == names
    return not names or split_head(PurePosixPath(name).stem)[1] == split_head(names)[1]


class _Folder:
    """The images in a folder, or in one of the folders inside."""

    def __init__(self, path: str, inside: str) -> None:
        self._path = path
        self._inside = inside

    def names(self) -> list[str]:
        folder = os.path.join(self._path, self._inside)
        return [self._inside + name for name in list_images(folder)]

    def read(self, name: str) -> bytes:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not is_image_name(name):
            raise FileError(f"{self._path} contains no image {name}")
        return read_file(os.path.join(self._path, name))

    def stamp(self) -> str:
        listing = hashlib.sha256()
        for name in self.names():
            status = None
            with suppress(FileError):
                status = file_stamp(os.path.join(self._path, name))
            listing.update(f"{name}\0{status}\n".encode())
        return listing.hexdigest()


class _Archive:
    """The images in a ZIP archive."""

    def __init__(self, path: str) -> None:
        self._path = path

    def names(self) -> list[str]:
        return [entry.filename for entry in _image_entries(self._open())]

    def read(self, name: str) -> bytes:
        archive = self._open()
        label = os.path.join(self._path, name)
        try:
            entry = archive.getinfo(name)
            with archive.open(entry) as file:
                # Without a number, zipfile would unpack more than the directory declares.
                return file.read(entry.file_size)
        except KeyError:
            raise FileError(f"cannot read {label}: the archive contains no such file") from None
        except _ZIP_ERRORS as error:
            reason = f"its data in the archive are damaged ({error})"
            raise FileError(f"cannot read {label}: {reason}") from error

    def stamp(self) -> str:
        return file_stamp(self._path)

    def _open(self) -> zipfile.ZipFile:
        # A forked process shares the position in the file with its parent and must open its own.
        return _open_archive(self._path, self.stamp(), os.getpid())


@lru_cache(maxsize=4)
def _open_archive(path: str, stamp: str, process: int) -> zipfile.ZipFile:
    """Open an archive; it is opened again if its stamp has changed."""
    file = _BoundedFile(open_file(path).detach())
    try:
        archive = zipfile.ZipFile(file)
        images = _image_entries(archive)
        _check_entries(images, path)
        _check_directory(file, archive, images)
    except _ZIP_ERRORS as error:
        file.close()
        raise FileError(
            f"cannot read {path}: it is not a ZIP archive, or it is damaged or truncated "
            f"({error}); copy the file again"
        ) from error
    except FileError:
        file.close()
        raise
    return archive


def _check_entries(entries: list[zipfile.ZipInfo], path: str) -> None:
    for entry in entries:
        problem = ""
        if entry.flag_bits & _ENCRYPTED:
            problem = "is encrypted"
        elif entry.compress_type not in _METHODS:
            problem = "has an unusual compression"
        elif max(entry.file_size, entry.compress_size) > LARGEST_FILE:
            problem = f"is larger than {LARGEST_FILE // 10**6} MB, which no capsule frame is"
        if problem:
            raise FileError(f"{path} is refused: {entry.filename} {problem}; pack the images again")
    if sum(entry.file_size for entry in entries) > _MOST_COMPRESSED * os.path.getsize(path):
        raise FileError(f"{path} is refused: it declares more bytes than it can contain")


def _check_directory(
    file: io.BufferedReader, archive: zipfile.ZipFile, images: list[zipfile.ZipInfo]
) -> None:
    """Raise BadZipFile if entries are missing, or a file that is no image is stored as another one.

    Otherwise, damage in the directory could remove frames. The names of images are compared when
    they are read.
    """
    entries = archive.infolist()
    file.seek(-_END_BYTES - len(archive.comment), os.SEEK_END)
    declared = int.from_bytes(file.read(_END_BYTES)[10:12], "little")
    if declared not in (_MANY, len(entries) & _MANY):
        raise zipfile.BadZipFile(f"its directory has {len(entries)} of {declared} entries")
    known = {entry.header_offset for entry in images}
    for entry in entries:
        if entry.header_offset not in known:
            with suppress(RuntimeError):  # encrypted, or of an unknown compression
                archive.open(entry).close()


class _BoundedFile(io.BufferedReader):
    """A file that does not read huge directories: zipfile makes an object of every entry."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > LARGEST_FILE:
            raise zipfile.BadZipFile("its directory is too large")
        return super().read(size)

    def __del__(self) -> None:
        self.close()


def _image_entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    entries = archive.infolist()
    return [entry for entry in entries if is_image_name(entry.filename) and not entry.is_dir()]
