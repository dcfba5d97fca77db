"""Loops over pixels: resampling, grey, extension, separable filter, texture, mid-pass ratio.

The mask is given as `starts` and `stops`: columns starts[row] to stops[row] - 1 are inside.
"""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import exp2, largest, log2

_ZERO, _ONE, _UNIT = np.float32(0), np.float32(1), np.uint64(1)
_LEAST_TEXTURE = np.float32(1e-30)  # grey levels
_DARK = np.float32(1e-6)


@compiled
def resample(source, channels, row_firsts, row_weights, col_firsts, col_weights, out):
    """Write weighted means, clipped to 0..255; each output row along the columns first.

    The channels of a pixel are side by side in a row. Weights have the shape taps x places; the
    places within a row count channels. `firsts` (uint64) are the first source place of each mean.
    """
    length, width = source.shape[1], out.shape[1]
    line = np.empty(length, np.float32)
    for row in range(out.shape[0]):
        line[:] = _ZERO
        for tap in range(row_weights.shape[0]):
            weight = row_weights[tap, row]
            if weight != _ZERO:
                values = source[row_firsts[row] + np.uint64(tap)]
                for n in range(length):
                    line[n] += weight * np.float32(values[n])
        result = out[row]
        result[:] = _ZERO
        for tap in range(col_weights.shape[0]):
            weights, shifted = col_weights[tap], line[tap * channels :]
            for n in range(width):
                result[n] += weights[n] * shifted[col_firsts[n]]
        for n in range(width):
            result[n] = min(max(result[n], _ZERO), np.float32(255))


@compiled
def gray(pixels):
    """Return 0.2989 R + 0.5870 G + 0.1140 B."""
    rows, cols = pixels.shape[:2]
    out, flat = np.empty((rows, cols), np.float32), pixels.reshape(rows, 3 * cols)
    for row in range(rows):
        colours, values = flat[row], out[row]
        for col in range(cols):
            values[col] = (
                np.float32(0.2989) * np.float32(colours[3 * col])
                + np.float32(0.5870) * np.float32(colours[3 * col + 1])
                + np.float32(0.1140) * np.float32(colours[3 * col + 2])
            )
    return out


@compiled
def extend(flat, slope, places, first, second, first_weight, second_weight, lift):
    """Fill the pixels `places` in their order, each from two pixels that are known by then."""
    for n in range(places.size):
        flat[places[n]] = (
            slope * lift[n] + first_weight[n] * flat[first[n]] + second_weight[n] * flat[second[n]]
        )


@compiled
def filter_separable(frame, taps, starts, stops):
    """Filter with a symmetric kernel and mirrored borders, in columns starts to stops - 1.

    `taps` is a tuple k_0 .. k_half; the other side of the kernel is the same. A row is first
    filtered along the columns, then along itself.
    """
    (rows, cols), half = frame.shape, len(taps) - 1
    line = np.empty(cols + 2 * half, np.float32)
    inner = line[half : half + cols]
    mirrored, out = np.empty((2 * half + 1, cols), np.float32), np.empty_like(frame)
    for row in range(rows):
        start, stop = starts[row], stops[row]
        if start >= stop:
            continue
        window = frame[max(row - half, 0) : row + half + 1]
        if len(window) < len(mirrored):
            for n in range(row - half, row + half + 1):
                inside = -1 - n if n < 0 else 2 * rows - 1 - n if n >= rows else n
                mirrored[n - row + half] = frame[inside]
            window = mirrored
        for col in range(np.uint64(max(0, start - half)), np.uint64(min(cols, stop + half))):
            total = taps[0] * window[half, col]
            for m in range(1, len(taps)):
                total += taps[m] * (window[half - m, col] + window[half + m, col])
            inner[col] = total
        for m in range(half):
            line[half - 1 - m] = line[half + m]
            line[half + cols + m] = line[half + cols - 1 - m]
        near, result = line[start:], out[row, start:stop]
        for n in range(stop - start):
            total = taps[0] * near[n + half]
            for m in range(1, len(taps)):
                total += taps[m] * (near[n + half - m] + near[n + half + m])
            result[n] = total
    return out


@compiled
def variations(frame, detail):
    """Return |Df| and |D(f - detail)|, 0 in the one-pixel border."""
    rows, cols = frame.shape
    before, after = np.zeros_like(frame), np.zeros_like(frame)
    for row in range(1, rows - 1):
        for col in range(_UNIT, np.uint64(cols - 1)):
            left, right = col - _UNIT, col + _UNIT
            across = frame[row, right] - frame[row, left]
            down = frame[row + 1, col] - frame[row - 1, col]
            before[row, col] = np.sqrt(across * across + down * down)
            across -= detail[row, right] - detail[row, left]
            down -= detail[row + 1, col] - detail[row - 1, col]
            after[row, col] = np.sqrt(across * across + down * down)
    return before, after


@compiled
def texture(detail, before, after, starts, stops):
    """Return t = clip(4 lambda - 1, 0, 1) detail inside the mask; lambda = 0 if before <= 1."""
    out = np.zeros_like(detail)
    for row in range(detail.shape[0]):
        for col in range(starts[row], stops[row]):
            lost = (before[row, col] - after[row, col]) / max(before[row, col], _ONE)
            weight = min(max(np.float32(4) * (lost - np.float32(0.25)), _ZERO), _ONE)
            out[row, col] = weight * detail[row, col] if before[row, col] > _ONE else _ZERO
    return out


@compiled
def power(values, starts, stops, exponent):
    """Return |value|^exponent inside the mask, 0 outside."""
    out = np.zeros_like(values)
    for row in range(values.shape[0]):
        for col in range(starts[row], stops[row]):
            value = np.abs(values[row, col])
            raised = exp2(exponent * log2(max(value, _LEAST_TEXTURE)))
            out[row, col] = raised if value > _LEAST_TEXTURE else _ZERO
    return out


@compiled
def mask_maximum(values, starts, stops):
    """Set the values outside the mask to 0 and return the largest inside; none is negative."""
    highest = _ZERO
    for row in range(values.shape[0]):
        start, stop = starts[row], stops[row]
        values[row, :start] = _ZERO
        values[row, stop:] = _ZERO
        highest = max(highest, largest(values[row, start:stop]))
    return highest


@compiled
def positive_ratio(fine, coarse, starts, stops):
    """Return max(fine / coarse - 1, 0) inside the mask, 0 if coarse is dark and outside."""
    out = np.zeros_like(fine)
    for row in range(out.shape[0]):
        for col in range(starts[row], stops[row]):
            below = coarse[row, col]
            ratio = max(fine[row, col] / max(below, _DARK) - _ONE, _ZERO)
            out[row, col] = ratio if below > _DARK else _ZERO
    return out
