"""Loops of the cartoon + texture split and of the texture energy."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import exp2, largest, log2
from capsieve.paper.kernels.gaussian import block_span, filter_block, finish_columns
from capsieve.paper.kernels.strips import STRIP

__all__ = ["masked_maximum", "smoothed_variations", "texture", "texture_power"]

_GUARD = np.float32(1.0)  # grey levels
_LEAST = np.float32(1e-30)  # grey levels; less is no texture


@compiled
def _variation_of(above, here, below, out):
    """Write |Da| of a row: central differences without the factor 1/2, zero at the ends."""
    inner = here.size - 2
    left, right, up, down, result = here[:-2], here[2:], above[1:-1], below[1:-1], out[1:-1]
    for col in range(inner):
        across, along = right[col] - left[col], down[col] - up[col]
        result[col] = np.sqrt(across * across + along * along)
    out[0] = 0.0
    out[here.size - 1] = 0.0


@compiled
def _variation_of_difference(above, here, below, less_above, less_here, less_below, out):
    """Write |D(a - b)| of a row."""
    inner = here.size - 2
    left, right, up, down, result = here[:-2], here[2:], above[1:-1], below[1:-1], out[1:-1]
    less_left, less_right = less_here[:-2], less_here[2:]
    less_up, less_down = less_above[1:-1], less_below[1:-1]
    for col in range(inner):
        across = (right[col] - left[col]) - (less_right[col] - less_left[col])
        along = (down[col] - up[col]) - (less_down[col] - less_up[col])
        result[col] = np.sqrt(across * across + along * along)
    out[0] = 0.0
    out[here.size - 1] = 0.0


@compiled
def smoothed_variations(
    frame,
    detail,
    taps,
    starts,
    stops,
    line_starts,
    line_stops,
    block,
    scratch,
    variations,
    before,
    after,
):
    """Write G|Df| and G|D(f - detail)| where they are wanted; `variations` holds STRIP rows."""
    rows, cols = frame.shape
    zeros = np.zeros((1, STRIP), np.float32)
    for smoothed in range(2):
        out = before if smoothed == 0 else after
        done = 0
        for strip in range(0, rows, STRIP):
            first = min(strip, rows - STRIP)
            start, stop = block_span(line_starts, line_stops, first, cols)
            for down in range(STRIP):
                row, line = first + down, variations[down]
                if row == 0 or row == rows - 1:
                    line[:] = 0.0
                elif smoothed == 0:
                    _variation_of(frame[row - 1], frame[row], frame[row + 1], line)
                else:
                    _variation_of_difference(
                        frame[row - 1],
                        frame[row],
                        frame[row + 1],
                        detail[row - 1],
                        detail[row],
                        detail[row + 1],
                        line,
                    )
            filter_block(variations, 0, cols, taps, start, stop, block, scratch, first)
            filtered = first + STRIP
            done = finish_columns(
                scratch, done, filtered, rows, cols, taps, starts, stops, zeros, 0, out
            )


@compiled
def _texture_of(detail, before, after):
    """Return w (f - Lf) of a pixel."""
    zero, one = np.float32(0.0), np.float32(1.0)
    lost = (before - after) / max(before, _GUARD)
    weight = min(max((lost - np.float32(0.25)) * np.float32(4.0), zero), one)
    return weight * detail if before > _GUARD else zero


@compiled
def texture(detail, before, after, out):
    """Write t over the whole frame."""
    rows, cols = detail.shape
    for row in range(rows):
        for col in range(cols):
            out[row, col] = _texture_of(detail[row, col], before[row, col], after[row, col])


@compiled
def _raise(values, power):
    """Raise positive numbers to a power in place; a loop of its own, which runs in vectors."""
    zero = np.float32(0.0)
    for n in range(values.size):
        raised = exp2(power * log2(max(values[n], _LEAST)))
        values[n] = raised if values[n] > _LEAST else zero


@compiled
def texture_power(detail, before, after, starts, stops, power, out):
    """Write |t|^p inside the mask, 0 outside."""
    zero = np.float32(0.0)
    for row in range(detail.shape[0]):
        start, stop = starts[row], stops[row]
        out[row, :start] = zero
        out[row, stop:] = zero
        details, result = detail[row, start:stop], out[row, start:stop]
        befores, afters = before[row, start:stop], after[row, start:stop]
        for n in range(stop - start):
            result[n] = np.abs(_texture_of(details[n], befores[n], afters[n]))
        _raise(result, power)


@compiled
def masked_maximum(values, starts, stops):
    """Zero what lies outside the mask and return the largest value inside; none is negative."""
    highest = np.float32(0.0)
    for row in range(values.shape[0]):
        start, stop = starts[row], stops[row]
        values[row, :start] = 0.0
        values[row, stop:] = 0.0
        highest = max(highest, largest(values[row, start:stop]))
    return highest
