"""Frames that are image files, in any order."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError
from capsieve.review.frames.indexing import not_what_was_screened
from capsieve.review.frames.table import HeadTable
from capsieve.sources.image_archive import ImageArchive
from capsieve.sources.image_folder import ImageFolder
from capsieve.sources.image_list import Row, decode_frame, rows_of
from capsieve.sources.source import Place

__all__ = ["ImageReader", "archive_rows"]

_NAME = b"capsieve"
_COLUMNS = ("name", "checksum", "offset", "packed", "size", "method", "crc")


class ImageReader:
    """Reads frames from a folder or an archive of images. Threads may share it.

    Parameters
    ----------
    place
        The folder or archive.
    table
        What was screened.
    rows
        For an archive: where its images lie, see :func:`archive_rows`.
    """

    def __init__(self, place: Place, table: HeadTable, rows: list[Row] | None = None) -> None:
        self._place = place
        self._table = table
        self._rows = rows

    def stored(self, frame: int) -> bytes:
        """Return the content of a frame's file.

        Raises
        ------
        FileError
            It is not there any more, or cannot be read.
        """
        name = self._table.value("file", frame)
        content = self._from_folder(name) if self._rows is None else self._from_archive(frame)
        if isinstance(content, str):
            raise FileError(f"cannot read {name} in {self._place.path}: {content}")
        return content

    def pixels(self, frame: int) -> NDArray[Any] | None:
        """Return the pixels of a frame; None where it cannot be decoded.

        Raises
        ------
        FileError
            As for :meth:`stored`.
        """
        return self.decode(frame, self.stored(frame))

    def decode(self, frame: int, content: bytes) -> NDArray[Any] | None:
        """Return the pixels of a frame whose file's content is at hand."""
        return decode_frame(self._table.value("file", frame), content).pixels

    def as_screened(self, frame: int) -> NDArray[Any] | None:
        """Return the pixels of a frame: there is one way only."""
        return self.pixels(frame)

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _from_folder(self, name: str) -> bytes | str:
        return ImageFolder(self._place).content(name)

    def _from_archive(self, frame: int) -> bytes | str:
        assert self._rows is not None
        return ImageArchive(self._place).content(self._rows[frame])


def archive_rows(place: Place, table: HeadTable, path: Path, *, identity: str) -> list[Row]:
    """Return where the images of an archive lie: from the index, or by reading through it once.

    Parameters
    ----------
    place
        The archive.
    table
        What was screened; it must be the same images.
    path
        Where the index is, or goes.
    identity
        Of the source, see :func:`~capsieve.review.frames.keeping.identity_of`.

    Raises
    ------
    FileError
        The archive cannot be read, or is not what was screened.
    """
    rows = _load(path, identity)
    if rows is None:
        rows = [
            row for segment in ImageArchive(place).survey().segments for row in rows_of(segment)
        ]
        if [row[0] for row in rows] != table.columns["file"].to_pylist():
            raise not_what_was_screened(place.path)
        with suppress(FileError):  # a full disk: it is made again when the exam is next opened
            _save(rows, path, identity)
    return rows


def _save(rows: list[Row], path: Path, identity: str) -> None:
    columns = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=True))
    table = pa.table({name: list(values) for name, values in columns.items()})
    content = {_NAME: json.dumps({"identity": identity}).encode()}
    with atomic_write(path) as temporary:
        pq.write_table(table.replace_schema_metadata(content), temporary, compression="zstd")


def _load(path: Path, identity: str) -> list[Row] | None:
    try:
        table = pq.read_table(path)
        if json.loads((table.schema.metadata or {})[_NAME])["identity"] != identity:
            return None
        return list(zip(*(table.column(name).to_pylist() for name in _COLUMNS), strict=True))
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException):
        return None
