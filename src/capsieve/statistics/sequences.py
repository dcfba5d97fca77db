"""Frames in their order: which come one after the other, and how far apart."""

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.sources.base import natural_key
from capsieve.statistics.codes import as_codes

__all__ = ["FrameSequence", "exam_or_folder", "order_rows", "source_of"]

_NUMBER = re.compile(r"^(.*?)([0-9]{1,18})([^0-9]*)$", re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False)
class FrameSequence:
    """Frames of one exam or folder.

    Attributes
    ----------
    name
        Of the exam or folder.
    rows
        Their rows in the labels, in order.
    gap
        Between neighbours, in the numbering; infinite where names change, 0 between the heads of
        one moment.
    """

    name: str
    rows: NDArray[np.int64]
    gap: NDArray[np.float64]


def exam_or_folder(table: pa.Table) -> pa.Array:
    """Return for each row its exam, else the folder of its file; "" where there is neither."""
    folder = _replaced(table["file"], r"/?[^/]*$", "")
    return _whole(pc.fill_null(pc.coalesce(table["exam"], folder), ""))  # pyright: ignore[reportAttributeAccessIssue]


def source_of(table: pa.Table) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the first folder of each row's file as names and codes; -1 where it has none."""
    first = _replaced(table["file"], r"^([^/]*)/.*$|^.*$", r"\1")
    empty = pc.equal(first, "")  # pyright: ignore[reportAttributeAccessIssue]
    return as_codes(_whole(pc.if_else(empty, None, first)))  # pyright: ignore[reportAttributeAccessIssue]


def order_rows(table: pa.Table, rows: NDArray[np.int64]) -> list[FrameSequence]:
    """Return the sequences that rows of labels form.

    Inside an exam or folder frames are ordered by number, both heads together, where every row
    has one and none stands there twice; else by the natural order of their files, with the last
    number in a name for the number.

    Parameters
    ----------
    table
        All labels.
    rows
        Which of them.
    """
    names, code = as_codes(exam_or_folder(table))
    head, frame = (
        np.asarray(pc.fill_null(table[name], -1).to_numpy()).astype(np.int64)
        for name in ("head", "frame")
    )
    found: list[FrameSequence] = []
    ordered = rows[np.argsort(code[rows], kind="stable")]
    for members in np.split(ordered, np.flatnonzero(np.diff(code[ordered])) + 1):
        if not len(members):
            continue
        name = names[code[members[0]]]
        numbered = members[np.lexsort((head[members], frame[members]))]
        step, side = np.diff(frame[numbered]), np.diff(head[numbered])
        if frame[numbered[0]] >= 0 and bool(((step > 0) | (side > 0)).all()):
            found.append(FrameSequence(name, numbered, step.astype(np.float64)))
        else:
            found.append(FrameSequence(name, *_by_name(table, members)))
    return found


def _by_name(
    table: pa.Table, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    chosen = table.select(["file", "frame"]).take(pa.array(rows)).to_pylist()
    files = [row["file"] if row["file"] is not None else f"{row['frame']}" for row in chosen]
    order = sorted(range(len(files)), key=lambda place: natural_key(files[place]))
    gap = np.array([_distance(files[a], files[b]) for a, b in pairwise(order)])
    return rows[order], gap.astype(np.float64)


def _distance(name: str, following: str) -> float:
    one, other = _NUMBER.match(name), _NUMBER.match(following)
    if one is None or other is None or one.group(1, 3) != other.group(1, 3):
        return np.inf
    return float(int(other.group(2)) - int(one.group(2)))


def _replaced(column: pa.ChunkedArray, pattern: str, instead: str) -> pa.ChunkedArray:
    return pc.replace_substring_regex(column, pattern=pattern, replacement=instead)  # pyright: ignore[reportAttributeAccessIssue]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
