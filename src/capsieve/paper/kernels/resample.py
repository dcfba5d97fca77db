"""Separable resampling with a few taps per pixel."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["resample"]


@compiled
def resample(source, row_firsts, row_weights, col_firsts, col_weights, out):
    """Write the weighted means, clipped to 0..255; along the columns first, a row at a time."""
    cols, channels = source.shape[1], source.shape[2]
    length = cols * channels
    flat = source.reshape(source.shape[0], length)
    line = np.empty(length, np.float32)
    taps = col_weights.shape[1]
    for row in range(out.shape[0]):
        line[:] = 0.0
        for tap in range(row_weights.shape[1]):
            weight = row_weights[row, tap]
            if weight != 0.0:
                values = flat[row_firsts[row] + tap]
                for n in range(length):
                    line[n] += weight * np.float32(values[n])
        for col in range(out.shape[1]):
            first = col_firsts[col] * channels
            for channel in range(channels):
                total = np.float32(0.0)
                for tap in range(taps):
                    total += col_weights[col, tap] * line[first + tap * channels + channel]
                out[row, col, channel] = min(max(total, np.float32(0.0)), np.float32(255.0))
