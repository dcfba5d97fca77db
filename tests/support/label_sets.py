"""Labels, splits and frames from rows; label files without any image in them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from capsieve.labels import LABELS, LabelProblem, LabelSet, Splits
from capsieve.labels.splits import SPLITS

__all__ = [
    "OTHER_VIDEO",
    "VIDEO",
    "frame_table",
    "label_set",
    "make_files",
    "problem_rows",
    "split_set",
    "write_text",
]

VIDEO = "04a78ef00c5245e0"
OTHER_VIDEO = "bca26705313a4644"


def label_set(rows: Sequence[Mapping[str, Any]] | pa.Table, **about: Any) -> LabelSet:
    """Return rows as labels; they are normal unless they have another label."""
    if not isinstance(rows, pa.Table):
        rows = pa.Table.from_pylist([{"label": "normal", **row} for row in rows], LABELS)
    return LabelSet(rows, (), "by hand", "labels.csv", **about)


def split_set(rows: Sequence[Mapping[str, Any]]) -> Splits:
    """Return rows as a split."""
    return Splits(pa.Table.from_pylist([dict(row) for row in rows], SPLITS), "splits.csv")


def frame_table(exams: Mapping[str, int | Sequence[str] | Sequence[tuple[int, int]]]) -> pa.Table:
    """Return frames of exams: so many of a video, paths of images, or pairs of head and frame."""
    rows: list[tuple[str, int, int, str | None]] = []
    for exam, content in exams.items():
        some = [(0, number) for number in range(content)] if isinstance(content, int) else content
        for place, one in enumerate(some):
            rows.append((exam, 0, place, one) if isinstance(one, str) else (exam, *one, None))
    schema = {"exam": pa.string(), "head": pa.int16(), "frame": pa.int64(), "path": pa.string()}
    columns = zip(*rows, strict=True) if rows else [()] * 4
    arrays = [pa.array(c, t) for c, t in zip(columns, schema.values(), strict=True)]
    return pa.table(arrays, names=list(schema))


def problem_rows(problems: Sequence[LabelProblem], words: str) -> int:
    """Return the number of rows of the problems whose text contains these words."""
    return sum(problem.rows for problem in problems if words in problem.what)


def write_text(path: Path, *lines: str, encoding: str = "utf-8") -> Path:
    """Write lines, and return the path."""
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return path


def make_files(folder: Path, *names: str) -> Path:
    """Make empty files below a folder, and return the folder."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder
