"""The planes of a view, each in one pass over its pixels."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import log2

__all__ = ["balance", "clip_bytes", "cut_detail", "gather", "log_detail"]

_LN_2 = np.float32(np.log(2.0))
_RED, _GREEN, _BLUE = np.float32(0.299), np.float32(0.587), np.float32(0.114)


@compiled
def clip_bytes(values):
    """Bring flat values into 0..255, in place."""
    for n in range(values.size):
        values[n] = min(max(values[n], np.float32(0.0)), np.float32(255.0))


@compiled
def gather(values, step, shift, starts, stops, out):
    """Write the values in the mask one after the other; return how many there are.

    `values` is rows x (columns times `step`), of which every `step`-th from `shift` on counts.
    """
    count = 0
    for row in range(starts.size):
        length = stops[row] - starts[row]
        line = values[row, starts[row] * step + shift :]
        into = out[count : count + length]
        for n in range(length):
            into[n] = line[n * step]
        count += length
    return count


@compiled
def balance(colours, gains, balanced, gray, white):
    """Write the balanced colours on 0..1, grey and the least colour.

    `colours` is pixels x 3, 0..255. Balanced ones are scaled by `gains` and cut off at 1. Grey and
    the least colour are those of the camera.
    """
    one, full = np.float32(1.0), np.float32(1.0 / 255.0)
    for n in range(gray.size):
        r, g, b = colours[n, 0], colours[n, 1], colours[n, 2]
        red, green, blue = r * gains[0], g * gains[1], b * gains[2]
        gray[n] = _RED * r + _GREEN * g + _BLUE * b
        white[n] = min(r, g, b)
        balanced[n, 0] = min(red * full, one)
        balanced[n, 1] = min(green * full, one)
        balanced[n, 2] = min(blue * full, one)


@compiled
def cut_detail(light, fine, strongest, out):
    """Write |light - fine|, at most `strongest`."""
    for n in range(light.size):
        out[n] = min(abs(light[n] - fine[n]), strongest)


@compiled
def log_detail(detail, light, floor, out):
    """Write log(detail / light + floor)."""
    for n in range(light.size):
        out[n] = _LN_2 * log2(detail[n] / light[n] + floor)
