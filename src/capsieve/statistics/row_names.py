"""Whom and what rows of labels name: patients, polyps, blocks, findings."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.statistics.codes import as_codes
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED

__all__ = ["RowNames", "name_rows"]

_TRUTH = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}


@dataclass(frozen=True, slots=True, eq=False)
class RowNames:
    """Codes per row of labels; -1 where the row names none.

    Attributes
    ----------
    truth
        As in :class:`~capsieve.statistics.judged.Judged`.
    patients, patient, polyps, polyp, blocks, block, findings, finding
        Names in natural order, and codes.
    """

    truth: NDArray[np.int8]
    patients: tuple[str, ...]
    patient: NDArray[np.int32]
    polyps: tuple[str, ...]
    polyp: NDArray[np.int32]
    blocks: tuple[str, ...]
    block: NDArray[np.int32]
    findings: tuple[str, ...]
    finding: NDArray[np.int32]


def name_rows(table: pa.Table) -> RowNames:
    """Return whom and what the rows of a label table name.

    A name stands for the same patient, polyp or block wherever it stands: readers of labels have
    put its exam before a polyp's name where that was needed.
    """
    words, word = as_codes(table["label"])
    truth = np.array([*(_TRUTH[text] for text in words), UNLABELLED], dtype=np.int8)[word]
    patients, patient = as_codes(table["patient"])
    polyps, polyp = as_codes(table["polyp"])
    blocks, block = as_codes(table["block"])
    findings, finding = as_codes(table["finding"])
    polyp = np.where(truth == POLYP, polyp, -1)
    return RowNames(truth, patients, patient, polyps, polyp, blocks, block, findings, finding)
