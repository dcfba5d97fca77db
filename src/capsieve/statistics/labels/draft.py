"""Labels as they stand in a source, before anybody has looked at what they say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.labels.label_set import LabelProblem

__all__ = ["Coded", "Draft", "Texts", "clean_text", "codes_of", "numbered", "whole_numbers"]

# Its functions are made when it is imported: type checkers do not see them.
_compute: Any = pyarrow.compute

_WHOLE = r"^[0-9]{1,18}(\.0*)?$"  # spreadsheets and data frames write 12.0 beside holes

_TEXTUAL = (
    pa.types.is_boolean,
    pa.types.is_floating,
    pa.types.is_integer,
    pa.types.is_large_string,
    pa.types.is_null,
    pa.types.is_string_view,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """Rows as they stand in a source.

    Attributes
    ----------
    columns
        Some or all of the columns of :data:`~capsieve.statistics.labels.label_set.LABELS`, all of
        the same length and of any type; most often texts. And `reader`, where the source says who
        labelled a frame.
    name_rows
        Says for rows, by their place, how a person finds them: "line 12".
    problems
        What was not clear already.
    """

    columns: Mapping[str, Any]
    name_rows: Callable[[Sequence[int]], list[str]]
    problems: tuple[LabelProblem, ...] = ()


class Texts(Sequence[str]):
    """Texts of an Arrow array; none becomes a Python object before somebody asks for it."""

    def __init__(self, array: pa.StringArray) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, place: Any) -> Any:
        return self.array[int(place)].as_py()


class Coded(NamedTuple):
    """A column of texts as numbers.

    Attributes
    ----------
    codes
        Per row a place in `texts`; -1 for none.
    texts
        Each text once.
    """

    codes: NDArray[np.int64]
    texts: Texts


def numbered(word: str, first: int = 1) -> Callable[[Sequence[int]], list[str]]:
    """Return a way to name rows by their number: "row 1", "row 2", ..."""
    return lambda rows: [f"{word} {row + first}" for row in rows]


def clean_text(column: Any, *, name: str) -> pa.StringArray:
    """Return a column as texts without surrounding blanks; null where nothing is left.

    Numbers become texts as people write them: 3.0 is "3", and NaN is nothing.

    Raises
    ------
    FileError
        The column holds lists, bytes or other things that are no text.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_floating(kind):
        column = _compute.if_else(_compute.is_nan(column), None, column)
    if not pa.types.is_string(kind):
        if not any(fits(kind) for fits in _TEXTUAL):
            raise FileError(f"the column {name!r} holds {kind} and no texts or numbers")
        column = column.cast(pa.string())
    column = _compute.utf8_trim_whitespace(column)
    return _compute.if_else(_compute.equal(column, ""), None, column)


def whole_numbers(text: pa.StringArray, *, largest: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Read whole numbers from 0.

    Returns
    -------
    values
        -1 where there is none.
    wrong
        Where something stands that is no whole number from 0 to `largest`.
    """
    fits = _compute.match_substring_regex(text, _WHOLE)
    digits = _compute.if_else(fits, text, None)
    if _compute.any(_compute.match_substring(digits, ".")).as_py():
        digits = _compute.replace_substring_regex(digits, r"\..*$", "")
    values = digits.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    wrong = text.is_valid().to_numpy(zero_copy_only=False) & ((values < 0) | (values > largest))
    return np.where(wrong, -1, values), wrong


def codes_of(text: pa.StringArray) -> Coded:
    """Return a number for each text, and the texts in the order of their numbers."""
    encoded = text.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Coded(codes, Texts(encoded.dictionary))
