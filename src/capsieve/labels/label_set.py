"""Labels after reading: one table, and a list of what is not clear."""

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["LABELS", "WORDS", "LabelProblem", "LabelSet"]

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


@dataclass(frozen=True, slots=True)
class LabelProblem:
    """Something in the labels that is not clear; the rows in question are not used.

    Attributes
    ----------
    what
        One sentence without a final stop and without the count.
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


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of a study.

    Attributes
    ----------
    table
        :data:`LABELS`, in the order of the source.
    problems
        What is not clear.
    label_format
        The format that was recognised, for people: "capsieve labels", "Kvasir-Capsule", ...
    path
        Where it was read, or "".
    polyp_word
        "polyp", or "run" if the column polyp holds runs of frames that stand in for polyps.
    names_exams
        Whether the column exam names exams or videos (and not, for instance, a class folder).
    warnings
        One sentence each.
    """

    table: pa.Table
    problems: tuple[LabelProblem, ...]
    label_format: str
    path: str
    polyp_word: str = "polyp"
    names_exams: bool = True
    warnings: tuple[str, ...] = ()
