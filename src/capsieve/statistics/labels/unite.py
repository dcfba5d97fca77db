"""One row per frame: rows that speak of the same frame are put together."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.labels.delimited import EXAMPLES
from capsieve.statistics.labels.draft import Coded, Texts
from capsieve.statistics.labels.ledger import Ledger
from capsieve.statistics.labels.owners import refuse_two_patients
from capsieve.statistics.labels.repeats import compare_repeats

__all__ = ["unite_rows"]

Codes = Mapping[str, NDArray[np.int64]]


def unite_rows(
    ledger: Ledger,
    groups: NDArray[np.int64],
    codes: Codes,
    *,
    patients: Texts,
    polyps: Texts,
) -> tuple[Codes, tuple[str, ...]]:
    """Put the rows of each frame together; their labels are the same by now.

    What only one of them tells counts; what they tell differently is left out.

    Parameters
    ----------
    ledger
        The rows in use; but one row per frame are taken out of use, and noted.
    groups
        The frame of each row.
    codes
        All columns, by name.
    patients, polyps
        Their names.

    Returns
    -------
    codes
        The columns anew.
    warnings
        Polyps that are left without any frame.

    Raises
    ------
    FileError
        The rows of a frame name two patients.
    """
    places = ledger.places()
    repeats = compare_repeats(places, groups[places], codes)
    if not len(repeats.row):
        return codes, ()
    refuse_two_patients(
        "frame",
        groups[places],
        Coded(codes["patient"][places], patients),
        say=lambda row: _said(ledger, codes, int(places[row])),
        name_rows=lambda rows: ledger.name_rows(places[list(rows)].tolist()),
    )
    shared = repeats.differs["polyp"]
    differing = np.logical_or.reduce(list(repeats.differs.values())) & ~shared
    kinds = [
        (repeats.alike, "the row stands there more than once, word for word; it counts once")
    ] + [
        (mask[repeats.frame] & ~repeats.alike, what)
        for mask, what in (
            (shared, "the frame shows more than one polyp; it counts as a frame of none of them"),
            (differing, "the frame is labelled more than once; details that differ are left out"),
            (~shared & ~differing, "the frame is labelled more than once; its rows are joined"),
        )
    ]
    for mask, what in kinds:
        ledger.note(repeats.row[mask], what, used=True)
    merged = {name: values.copy() for name, values in codes.items()}
    for name, values in repeats.merged.items():
        merged[name][repeats.first] = values
    ledger.used[repeats.row] = False
    before = _polyps(codes, places, len(polyps))
    after = _polyps(merged, ledger.places(), len(polyps))
    missing = np.setdiff1d(before, after) % max(len(polyps), 1)
    lost = sorted({polyps[int(code)] for code in missing})
    if not lost:
        return merged, ()
    some = ", ".join(map(repr, lost[:EXAMPLES])) + ", ..." * (len(lost) > EXAMPLES)
    return merged, (
        f"polyps that share all of their frames with other polyps are not counted: {some}",
    )


def _polyps(codes: Codes, rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return a number for each polyp of each exam."""
    rows = rows[codes["polyp"][rows] >= 0]
    return np.unique(codes["exam"][rows] * count + codes["polyp"][rows])


def _said(ledger: Ledger, codes: Codes, row: int) -> str:
    """Name a frame; labels of many exams without the column exam look like one exam."""
    return ledger.say(row) + ("" if codes["exam"][row] >= 0 else " of an exam without a name")
