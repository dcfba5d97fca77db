"""Labelled frames as a model learns from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Examples"]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Frames with what they truly show; one row per frame in every array.

    Attributes
    ----------
    truth
        POLYP, NORMAL or OTHER of :mod:`capsieve.statistics.judged`. Other findings are negatives
        for training, and are reported apart.
    groups, group
        What must never stand on both sides of a split: patient, block or exam.
    sources, source
        Where the frames come from (a device, a data set). Polyps are told from negatives of the
        same source only: a model must not win by telling the sources apart.
    polyps, polyp
        Which polyp, or which run of frames that stands in for one; -1 for none.
    findings, finding
        What the labels call it; several findings of a frame are joined by ";". -1 for none.
    value_names, values
        Features that a doctor would understand, see :mod:`capsieve.learned.features`; all finite.
    crops
        The field of view of each frame, S x S RGB bytes, see
        :func:`capsieve.learned.crop.crop`; None where the model does not look at images.
    """

    truth: NDArray[np.int8]
    groups: tuple[str, ...]
    group: NDArray[np.int32]
    sources: tuple[str, ...]
    source: NDArray[np.int32]
    polyps: tuple[str, ...]
    polyp: NDArray[np.int32]
    findings: tuple[str, ...]
    finding: NDArray[np.int32]
    value_names: tuple[str, ...]
    values: NDArray[np.float32]
    crops: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.truth)

    def rows(self, chosen: NDArray[Any]) -> NDArray[np.int64]:
        """Return chosen rows (a mask or indices) as indices."""
        chosen = np.asarray(chosen)
        return np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
