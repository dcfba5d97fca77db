"""From rows of labels to one label per frame; rows that contradict each other are not used."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.judged import POLYP, UNLABELLED
from capsieve.statistics.row_names import RowNames

__all__ = ["FrameLabels", "label_frames"]


@dataclass(frozen=True, slots=True, eq=False)
class FrameLabels:
    """What the labels say of every frame.

    Attributes
    ----------
    truth, polyp, patient, block, finding
        Codes per frame; -1 where unknown.
    named
        Whether any row speaks of the frame.
    contradicted
        Frames whose rows tell different labels, or different patients: they have no label.
    unsure
        Frames whose rows tell one label, but different polyps, blocks or findings: what differs is
        unknown.
    repeated
        Rows, beyond the first, that say again what another row says of the same frame.
    """

    truth: NDArray[np.int8]
    polyp: NDArray[np.int32]
    patient: NDArray[np.int32]
    block: NDArray[np.int32]
    finding: NDArray[np.int32]
    named: NDArray[np.bool_]
    contradicted: NDArray[np.bool_]
    unsure: NDArray[np.bool_]
    repeated: NDArray[np.int64]


def label_frames(row: NDArray[np.int64], names: RowNames, frames: int) -> FrameLabels:
    """Bring the rows that speak of one frame together.

    Parameters
    ----------
    row
        For each row of the labels the frame that it speaks of; -1 for none.
    names
        What the rows say. A row that leaves something open does not contradict one that tells it.
    frames
        How many there are.
    """
    used = np.flatnonzero(row >= 0)
    order = used[np.argsort(row[used], kind="stable")]
    place, starts = np.unique(row[order], return_index=True)
    values: dict[str, NDArray[np.int32]] = {}
    differs: dict[str, NDArray[np.bool_]] = {}
    for name in ("truth", "polyp", "patient", "block", "finding"):
        agreed, differs_there = _agreed(getattr(names, name)[order], starts)
        values[name] = np.full(frames, -1, dtype=np.int32)
        values[name][place] = agreed
        differs[name] = np.zeros(frames, dtype=bool)
        differs[name][place] = differs_there
    contradicted = differs["truth"] | differs["patient"]
    truth = np.where(contradicted, UNLABELLED, values["truth"]).astype(np.int8)
    values["polyp"][truth != POLYP] = -1
    values["finding"][contradicted] = -1
    named = np.zeros(frames, dtype=bool)
    named[place] = True
    again = np.setdiff1d(order, order[starts], assume_unique=True)
    return FrameLabels(
        truth=truth,
        polyp=values["polyp"],
        patient=values["patient"],
        block=values["block"],
        finding=values["finding"],
        named=named,
        contradicted=contradicted,
        unsure=~contradicted & (differs["polyp"] | differs["block"] | differs["finding"]),
        repeated=again[~contradicted[row[again]]],
    )


def _agreed(
    code: NDArray[np.integer], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the one code of each stretch, or -1, and whether there are several."""
    if not len(code):
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=bool)
    code = code.astype(np.int32)
    highest = np.maximum.reduceat(code, starts)
    lowest = np.minimum.reduceat(np.where(code < 0, np.iinfo(np.int32).max, code), starts)
    several = (highest >= 0) & (lowest != highest)
    return np.where(several, -1, highest), several
