"""The search for round patches that stand out from their surround on every side."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["closed_patch"]


@compiled
def closed_patch(plane, centres, seen, inner, outer):
    """Return the best patch: its fall, its place in centres (-1: none), and the mean fall.

    Parameters
    ----------
    plane
        A flat plane.
    centres
        Flat places of the centres that are tried.
    seen
        For each of them a bit for each direction whose outer point lies in the mask.
    inner, outer
        Flat offsets of the directions' inner and outer points.

    The fall of a patch is inside - outside in the fourth weakest of 16 directions. A fold that runs
    through the patch has at least four without any.
    """
    count = inner.shape[0]
    falls = np.empty(count, np.float32)
    best, where, mean = np.float32(0.0), -1, np.float32(0.0)
    for k in range(centres.shape[0]):
        centre, bits = centres[k], seen[k]
        found, weak, allowed = 0, 0, count // 4 - 1
        for n in range(count):
            if not (bits >> n) & 1:
                continue
            fall = plane[centre + inner[n]] - plane[centre + outer[n]]
            if fall <= best:
                weak += 1
                if weak > allowed:  # it can no longer be the best
                    break
            place = found  # kept in order
            while place > 0 and falls[place - 1] > fall:
                falls[place] = falls[place - 1]
                place -= 1
            falls[place] = fall
            found += 1
        if weak > found // 4 - 1:
            continue
        best, where = falls[found // 4 - 1], k
        mean = np.float32(0.0)
        for n in range(found):
            mean += falls[n] / np.float32(found)
    return best, where, mean
