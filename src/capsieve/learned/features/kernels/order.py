"""Values by their rank, without sorting them all."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["ranked"]

_BINS = 1024
_NARROW = 1e-30  # a smaller range cannot be divided into bins


@compiled
def _bounds(values):
    """Return the least and the largest value, compared as integers: these run in vectors."""
    flip = np.int32(0x7FFFFFFF)
    bits = values.view(np.int32)
    low, high = flip, np.int32(-flip - 1)
    for n in range(bits.size):
        # The bits of a negative float grow as it falls.
        key = np.int32(bits[n] ^ (np.int32(bits[n] >> np.int32(31)) & flip))
        low = min(low, key)
        high = max(high, key)
    keys = np.empty(2, np.int32)
    keys[0] = low ^ (np.int32(low >> np.int32(31)) & flip)
    keys[1] = high ^ (np.int32(high >> np.int32(31)) & flip)
    found = keys.view(np.float32)
    return found[0], found[1]


@compiled
def ranked(values, ranks):
    """Return the values of some ranks, 0 for the least.

    Parameters
    ----------
    values
        float32, at least one, finite.
    ranks
        In ascending order.

    Values are counted in bins; only those of a bin that holds a rank are sorted.
    """
    found = np.empty(ranks.size, np.float32)
    low, high = _bounds(values)
    if high - low < _NARROW:
        found[:] = low
        return found
    # A bin's number never falls as the value rises, however it is rounded.
    scale = np.float32(_BINS / (high - low))
    bins = np.empty(values.size, np.int32)
    for n in range(values.size):
        bins[n] = np.int32((values[n] - low) * scale)
    counts = np.zeros(_BINS + 2, np.int64)
    for n in range(values.size):
        counts[np.uint32(bins[n])] += 1
    chosen, below = 0, 0
    known = -1
    inside = values[:0]
    for k in range(ranks.size):
        while below + counts[chosen] <= ranks[k]:
            below += counts[chosen]
            chosen += 1
        if chosen != known:
            known = chosen
            inside = np.empty(counts[chosen], np.float32)
            count = 0
            for n in range(values.size):
                if bins[n] == chosen:
                    inside[count] = values[n]
                    count += 1
            inside.sort()
        found[k] = inside[ranks[k] - below]
    return found
