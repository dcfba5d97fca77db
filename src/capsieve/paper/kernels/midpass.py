"""The ratio of the two smoothed frames."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import largest

__all__ = ["positive_ratio"]

_DARK = np.float32(1e-6)


@compiled
def positive_ratio(fine, coarse, starts, stops, out):
    """Write max(fine / coarse - 1, 0) inside the mask and 0 outside; return the largest value."""
    zero, one = np.float32(0.0), np.float32(1.0)
    highest = zero
    for row in range(out.shape[0]):
        start, stop = starts[row], stops[row]
        out[row, :start] = zero
        out[row, stop:] = zero
        above, below, result = fine[row, start:stop], coarse[row, start:stop], out[row, start:stop]
        for n in range(stop - start):
            ratio = max(above[n] / max(below[n], _DARK) - one, zero)
            result[n] = ratio if below[n] > _DARK else zero
        highest = max(highest, largest(result))
    return highest
