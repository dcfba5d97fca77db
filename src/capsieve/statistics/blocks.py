"""Consecutive frames cut into blocks, for frames whose patient nobody knows."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut_blocks", "uncuttable"]


def cut_blocks(
    gap: NDArray[np.integer] | NDArray[np.floating], closed: NDArray[np.bool_], *, size: int
) -> NDArray[np.int64]:
    """Cut a sequence of frames into blocks of about so many frames.

    From one cut to the next there are between half and one and a half times `size` frames. Inside
    that range the cut is where the gap is widest, because frames far apart are least alike; of
    equal gaps it is the one that comes closest to `size`. Where every place in the range is
    closed, the block goes on to the first open one.

    Parameters
    ----------
    gap
        Between each frame and the next one, in the source's numbering; one less than frames.
        Infinite where another sequence begins.
    closed
        Places between two frames where no cut is allowed.
    size
        Frames per block, at least 1.

    Returns
    -------
    numpy.ndarray
        The number of the block for each frame, from 0.

    Examples
    --------
    >>> cut_blocks(np.array([1, 1, 1, 9, 1, 1]), np.zeros(6, dtype=bool), size=3)
    array([0, 0, 0, 0, 1, 1, 1])
    """
    frames = len(gap) + 1
    least = max(1, (size + 1) // 2)
    most = max(least, size + size // 2)
    # A cut at place c lies before frame c; each half must be worth being a block.
    open_places = np.flatnonzero(~closed & (gap > 0)) + 1
    starts = np.zeros(frames, dtype=np.int64)
    last = 0
    while frames - last > most:
        first = np.searchsorted(open_places, last + least)
        end = np.searchsorted(open_places, min(last + most, frames - least), side="right")
        if first < end:
            places = open_places[first:end]
            width = gap[places - 1]
            widest = places[width == width.max()]
            cut = int(widest[np.argmin(np.abs(widest - (last + size)))])
        elif end < len(open_places) and open_places[end] <= frames - least:
            cut = int(open_places[end])
        else:
            break
        starts[cut] = 1
        last = cut
    return np.cumsum(starts)


def uncuttable(
    polyp: NDArray[np.integer],
    is_polyp: NDArray[np.bool_],
    gap: NDArray[np.integer] | NDArray[np.floating],
) -> NDArray[np.bool_]:
    """Return the places between frames where a cut would go through a polyp.

    That is anywhere between the first and the last frame of a polyp that has a name, and inside a
    run of polyp frames without one. A run ends where the numbering jumps: at a gap of more than
    twice the usual one.

    Parameters
    ----------
    polyp
        Which polyp each frame shows; -1 for none, or one without a name.
    is_polyp
        Whether it shows one.
    gap
        As for :func:`cut_blocks`.
    """
    depth = np.zeros(len(polyp) + 1, dtype=np.int64)
    shown = np.flatnonzero(polyp >= 0)
    if len(shown):
        _, first = np.unique(polyp[shown], return_index=True)
        _, last = np.unique(polyp[shown][::-1], return_index=True)
        np.add.at(depth, shown[first], 1)
        np.add.at(depth, shown[len(shown) - 1 - last], -1)
    inside = np.cumsum(depth)[: max(len(polyp) - 1, 0)] > 0
    if not len(gap):
        return inside
    nameless = is_polyp & (polyp < 0)
    finite = gap[np.isfinite(gap)]
    usual = np.median(finite) if len(finite) else 0
    return inside | (nameless[1:] & nameless[:-1] & (gap <= 2 * usual))
