"""Labels after reading: the table and its problems; columns of texts as numbers and codes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_table import Coded
from capsieve.names import natural_key

__all__ = [
    "EXAMPLES",
    "LABELS",
    "WORDS",
    "Codes",
    "LabelProblem",
    "LabelSet",
    "NameRows",
    "Problems",
    "clean_text",
    "coded",
    "compute",
    "joint_codes",
    "text_codes",
    "tidy_paths",
    "whole_column",
    "whole_numbers",
]

# Its functions are generated at import, so type checkers do not see them.
compute: Any = pyarrow.compute

WORDS = ("polyp", "normal", "other")
"""The three labels."""

LABELS = pa.schema(
    [
        ("exam", pa.string()),  # null: the file alone identifies the frame
        ("head", pa.int16()),  # null: the only head
        ("frame", pa.int64()),  # null: the file identifies the frame
        ("file", pa.string()),  # null: exam and frame identify it; if both are given, the file wins
        ("label", pa.string()),  # polyp | normal | other
        ("polyp", pa.string()),  # which polyp; null if unknown or none
        ("patient", pa.string()),  # null if unknown
        ("block", pa.string()),  # frames that belong together if no patient is known, or null
        ("source", pa.string()),  # device or data set, or null
        ("finding", pa.string()),  # words of the source, several separated by ";", or null
    ]
)
"""One row per labelled frame."""

EXAMPLES = 5
"""Number of rows that a problem names."""

NameRows = Callable[[Sequence[int]], list[str]]
"""Returns how a person finds rows, by their numbers: "line 12"."""

_WHOLE = r"^[0-9]{1,18}(\.0*)?$"  # spreadsheets and data frames write 12.0 beside empty cells

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelProblem:
    """Something in the labels that is not clear; the rows in question are not used.

    Attributes
    ----------
    what
        The message, without a final stop and without the count.
    rows
        Number of rows (or frames) that it concerns.
    examples
        The first few, as a person would name them: "line 12: label 'Polip'".
    used
        Whether the rows are used nevertheless (a row that is there twice).
    """

    what: str
    rows: int
    examples: tuple[str, ...] = ()
    used: bool = False


class Problems:
    """Problems by kind, in the order in which they first occurred."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, bool], tuple[int, list[str]]] = {}

    def add(self, what: str, *examples: str, rows: int | None = None, used: bool = False) -> None:
        """Count rows (one per example, or `rows`) of a problem."""
        if rows == 0 or (rows is None and not examples):
            return
        count, named = self._found.get((what, used), (0, []))
        named += examples[: EXAMPLES - len(named)]
        self._found[what, used] = (count + (len(examples) if rows is None else rows), named)

    def __iter__(self) -> Iterator[LabelProblem]:
        for (what, used), (rows, examples) in self._found.items():
            yield LabelProblem(what, rows, tuple(examples), used)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of a study.

    Attributes
    ----------
    table
        :data:`LABELS`, in the order of the source; one row per frame.
    problems
        What is not clear.
    label_format
        The format that was recognised, for people: "capsieve labels", "Kvasir-Capsule", ...
    path
        Where it was read, or "".
    polyp_word
        "polyp", or "run" if the column polyp contains runs of frames instead of polyps.
    names_exams
        Whether the column exam names exams or videos (and not, for instance, a class folder).
    unique_names
        Whether the name of a file identifies its frame in all rows with an exam, so that files of
        the same name in several folders are copies of one frame.
    warnings
        Texts.
    """

    table: pa.Table
    problems: tuple[LabelProblem, ...]
    label_format: str
    path: str
    polyp_word: str = "polyp"
    names_exams: bool = True
    unique_names: bool = False
    warnings: tuple[str, ...] = ()


def clean_text(column: Any, *, name: str) -> pa.StringArray:
    """Return a column as texts without surrounding blanks; null if nothing is left.

    Numbers become texts as people write them: 3.0 is "3", and NaN is null.
    """
    column = whole_column(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = compute.if_else(compute.is_nan(column), None, column)
    try:
        column = compute.utf8_trim_whitespace(column.cast(pa.string()))
    except pa.ArrowException as error:
        what = f"the column {name!r} contains {column.type}, not texts or numbers"
        raise FileError(what) from error
    return compute.if_else(compute.equal(column, ""), None, column)


def whole_column(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def text_codes(column: pa.Array | pa.ChunkedArray) -> tuple[Codes, pa.StringArray]:
    """Return a code per row, -1 for null, and the texts in the order in which they first occur."""
    encoded = whole_column(column).dictionary_encode()
    code = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return code, encoded.dictionary


def coded(column: pa.Array | pa.ChunkedArray) -> Coded:
    """Return a column of texts as codes, with the names in natural order; -1 for null."""
    code, names = text_codes(column)
    found = names.to_pylist()
    order = sorted(range(len(found)), key=lambda place: natural_key(found[place]))
    rank = np.full(len(found) + 1, -1, np.int32)  # the last one is for code -1
    rank[order] = np.arange(len(found))
    return Coded(tuple(found[place] for place in order), rank[code])


def joint_codes(*columns: NDArray[np.integer]) -> Codes:
    """Return one code per row, from 0 without gaps, that differs if any of the columns differs."""
    joint = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        # Without gaps at each step, so that no product can overflow.
        _, dense = np.unique(column, return_inverse=True)
        _, joint = np.unique(joint * (int(dense.max(initial=0)) + 1) + dense, return_inverse=True)
    return joint


def whole_numbers(
    text: pa.StringArray, *, largest: int = 10**18
) -> tuple[Codes, NDArray[np.bool_]]:
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
