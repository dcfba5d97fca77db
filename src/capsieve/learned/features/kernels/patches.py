"""The search for round patches that stand out from their surround on every side."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import log2

__all__ = ["KINDS", "closed_patches", "stack_kinds"]

KINDS = 4
"""Planes that are searched at once. They lie side by side in each pixel, as channels of a picture
do: what one loop does with four of them, it does with the pixels of a row in vectors."""

_LN_2 = np.float32(np.log(2.0))


@compiled
def stack_kinds(light, redness, detail, darkest, paler, smoother, out):
    """Write log(light), -redness, -detail and the sum of the three with weights, side by side."""
    for n in range(light.size):
        bright = _LN_2 * log2(max(light[n], darkest))
        out[n, 0] = bright
        out[n, 1] = -redness[n]
        out[n, 2] = -detail[n]
        out[n, 3] = bright - paler * redness[n] - smoother * detail[n]


@compiled
def _count_weak(values, start, inner, outer, bounds, seen, weak):
    """Count for each lane of a run the directions that are seen and do not fall by its bound."""
    count = weak.size
    one = np.int32(1)
    weak[:] = np.int32(0)
    for n in range(inner.size):
        inside = values[start + inner[n] : start + inner[n] + count]
        outside = values[start + outer[n] : start + outer[n] + count]
        for lane in range(count):
            flat = np.int32(inside[lane] - outside[lane] <= bounds[lane])
            weak[lane] += flat & (seen[lane] >> np.int32(n)) & one


@compiled
def _sorted_falls(values, place, inner, outer, bits, falls):
    """Write the falls of the directions that are seen, in order; return how many there are."""
    found = 0
    for n in range(inner.size):
        if (bits >> n) & 1:
            fall = values[place + inner[n]] - values[place + outer[n]]
            slot = found
            while slot > 0 and falls[slot - 1] > fall:
                falls[slot] = falls[slot - 1]
                slot -= 1
            falls[slot] = fall
            found += 1
    return found


@compiled
def closed_patches(values, runs, inner, outer, seen, allowed):
    """Return for each kind the best patch: its fall, its pixel (-1: none), and the mean fall.

    Parameters
    ----------
    values
        All kinds, flat.
    runs
        Rows of (first, count): the flat first pixel of a run of pixels, and how many there are.
    inner, outer
        Offsets of the directions' inner and outer points in `values`.
    seen, allowed
        For each pixel of the runs, and each kind: a bit for each direction whose outer point lies
        in the mask, and how many of these directions may be weak; -1 where no patch is looked for.

    The fall of a patch is inside - outside in the fourth weakest of 16 directions. A fold that runs
    through the patch has at least four without any. To see that a patch is not the best takes no
    sorting: too many of its directions fall by no more than the best does.
    """
    best = np.zeros(KINDS, np.float32)
    mean = np.zeros(KINDS, np.float32)
    where = np.full(KINDS, -1, np.int64)
    falls = np.empty(inner.size, np.float32)
    longest = 0
    for run in range(runs.shape[0]):
        longest = max(longest, runs[run, 1])
    bounds = np.empty(longest * KINDS, np.float32)
    counts = np.empty(longest * KINDS, np.int32)
    begin = 0
    for run in range(runs.shape[0]):
        start, lanes = runs[run, 0] * KINDS, runs[run, 1] * KINDS
        for lane in range(lanes):
            bounds[lane] = best[lane % KINDS]
        weak, bits = counts[:lanes], seen[begin : begin + lanes]
        _count_weak(values, start, inner, outer, bounds, bits, weak)
        for lane in range(lanes):
            if weak[lane] > allowed[begin + lane]:
                continue
            kind = lane % KINDS
            found = _sorted_falls(values, start + lane, inner, outer, bits[lane], falls)
            fall = falls[found // 4 - 1]
            if fall > best[kind]:
                best[kind] = fall
                where[kind] = runs[run, 0] + lane // KINDS
                mean[kind] = falls[:found].sum() / np.float32(found)
        begin += lanes
    return best, where, mean
