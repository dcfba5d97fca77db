"""Labels after reading: the table, and what is not clear in it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

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
        Path of the labels, or "".
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
