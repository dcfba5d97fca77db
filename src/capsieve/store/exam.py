"""Reading screened exams: their folders, records, tables and frames."""

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from capsieve.errors import FileError, file_errors
from capsieve.frame_table import FlagRule
from capsieve.frames import FieldOfView
from capsieve.names import natural_key
from capsieve.parameters import Parameters
from capsieve.sources.base import PacketTable, Place, open_source
from capsieve.store.record import RECORD, Record, SourceRecord, read_record
from capsieve.store.schema import NEVER_NULL, SCHEMA, SCREEN_AGAIN, TABLES
from capsieve.store.segments import recover_results, unfinished
from capsieve.store.tables import table_damage
from capsieve.user_files import PathLike, open_file

if TYPE_CHECKING:
    from capsieve.sources.reader import FrameReader


_NAMED = 5  # exams that a message names


class Exam:
    """A screened exam.

    Parameters
    ----------
    folder
        The exam's folder in the output of ``capsieve screen``.

    Attributes
    ----------
    folder : pathlib.Path
    record : Record
        The content of exam.json.

    Raises
    ------
    FileError
        The folder has no valid record.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        self.record: Record = read_record(self.folder)

    @property
    def heads(self) -> list[int]:
        """The cameras of the capsule."""
        return sorted(int(head) for head in self.record["heads"])

    @cached_property
    def parameters(self) -> Parameters:
        """The parameters of the paper's steps that the exam was screened with."""
        return Parameters.from_dict(self.record["parameters"])

    @property
    def rule(self) -> FlagRule:
        """The rule that flagged the frames."""
        return FlagRule(self.record["flagging"]["rule"], self.record["flagging"]["value"])

    def check_tables(self) -> None:
        """Raise FileError if a table is missing or not the one that the record describes."""
        if damage := table_damage(self.folder, self.record["tables"]):
            raise FileError(f"{damage}; {SCREEN_AGAIN}")

    def columns(self, *names: str, table: str = "frames") -> pa.Table:
        """Return columns of a table, in this order; all columns if none is named.

        Raises
        ------
        FileError
            The table is missing, damaged or of another schema version, or has no such column.
        """
        return self._read(table, names)

    def row(self, frame: int, head: int = 0) -> dict[str, Any]:
        """Return the row of one frame in frames.parquet.

        Raises
        ------
        FileError
            There is no such head or frame, or the table cannot be read.
        """
        self._check_head(head)
        frames = self.record["heads"][str(head)]["found"]
        if not 0 <= frame < frames:
            raise FileError(
                f"the exam {self.record['exam']} has no frame {frame}; its frames are numbered "
                f"0 to {frames - 1}"
            )
        rows = self._read("frames", (), [("head", "==", head), ("frame", "==", frame)])
        if not rows.num_rows:
            raise FileError(f"{self._path('frames')} has no row for frame {frame}; {SCREEN_AGAIN}")
        return rows.to_pylist()[0]

    def field_of_view(self, head: int, rows: int, cols: int) -> FieldOfView | None:
        """Return the field of view for frames of this size; None if they are analysed whole."""
        return self.fields_of_view(head).get((rows, cols))

    def fields_of_view(self, head: int) -> dict[tuple[int, int], FieldOfView]:
        """Return the fields of view of a head by rows and columns of the frame."""
        return {
            (entry["rows"], entry["cols"]): FieldOfView(
                entry["shape"], entry["row"], entry["col"], entry["radius"], entry["confidence"]
            )
            for entry in self.record["fields_of_view"]
            if entry["head"] == head
        }

    def thumbnails(self) -> dict[tuple[int, int], bytes]:
        """Return the thumbnails (JPEG) of flagged frames by head and frame."""
        table = self.columns("head", "frame", "thumbnail", table="thumbnails")
        head, frame, thumbnail = (column.to_pylist() for column in table.columns)
        return dict(zip(zip(head, frame, strict=True), thumbnail, strict=True))

    def reader(self, head: int = 0) -> "FrameReader":
        """Return a reader of the frames of one head.

        Raises
        ------
        FileError
            There is no such head, or the source is missing.
        """
        self._check_head(head)
        source = next(entry for entry in self.record["sources"] if entry["head"] == head)
        of_head = [("head", "==", head)]
        frames = self._read("frames", ("file", "packet", "pixel_hash"), of_head)
        packets = PacketTable.from_arrow(self._read("packets", (), of_head))
        opened = open_source(self._place(source))
        return opened.reader(frames, packets=packets, description=source["description"])

    def _place(self, source: SourceRecord) -> Place:
        """Return where the source is; the relative path finds a study that was moved."""
        moved = Path(os.path.realpath(self.folder / source["relative"]))
        with file_errors("read", source["path"]):
            existing = [path for path in (Path(source["path"]), moved) if path.exists()]
        if not existing:
            raise FileError(f"the source {source['path']} of the exam is missing; put it back")
        head, stream, names = source["head"], source["stream"], source["names"]
        return Place(source["kind"], str(existing[0]), head, stream, names)

    def _check_head(self, head: int) -> None:
        if head not in self.heads:
            known = " and ".join(map(str, self.heads))
            raise FileError(f"the exam {self.record['exam']} has no head {head}; it has {known}")

    def _path(self, table: str) -> Path:
        return self.folder / f"{table}.parquet"

    def _read(
        self, table: str, names: tuple[str, ...], filters: list[tuple[str, str, int]] | None = None
    ) -> pa.Table:
        path = self._path(table)
        try:
            # Not by path: pyarrow would take a folder named "a=b" for a column.
            with open_file(path, advice=SCREEN_AGAIN) as file:
                schema = pq.read_schema(file)
                columns = list(names or TABLES[table].names)
                _check(schema, path, table, columns)
                read = pq.read_table(file, columns=columns, filters=filters)
            for name in columns:
                if (table, name) in NEVER_NULL and read[name].null_count:
                    raise FileError(f"{path}: {name} must not be empty; {SCREEN_AGAIN}")
            return read.select(columns).replace_schema_metadata(None)
        except (OSError, pa.ArrowException) as error:
            raise FileError(f"cannot read {path} ({error}); {SCREEN_AGAIN}") from error


def _check(schema: pa.Schema, path: Path, table: str, names: list[str]) -> None:
    try:
        content = json.loads((schema.metadata or {})[b"capsieve"])
        described = content["table"], content["schema"]
    except (KeyError, TypeError, ValueError):
        raise FileError(
            f"{path} is not a table of capsieve: it has no schema version; {SCREEN_AGAIN}"
        ) from None
    if described != (table, SCHEMA):
        raise FileError(
            f"{path} is the table {described[0]!r} of schema version {described[1]!r}, this "
            f"version of capsieve reads {table!r} of {SCHEMA}; {SCREEN_AGAIN}"
        )
    absent = [name for name in names if name not in schema.names]
    if absent:
        raise FileError(f"{path} has no column {', '.join(absent)}; {SCREEN_AGAIN}")
    repeated = [name for name in names if schema.names.count(name) > 1]
    if repeated:
        raise FileError(f"{path} has several columns {repeated[0]}; {SCREEN_AGAIN}")
    for name in names:
        there, wanted = schema.field(name).type, TABLES[table].field(name).type
        if there != wanted:
            raise FileError(f"{path}: {name} has the type {there}, not {wanted}; {SCREEN_AGAIN}")


def exam_folders(out: PathLike) -> list[Path]:
    """Return the folders of finished exams in natural order, at least one.

    Results that a killed process did not put in place completely are completed.

    Parameters
    ----------
    out
        The output folder of ``capsieve screen``, or the folder of one exam in it.

    Raises
    ------
    FileError
        There is no finished exam.
    """
    out = Path(out)
    recover_results(out)
    if (out / RECORD).exists():
        return [out]
    folders = _folders(out)
    for folder in folders:
        recover_results(folder)
    finished = [folder for folder in folders if (folder / RECORD).exists()]
    if finished:
        return finished
    begun = [folder.name for folder in unfinished_exams(out)]
    if begun:
        more = f" and {len(begun) - _NAMED} more" if len(begun) > _NAMED else ""
        raise FileError(
            f"no exam in {out} is finished: {', '.join(begun[:_NAMED])}{more}; run the same "
            "capsieve screen again, it continues the work"
        )
    raise FileError(
        f"{out} contains no screened exam; give the folder that capsieve screen -o wrote, with "
        f"{RECORD} in the folder of each exam, or the folder of one exam"
    )


def unfinished_exams(out: PathLike) -> list[Path]:
    """Return the folders of exams with unfinished screening."""
    out = Path(out)
    return [folder for folder in (out, *_folders(out)) if unfinished(folder)]


def _folders(out: Path) -> list[Path]:
    with file_errors("list", out, "give the folder that capsieve screen -o wrote"):
        visible = [path for path in out.iterdir() if not path.name.startswith(".")]
        folders = [path for path in visible if path.is_dir()]
    return sorted(folders, key=lambda path: natural_key(path.name))
