"""Which frames are the same picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.store.exam import Exam

__all__ = ["pixel_codes"]


def pixel_codes(folders: Sequence[Path]) -> NDArray[np.int32]:
    """Return a code per frame, equal where the decoded pixels are equal; -1 where unknown.

    Parameters
    ----------
    folders
        The exams, in the order in which they were matched
        (:attr:`~capsieve.statistics.matching.Matched.folders`): the codes then stand in the order
        of the judged frames.

    Notes
    -----
    It is read apart from all else: a study of two million frames has 80 MB of checksums, which
    only the search for leaks needs.
    """
    parts = [Exam(folder).columns("pixel_hash")["pixel_hash"] for folder in folders]
    chunks = [chunk for part in parts for chunk in part.chunks]
    if not chunks:
        return np.empty(0, dtype=np.int32)
    indices = pa.concat_arrays(chunks).dictionary_encode().indices
    return indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
