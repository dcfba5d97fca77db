"""Columns of tables that users wrote, as texts, numbers, paths and codes.

Labels, splits and scores are read with these functions, so an empty cell, a number and a path mean
the same in all of them.
"""

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_table import Coded, Floats, Integers, Mask
from capsieve.names import natural_key

# Its functions are generated at import, so type checkers do not see them.
compute: Any = pyarrow.compute


_WHOLE = r"^[0-9]{1,18}(\.0*)?$"  # spreadsheets and data frames write 12.0 beside empty cells
_LARGEST_EXACT = 2**53  # larger floats are not exact integers
_OTHER_NAMES = {"video": "exam", "run": "polyp", "findings": "finding", "filename": "file"}


def column_names(there: Collection[str], wanted: Collection[str]) -> dict[str, str]:
    """Return which columns of a table are the wanted ones, which may have another name."""
    names = {name: name for name in wanted if name in there}
    for other, name in _OTHER_NAMES.items():
        if other in there and name in wanted:
            names.setdefault(name, other)
    return names


def text_column(column: pa.Array | pa.ChunkedArray, *, name: str) -> pa.StringArray:
    """Return a column as texts without surrounding blanks; null if nothing is left.

    Numbers become texts as people write them: 3.0 is "3", and NaN is null.

    Raises
    ------
    FileError
        The column contains neither texts nor numbers; the message has its name.
    """
    if pa.types.is_duration(column.type):  # Arrow would write a number without its unit
        raise FileError(f"the column {name!r} contains {column.type}, not texts or numbers")
    try:
        values: Any = _plain(column)
        if pa.types.is_floating(values.type):
            values = _float_texts(values)
        values = compute.utf8_trim_whitespace(values.cast(pa.string()))
    except pa.ArrowException as error:
        message = f"the column {name!r} contains {column.type}, not texts or numbers"
        raise FileError(message) from error
    return compute.if_else(compute.equal(values, ""), None, values)


def number_column(column: pa.Array | pa.ChunkedArray, *, name: str) -> Floats:
    """Return a column as numbers: NaN if a cell is empty, infinity if it is not a number.

    Raises
    ------
    FileError
        The column contains neither texts nor numbers, or whole numbers over 2^53: two different
        ones could be equal as floating-point numbers. The message has its name and type.
    """
    if pa.types.is_temporal(column.type) or pa.types.is_boolean(column.type):
        raise FileError(f"the column {name!r} contains {column.type}, not numbers")
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        texts = text_column(column, name=name).to_pylist()
        return np.array([_number(text) for text in texts], float)
    try:
        values = whole_column(column).cast(pa.float64())
    except pa.ArrowException as error:
        message = f"the column {name!r} contains {column.type} over 2^53, which is not exact"
        raise FileError(f"{message}; give smaller numbers") from error
    return values.fill_null(math.nan).to_numpy(zero_copy_only=False)


def whole_numbers(text: pa.StringArray, *, largest: int = 10**18) -> tuple[Integers, Mask]:
    """Return whole numbers from 0, -1 if there is none, and which cells are something else."""
    fits = compute.match_substring_regex(text, _WHOLE)
    digits = compute.replace_substring_regex(compute.if_else(fits, text, None), r"\..*$", "")
    values = digits.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    wrong = text.is_valid().to_numpy(zero_copy_only=False) & ((values < 0) | (values > largest))
    return np.where(wrong, -1, values), wrong


def tidy_paths(path: pa.Array) -> pa.Array:
    r"""Return paths with / instead of \, without a leading slash, ``./`` and doubled slashes."""
    path = compute.replace_substring(path, "\\", "/")
    return compute.replace_substring_regex(path, r"(^|/)(?:\.?/)+", r"\1")


def whole_column(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def text_codes(column: pa.Array | pa.ChunkedArray) -> tuple[Integers, pa.StringArray]:
    """Return a code per row, -1 for null, and the texts in the order in which they first occur."""
    encoded = whole_column(column).dictionary_encode()
    code = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return code, encoded.dictionary


def coded(column: pa.Array | pa.ChunkedArray, *, in_order: bool = False) -> Coded:
    """Return a column of texts as codes; -1 for null.

    The names are in natural order, or in the order in which they first occur.
    """
    code, names = text_codes(column)
    texts = names.to_pylist()
    if in_order:
        return Coded(tuple(texts), code.astype(np.int32))
    order = sorted(range(len(texts)), key=lambda number: natural_key(texts[number]))
    rank = np.full(len(texts) + 1, -1, np.int32)  # the last one is for code -1
    rank[order] = np.arange(len(texts))
    return Coded(tuple(texts[number] for number in order), rank[code])


def code_range(
    unit: NDArray[np.integer], code: NDArray[np.integer], units: int
) -> tuple[Integers, Integers]:
    """Return the lowest and the highest code of each unit; the highest is -1 without any."""
    low, high = np.full(units, np.iinfo(np.int64).max), np.full(units, -1)
    np.minimum.at(low, unit, code)
    np.maximum.at(high, unit, code)
    return low, high


def joint_codes(*columns: NDArray[np.integer]) -> Integers:
    """Return one code per row, from 0 without gaps, that differs if any of the columns differs."""
    joint = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        # Without gaps at each step, so that no product can overflow.
        _, dense = np.unique(column, return_inverse=True)
        _, joint = np.unique(joint * (int(dense.max(initial=0)) + 1) + dense, return_inverse=True)
    return joint


def _plain(column: pa.Array | pa.ChunkedArray) -> Any:
    values: Any = whole_column(column)
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _float_texts(values: Any) -> pa.StringArray:
    """Return numbers as texts; Arrow would write 20200101123.0 as 2.0200101123e+10."""
    values = values.cast(pa.float64())
    values = compute.if_else(compute.is_nan(values), None, values)
    whole = compute.and_(
        compute.equal(values, compute.floor(values)),
        compute.less_equal(compute.abs(values), _LARGEST_EXACT),
    )
    integers = compute.if_else(whole, values, None).cast(pa.int64())
    return compute.coalesce(integers.cast(pa.string()), values.cast(pa.string()))


def _number(text: str | None) -> float:
    if text is None:
        return math.nan
    try:
        value = float(text.replace("_", "?"))  # Python takes 1_000 for a number
    except ValueError:
        return math.inf
    return math.inf if math.isnan(value) else value
