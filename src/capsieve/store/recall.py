"""A frame of a screened exam, exactly the one that was scored."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frames import FieldOfView, pixel_hash
from capsieve.parameters import Parameters
from capsieve.sources.source import Place, SourceFrame
from capsieve.store.record import Record, SourceRecord, read_record

__all__ = ["Recalled", "as_scored", "frame_row", "recall", "source_place"]


@dataclass(frozen=True, slots=True, eq=False)
class Recalled:
    """A frame, and what it was scored with.

    Attributes
    ----------
    pixels
        As they were scored.
    field_of_view
        None where the frame was taken whole.
    parameters
        Those of the exam.
    row
        The frame's row in frames.parquet.
    source
        What it was read from, for people.
    """

    pixels: NDArray[Any]
    field_of_view: FieldOfView | None
    parameters: Parameters
    row: dict[str, Any]
    source: str


def recall(folder: Path, frame: int, *, head: int = 0) -> Recalled:
    """Read a frame of a screened exam from its source.

    Parameters
    ----------
    folder
        The exam's folder.
    frame
        Its number, from 0.
    head
        Which camera.

    Raises
    ------
    FileError
        The exam, the frame or the source is not there, or the source has changed.
    """
    record = read_record(folder)
    row = frame_row(folder, record, frame, head)
    if row["status"] != "decoded":
        raise FileError(f"frame {frame} could not be decoded: {row['problem']}")
    source = next(source for source in record["sources"] if source["head"] == head)
    place = source_place(folder, source)
    found = _read(place, row)
    if found.pixels is None or pixel_hash(found.pixels) != row["sha1"]:
        raise FileError(
            f"frame {frame} of {place.path} is not the one that was screened: the source has "
            "changed; screen it again with --fresh"
        )
    return as_scored(record, row, found.pixels, source=place.path)


def as_scored(
    record: Record, row: dict[str, Any], pixels: NDArray[Any], *, source: str
) -> Recalled:
    """Return a frame together with what it was scored with.

    Parameters
    ----------
    record, row
        What the exam says of itself, and of the frame.
    pixels
        The frame's, as they were scored.
    source
        What they were read from, for people.
    """
    view = _view(record, row["head"], pixels.shape[0], pixels.shape[1])
    return Recalled(pixels, view, Parameters.from_dict(record["parameters"]), row, source)


def frame_row(folder: Path, record: Record, frame: int, head: int) -> dict[str, Any]:
    """Return the row of a frame in frames.parquet.

    Raises
    ------
    FileError
        There is no such head or frame, or the table cannot be read.
    """
    if str(head) not in record["heads"]:
        raise FileError(f"the exam {record['exam']} has no head {head}; it has {_heads(record)}")
    filters = [("head", "==", head), ("frame", "==", frame)]
    try:
        rows = pq.read_table(folder / "frames.parquet", filters=filters).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise FileError(
            f"cannot read {folder / 'frames.parquet'} ({error}); screen the exam anew, with --fresh"
        ) from error
    if not rows:
        count = record["heads"][str(head)]["found"]
        raise FileError(
            f"the exam {record['exam']} has no frame {frame}; they are numbered 0 to {count - 1}"
        )
    return rows[0]


def _heads(record: Record) -> str:
    return " and ".join(record["heads"])


def source_place(folder: Path, source: SourceRecord) -> Place:
    """Return where a source is now: where it was, or, if all moved together, beside the results.

    Parameters
    ----------
    folder
        The exam's folder.
    source
        What its record says of the source.

    Raises
    ------
    FileError
        The source is not there, or was never kept.
    """
    if source["path"] == "-":
        raise FileError(
            "the exam came through standard input and was not kept; screen a file instead"
        )
    moved = (folder / source["relative"]).resolve()
    there = next((path for path in (Path(source["path"]), moved) if path.exists()), None)
    if there is None:
        raise FileError(f"the exam's source {source['path']} is not there; put it back")
    return Place(
        kind=source["kind"],  # pyright: ignore[reportArgumentType]
        path=str(there),
        head=source["head"],
        stream=source["stream"],
        names=source["names"],
    )


def _read(place: Place, row: dict[str, Any]) -> SourceFrame:
    from capsieve.sources.image_archive import ImageArchive
    from capsieve.sources.image_folder import ImageFolder
    from capsieve.sources.video import Video

    if place.kind == "zip":
        return ImageArchive(place).frame_named(row["file"])
    if place.kind == "folder":
        return ImageFolder(place).frame_named(row["file"])
    source = Video(place)
    if row["pts"] is not None:
        return source.frame_at(row["pts"])
    # Without a time stamp there is only the order to go by.
    decoded = (frame for part in source.survey().segments for frame in source.frames(part))
    return next(islice(decoded, row["frame"], None), SourceFrame(None))


def _view(record: Record, head: int, rows: int, cols: int) -> FieldOfView | None:
    for view in record["views"]:
        if (view["head"], view["rows"], view["cols"]) == (head, rows, cols):
            shape: Any = view["shape"]
            return FieldOfView(shape, view["row"], view["col"], view["radius"], view["confidence"])
    return None
