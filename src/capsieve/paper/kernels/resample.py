"""Separable resampling with a few taps per pixel."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["resample"]


@compiled
def resample(source, channels, row_firsts, row_weights, col_firsts, col_weights, out):
    """Write the weighted means, clipped to 0..255; along the columns first, a row at a time.

    Rows of source and out hold their pixels' channels side by side. Weights are taps x places, and
    the places of a row count channels. Places are unsigned: no index counts from the end.
    """
    length, width = source.shape[1], out.shape[1]
    line = np.empty(length, np.float32)
    for row in range(out.shape[0]):
        line[:] = 0.0
        for tap in range(row_weights.shape[0]):
            weight = row_weights[tap, row]
            if weight != 0.0:
                values = source[row_firsts[row] + np.uint64(tap)]
                for n in range(length):
                    line[n] += weight * np.float32(values[n])
        result = out[row]
        result[:] = 0.0
        for tap in range(col_weights.shape[0]):
            weights, shifted = col_weights[tap], line[tap * channels :]
            for n in range(width):
                result[n] += weights[n] * shifted[col_firsts[n]]
        for n in range(width):
            result[n] = min(max(result[n], np.float32(0.0)), np.float32(255.0))
