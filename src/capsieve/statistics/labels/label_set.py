"""Labels after reading: one table, and a list of all that was not clear."""

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["LABELS", "WORDS", "LabelProblem", "LabelSet"]

WORDS = ("polyp", "normal", "other")
"""The three labels. Nothing else is one, and nothing is guessed."""

LABELS = pa.schema(
    [
        ("exam", pa.string()),  # null: the file alone says which frame it is
        ("head", pa.int16()),  # null: the only head
        ("frame", pa.int64()),  # null: the file says it
        ("file", pa.string()),  # null: exam and frame say it; where both are there, the file wins
        ("label", pa.string()),  # polyp | normal | other
        ("polyp", pa.string()),  # which polyp; null where unknown or none
        ("patient", pa.string()),  # null where unknown
        ("block", pa.string()),  # frames that belong together where no patient is known, or null
        ("finding", pa.string()),  # the source's own word: "bubbles", "Angiectasia", ... or null
    ]
)
"""One row per labelled frame."""


@dataclass(frozen=True, slots=True)
class LabelProblem:
    """Something in the labels that is not clear; the rows in question are not used.

    Attributes
    ----------
    what
        One sentence without a final stop and without the count: "the label is not one of polyp,
        normal, other".
    rows
        How many rows (or frames) it concerns.
    examples
        The first few, as a person would name them: "line 12: label 'Polip'".
    used
        Whether the rows are used nevertheless (a row that stands there twice, word for word).
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
        All that was not clear.
    layout
        What was recognised, for people: "capsieve labels", "Kvasir-Capsule", ...
    path
        Where it was read.
    unit
        "polyp", or "run" where the column polyp holds runs of frames that stand in for polyps.
    warnings
        What a careful user must know of this source, one sentence each.
    """

    table: pa.Table
    problems: tuple[LabelProblem, ...]
    layout: str
    path: str
    unit: str = "polyp"
    warnings: tuple[str, ...] = ()
