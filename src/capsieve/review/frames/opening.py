"""Opening the source of a screened head for showing, with its index and its proxy."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from capsieve.errors import FileError
from capsieve.review.frames.byte_cache import ByteCache
from capsieve.review.frames.image_reader import ImageReader, archive_rows
from capsieve.review.frames.indexing import Progress, index_video
from capsieve.review.frames.keeping import identity_of, room_folder
from capsieve.review.frames.open_group import OpenGroup
from capsieve.review.frames.proxy import build_proxy, wants_proxy
from capsieve.review.frames.proxy_file import ProxyTable, load_table
from capsieve.review.frames.table import HeadTable
from capsieve.review.frames.video_index import INDEX_VERSION, VideoIndex, load_index, save_index
from capsieve.review.frames.video_reader import Indexed, VideoReader
from capsieve.sources.source import Place
from capsieve.store.lock import locked
from capsieve.store.recall import source_place
from capsieve.store.record import Record

__all__ = ["Opened", "open_head"]


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A head that can be read.

    Attributes
    ----------
    reader
        Reads its frames.
    lacks_proxy
        Whether jumps are slow until a proxy is made.
    """

    reader: VideoReader | ImageReader
    lacks_proxy: bool = False


def open_head(
    folder: Path,
    record: Record,
    table: HeadTable,
    *,
    cache: ByteCache[OpenGroup],
    owner: tuple[str, int],
    proxy: bool = False,
    progress: Progress | None = None,
) -> Opened:
    """Open a head's source; make its index where there is none that holds.

    Parameters
    ----------
    folder, record, table
        The exam and what was screened.
    cache, owner
        See :class:`~capsieve.review.frames.video_reader.VideoReader`.
    proxy
        Whether to make the proxy that a video may need; without, frames come slowly.
    progress
        Told how far that is.

    Raises
    ------
    FileError
        The source is not there, or not what was screened; there is no room for what frames cannot
        be read without, or for the proxy that was asked for.
    """
    source = next(source for source in record["sources"] if source["head"] == table.head)
    place = source_place(folder, source)
    if place.kind == "folder":
        return Opened(ImageReader(place, table))
    identity = identity_of(record, place, version=INDEX_VERSION)
    room = room_folder(folder)
    path = room / f"head-{table.head}.index.parquet"
    if place.kind == "zip":
        return Opened(
            ImageReader(place, table, archive_rows(place, table, path, identity=identity))
        )
    copies = path.with_name(f"head-{table.head}.packets")
    index = _index(place, table, path, copies, identity, progress)
    proxy_path = path.with_name(f"head-{table.head}.proxy")
    found = _proxy(place, index, table, proxy_path, identity, proxy, progress)
    video = Indexed(place, index, copies, found, proxy_path)
    lacks = found is None and wants_proxy(index)
    return Opened(VideoReader(video, cache=cache, owner=owner), lacks)


def _index(
    place: Place,
    table: HeadTable,
    path: Path,
    copies: Path,
    identity: str,
    progress: Progress | None,
) -> VideoIndex:
    index = load_index(path, identity=identity)
    if index is None or (index.copied.any() and not copies.is_file()):
        index = index_video(place, table, copies, progress=progress)
        with suppress(FileError):  # a full disk: it is made again when the exam is next opened
            save_index(index, path, identity=identity)
    return index


def _proxy(
    place: Place,
    index: VideoIndex,
    table: HeadTable,
    path: Path,
    identity: str,
    build: bool,
    progress: Progress | None,
) -> ProxyTable | None:
    if not wants_proxy(index):
        return None
    found = load_table(path.with_suffix(".parquet"), identity=identity)
    if found is not None and path.is_file():
        return found
    if not build:
        return None
    with locked(path.parent):
        return build_proxy(place, index, table, path, identity=identity, progress=progress)
