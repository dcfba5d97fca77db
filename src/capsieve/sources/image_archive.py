"""A ZIP archive of images: every image in it is a frame, in natural order.

The archive is never unpacked to the disk. Its directory is read once, by the survey; segments carry
where their images are stored, so that a worker reads these and nothing else.
"""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources import image_list
from capsieve.sources.archive_checks import check_directory, check_entries
from capsieve.sources.image_list import Row
from capsieve.sources.image_names import belongs, is_image_name, name_heads
from capsieve.sources.natural_order import natural_key
from capsieve.sources.source import Place, Segment, SourceFrame, Survey

__all__ = ["ImageArchive", "archive_heads"]

_LOCAL_SIGNATURE = b"PK\x03\x04"
_LOCAL_SIZE = 30


class _Stored(NamedTuple):
    """Where an image lies in the archive, and how."""

    name: str
    checksum: int  # of the stored bytes
    offset: int
    packed: int
    size: int
    method: int
    crc: int  # of the image's bytes


class ImageArchive:
    """One head's images in a ZIP archive.

    An image whose bytes are damaged keeps its place as a frame that could not be decoded.

    Parameters
    ----------
    place
        The archive; :attr:`~capsieve.sources.source.Place.names` selects among its files, or is the
        name of a folder inside.
    """

    def __init__(self, place: Place) -> None:
        self._place = place

    @property
    def place(self) -> Place:
        """Where it is."""
        return self._place

    def survey(self) -> Survey:
        """Read through the archive, without unpacking it.

        Raises
        ------
        FileError
            It cannot be read, or is refused as a whole.
        """
        path = self._place.path
        with _opened(path) as file:
            entries = [
                entry
                for entry in _image_entries(file, path)
                if belongs(entry.filename, self._place.names)
            ]
            if not entries:
                raise FileError(f"{path} holds no images of head {self._place.head}")
            rows: list[Row] = [_survey_entry(file, entry) for entry in entries]
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            return Survey(
                sha256=sha256,
                size=file.tell(),
                declared=len(rows),
                segments=image_list.cut_into_segments(rows),
                description=image_list.describe(
                    "ZIP archive of images", rows, lambda row: self._decode(file, row)
                ),
            )

    def frames(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield every frame of a segment in order; those that cannot be decoded, too.

        Raises
        ------
        FileError
            The archive is gone, or its content is not what was surveyed.
        """
        with _opened(self._place.path) as file:
            for row in image_list.rows_of(segment):
                yield self._decode(file, row)

    def expected(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield the same frames without decoding: no pixels, no problem."""
        return image_list.expected_frames(segment)

    def samples(self, survey: Survey, count: int) -> list[NDArray[Any]]:
        """Return pixels of about `count` images spread evenly over the archive."""
        with _opened(self._place.path) as file:
            return image_list.sample_frames(survey, count, lambda row: self._decode(file, row))

    def frame_named(self, file: str) -> SourceFrame:
        """Return a frame by the name of its entry.

        Raises
        ------
        FileError
            There is no such image in the archive.
        """
        path = self._place.path
        with _opened(path) as archive:
            for entry in _image_entries(archive, path):
                if entry.filename == file and belongs(file, self._place.names):
                    return self._decode(archive, _survey_entry(archive, entry))
        raise FileError(f"{path} holds no image {file!r}; is it still the same archive?")

    def content(self, row: Row) -> bytes | str:
        """Return the bytes of an image, or the reason why they cannot be had.

        Parameters
        ----------
        row
            What a segment of the survey says of the image.

        Raises
        ------
        FileError
            The archive is gone, or its content is not what was surveyed.
        """
        with _opened(self._place.path) as file:
            return self._content(file, _Stored(*row))

    def _decode(self, file: BufferedReader, row: Row) -> SourceFrame:
        stored = _Stored(*row)
        return image_list.decode_frame(stored.name, self._content(file, stored))

    def _content(self, file: BufferedReader, stored: _Stored) -> bytes | str:
        packed = _stored_bytes(file, stored.offset, stored.packed)
        if zlib.crc32(packed) != stored.checksum:
            raise image_list.changed(self._place.path, stored.name, "has another content")
        return _unpack(packed, stored)


def archive_heads(path: str) -> dict[int, str]:
    """Return for each head in an archive what selects its images; see ``Place.names``.

    Raises
    ------
    FileError
        It cannot be read, or is refused as a whole.
    """
    with _opened(path) as file:
        return name_heads([entry.filename for entry in _image_entries(file, path)], where=path)


@contextmanager
def _opened(path: str) -> Iterator[BufferedReader]:
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise FileError(f"cannot read {path}: it is not a regular file")  # a pipe would wait
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error


def _image_entries(file: BufferedReader, path: str) -> list[zipfile.ZipInfo]:
    """Return the entries that are images, in natural order; refuse what must not be read."""
    check_directory(file, path)
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            check_entries(entries, path, directory=archive.start_dir)
    # zipfile raises errors of many types on broken directories.
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OSError) as error:
        raise FileError(
            f"cannot read {path}: the archive is damaged or cut off ({error}); get a fresh copy"
        ) from error
    images = [entry for entry in entries if is_image_name(entry.filename) and not entry.is_dir()]
    if not images:
        from capsieve.sources.video import is_video_name

        if any(is_video_name(entry.filename) for entry in entries):
            raise FileError(f"{path} holds a video and no images; unpack it and screen the video")
        raise FileError(f"{path} holds no images: no JPEG, PNG, BMP or TIFF files")
    return sorted(images, key=lambda entry: natural_key(entry.filename))


def _survey_entry(file: BufferedReader, entry: zipfile.ZipInfo) -> _Stored:
    return _Stored(
        name=entry.filename,
        checksum=zlib.crc32(_stored_bytes(file, entry.header_offset, entry.compress_size)),
        offset=entry.header_offset,
        packed=entry.compress_size,
        size=entry.file_size,
        method=entry.compress_type,
        crc=entry.CRC,
    )


def _stored_bytes(file: BufferedReader, offset: int, packed: int) -> bytes:
    """Return an entry's bytes as they are stored; b"" where there is no entry."""
    file.seek(offset)
    header = file.read(_LOCAL_SIZE)
    if len(header) < _LOCAL_SIZE or not header.startswith(_LOCAL_SIGNATURE):
        return b""
    file.seek(sum(struct.unpack_from("<HH", header, 26)), 1)
    return file.read(packed)


def _unpack(packed: bytes, stored: _Stored) -> bytes | str:
    """Return an image's bytes, or the reason why they cannot be had; never more than it claims."""
    data = packed
    if stored.method == zipfile.ZIP_DEFLATED:
        try:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, stored.size + 1)
        except zlib.error:
            return "its bytes in the archive are damaged"
    if len(data) != stored.size or zlib.crc32(data) != stored.crc:
        return "its bytes in the archive are damaged"
    return data
