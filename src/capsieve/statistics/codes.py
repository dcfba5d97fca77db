"""Texts that repeat, as numbers into a list of names."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.sources.base import natural_key

__all__ = ["as_codes", "joint_codes", "text_codes"]


def as_codes(column: pa.Array | pa.ChunkedArray) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the names of a column in natural order, and a code per row; -1 for null."""
    encoded = _encoded(column)
    found = encoded.dictionary.to_pylist()
    order = sorted(range(len(found)), key=lambda place: natural_key(found[place]))
    rank = np.empty(len(found) + 1, dtype=np.int32)
    rank[order] = np.arange(len(found), dtype=np.int32)
    rank[-1] = -1  # where the code -1 points
    return tuple(found[place] for place in order), rank[_indices(encoded)]


def text_codes(column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
    """Return a code per row, equal where the texts are; -1 for null. For many names: unsorted."""
    return _indices(_encoded(column))


def joint_codes(*columns: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return one code per row that differs where any of the columns of codes differs."""
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        # Made dense at each step, so that no product can overflow.
        _, joint = np.unique(joint, return_inverse=True)
        joint = joint * (int(column.max(initial=-1)) + 2) + (column.astype(np.int64) + 1)
    return joint


def _encoded(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.string())
    return column.dictionary_encode()


def _indices(encoded: pa.DictionaryArray) -> NDArray[np.int32]:
    return np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False))
