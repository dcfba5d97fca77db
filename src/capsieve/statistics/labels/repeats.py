"""The same frame in several rows: what repeats, what differs, what contradicts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Repeats", "compare_repeats", "frame_groups", "two_words"]


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """Frames that several rows name.

    Attributes
    ----------
    first
        The first row of each such frame.
    merged
        For each column what the rows of the frame say of it; -1 where they say nothing, or
        different things. A row that leaves something open does not contradict one that tells it.
    differs
        For each column, where they say different things.
    row, frame
        The other rows, and to which frame each belongs.
    alike
        Where such a row is the same as the first, word for word.
    """

    first: NDArray[np.int64]
    merged: Mapping[str, NDArray[np.int64]]
    differs: Mapping[str, NDArray[np.bool_]]
    row: NDArray[np.int64]
    frame: NDArray[np.int64]
    alike: NDArray[np.bool_]


def frame_groups(
    exam: NDArray[np.int64],
    head: NDArray[np.int64],
    frame: NDArray[np.int64],
    file: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Number the frames that rows name: equal numbers, the same frame.

    The file says which frame it is, within its exam; without one, head and number do. A row
    without a head means the only head, which is head 0.

    Parameters
    ----------
    exam, head, frame, file
        A code or number per row; -1 for none.
    """
    by_file = file >= 0
    which = np.where(by_file, file, frame)
    camera = np.where(by_file, -1, np.maximum(head, 0))
    order = np.lexsort((which, camera, exam))
    first = np.zeros(len(order), bool)
    for key in (exam, camera, which):
        ordered = key[order]
        first[1:] |= ordered[1:] != ordered[:-1]
    groups = np.empty(len(order), np.int64)
    groups[order] = np.cumsum(first)
    return groups


def two_words(groups: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a row's frame has two different labels, in this row and in another.

    Parameters
    ----------
    groups, words
        The frame and the label of each row, as numbers from 0.
    """
    low, high = _bounds(groups, words)
    return (low != high)[groups]


def _bounds(
    groups: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the smallest and the largest value of each group; -1 for groups without any."""
    count = int(groups.max(initial=-1)) + 1
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1, np.int64)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    return np.where(high < 0, -1, low), high


def compare_repeats(
    rows: NDArray[np.int64], groups: NDArray[np.int64], columns: Mapping[str, NDArray[np.int64]]
) -> Repeats:
    """Find the frames that several rows name, and compare what these say.

    Parameters
    ----------
    rows
        The rows in question, in the order of the source.
    groups
        The frame of each of them, from :func:`frame_groups`.
    columns
        Codes or numbers of all rows of the source, -1 for none.
    """
    many = np.bincount(groups)[groups] > 1
    rows = rows[many]
    _, starts, frame = np.unique(groups[many], return_index=True, return_inverse=True)
    first = rows[starts]
    later = first[frame] != rows
    alike = np.ones(int(later.sum()), bool)
    merged: dict[str, NDArray[np.int64]] = {}
    differs: dict[str, NDArray[np.bool_]] = {}
    for name, values in columns.items():
        alike &= values[rows[later]] == values[first[frame[later]]]
        told = values[rows] >= 0
        bounds = _bounds(frame[told], values[rows[told]])
        low, high = (_lengthened(bound, len(first)) for bound in bounds)
        differs[name] = low != high
        merged[name] = np.where(differs[name], -1, high)
    return Repeats(first, merged, differs, rows[later], frame[later], alike)


def _lengthened(values: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return np.append(values, np.full(length - len(values), -1))
