"""Frames found by exam, head and number."""

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.matching.screened import Screened

__all__ = ["rows_by_number"]


def rows_by_number(
    screened: Screened,
    exam: NDArray[np.integer],
    head: NDArray[np.integer],
    frame: NDArray[np.integer],
) -> NDArray[np.int64]:
    """Return where in the screened frames each wanted frame stands; -1 where there is none.

    Parameters
    ----------
    screened
        Sorted by exam, head and frame.
    exam, head, frame
        Codes and numbers of the wanted frames.
    """
    found = np.full(len(exam), -1, dtype=np.int64)
    if not len(screened) or not len(exam):
        return found
    frames = screened.columns["frame"]
    heads = screened.columns["head"].astype(np.int64)
    # One growing number per frame; wanted ones that lie outside would alias a neighbour's.
    head_span, frame_span = int(heads.max()) + 1, int(frames.max()) + 1
    inside = (exam >= 0) & (head >= 0) & (head < head_span) & (frame >= 0) & (frame < frame_span)
    known = (screened.exam.astype(np.int64) * head_span + heads) * frame_span + frames
    wanted = (exam.astype(np.int64) * head_span + head) * frame_span + np.where(inside, frame, 0)
    # Searching in order is several times faster than here and there.
    order = np.argsort(wanted, kind="stable")
    place = np.empty(len(wanted), dtype=np.int64)
    place[order] = np.minimum(np.searchsorted(known, wanted[order]), len(known) - 1)
    same = inside & (known[place] == wanted)
    found[same] = place[same]
    return found
