"""What an exam's table says of the frames of a head, as far as showing them needs it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from capsieve.errors import FileError
from capsieve.store.reader import read_frames

__all__ = ["HeadTable", "head_tables"]

_COLUMNS = ("head", "frame", "file", "pts", "sha1", "status", "problem", "rows", "cols")
_DECODED = "decoded"


@dataclass(frozen=True, slots=True, eq=False)
class HeadTable:
    """The frames of a head in order.

    Attributes
    ----------
    exam, head
        Whose they are.
    columns
        ``file``, ``pts``, ``sha1``, ``status``, ``problem``, ``rows`` and ``cols``, one value for
        each frame.
    """

    exam: str
    head: int
    columns: dict[str, pa.Array]

    def __len__(self) -> int:
        return len(self.columns["status"])

    def value(self, column: str, frame: int) -> Any:
        """Return what a column says of a frame, or None."""
        return self.columns[column][frame].as_py()

    def check(self, frame: int) -> None:
        """Refuse a frame that is not there or that was never decoded.

        Raises
        ------
        FileError
            There is nothing to be shown.
        """
        if not 0 <= frame < len(self):
            raise FileError(
                f"the exam {self.exam} has no frame {frame} of head {self.head}; they are "
                f"numbered 0 to {len(self) - 1}"
            )
        if self.value("status", frame) != _DECODED:
            why = self.value("problem", frame) or "nothing is known of it"
            raise FileError(f"frame {frame} of head {self.head} cannot be shown: {why}")

    def is_decoded(self, frame: int) -> bool:
        """Tell whether a frame was decoded when the exam was screened."""
        return 0 <= frame < len(self) and self.value("status", frame) == _DECODED


def head_tables(folder: Path) -> dict[int, HeadTable]:
    """Read what frames.parquet says of each head.

    Raises
    ------
    FileError
        The table cannot be read, or its frames are not numbered from 0 without a gap.
    """
    table = read_frames(folder, _COLUMNS).combine_chunks()
    heads = table.column("head").to_numpy()
    tables: dict[int, HeadTable] = {}
    for head in np.unique(heads).tolist():
        rows = table.filter(pa.array(heads == head))
        numbers = rows.column("frame").to_numpy()
        if not np.array_equal(numbers, np.arange(len(numbers))):
            raise FileError(
                f"{folder / 'frames.parquet'} does not number the frames of head {head} one by "
                "one; screen the exam again, with --fresh"
            )
        columns = {name: rows.column(name).combine_chunks() for name in _COLUMNS[2:]}
        tables[head] = HeadTable(folder.name, head, columns)
    return tables
