"""Separable symmetric filters with mirrored borders, only where their result is wanted.

Spans say for every row which columns are wanted: [starts[i], stops[i]). Rows are filtered STRIP
at a time, transposed, so that both directions use the same code. A scratch plane holds the
row-filtered frame with `half` mirrored rows above and below. Its rows are an odd number of cache
lines long: with the frame's own 1024 bytes, the rows that a column filter visits would evict each
other.
"""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.strips import STRIP, TILE, filter_row_pair, transpose_tile

__all__ = ["block_shape", "filter_block", "finish_columns", "scratch_shape", "smooth"]

_LINE = 16  # floats in a cache line


def scratch_shape(rows: int, cols: int, half: int) -> tuple[int, int]:
    """Return the shape of the scratch plane that a filter of that half-width needs."""
    lines = -(-cols // _LINE)
    return rows + 2 * half, (lines + 1 - lines % 2) * _LINE


def block_shape(cols: int, half: int) -> tuple[int, int]:
    """Return the shape of the two buffers for a transposed block, one behind the other."""
    return 2 * cols + 2 * half, STRIP


@compiled
def filter_block(source, first, cols, taps, start, stop, block, scratch, row):
    """Filter STRIP rows along themselves into the scratch plane.

    `first` is the row of `source` where the block starts, `row` its place in the frame, and the
    columns [start, stop) are wanted.
    """
    half = taps.size - 1
    stride = scratch.shape[1]
    filtered = (cols + 2 * half) * STRIP  # where the second buffer starts
    begin, end = max(0, start - half), min(cols, stop + half)
    for tile in range(begin, end, TILE):
        col = min(tile, cols - TILE)
        for down in range(0, STRIP, TILE):
            transpose_tile(
                block,
                (half + col) * STRIP + down,
                STRIP,
                source,
                (first + down) * cols + col,
                cols,
            )
    for k in range(half):
        before, after = block[half - 1 - k], block[half + cols + k]
        left, right = block[half + k], block[half + cols - 1 - k]
        for n in range(STRIP):
            before[n] = left[n]
            after[n] = right[n]
    zeros = np.zeros(STRIP, np.float32)
    for pair in range(start, stop, 2):
        col = min(pair, cols - 2)
        filter_row_pair(
            block,
            filtered + col * STRIP,
            STRIP,
            zeros,
            0,
            0,
            block,
            (half + col) * STRIP,
            STRIP,
            taps,
            half,
        )
    for tile in range(start, stop, TILE):
        col = min(tile, cols - TILE)
        for down in range(0, STRIP, TILE):
            transpose_tile(
                scratch,
                (half + row + down) * stride + col,
                stride,
                block,
                filtered + col * STRIP + down,
                STRIP,
            )


@compiled
def finish_columns(scratch, done, filtered, rows, cols, taps, starts, stops, base, base_step, out):
    """Filter along columns the rows that have all they need; return how many are finished.

    `done` rows were finished before, `filtered` rows are in the scratch plane by now: they are
    used while they are still in the cache. out = base + the filtered frame; base_step is the
    length of a row of `base`, or 0 for one row that stands for all.
    """
    half = taps.size - 1
    stride = scratch.shape[1]
    if done == 0 and filtered >= half:
        for k in range(half):
            scratch[half - 1 - k] = scratch[half + k]
    if filtered == rows:
        for k in range(half):
            scratch[half + rows + k] = scratch[half + rows - 1 - k]
    ready = rows if filtered == rows else (filtered - half) // 2 * 2
    if filtered < half or ready <= done:
        return done
    for strip in range(0, cols, STRIP):
        # The last strip, and the last pair of rows, overlap those before rather than run over.
        col = min(strip, cols - STRIP)
        base_col = col if base_step else 0
        for pair in range(done, ready, 2):
            row = min(pair, rows - 2)
            if (starts[row] < strip + STRIP and stops[row] > strip) or (
                starts[row + 1] < strip + STRIP and stops[row + 1] > strip
            ):
                filter_row_pair(
                    out,
                    row * cols + col,
                    cols,
                    base,
                    row * base_step + base_col,
                    base_step,
                    scratch,
                    (row + half) * stride + col,
                    stride,
                    taps,
                    half,
                )
    return ready


@compiled
def block_span(starts, stops, row, cols):
    """Return the columns that any of STRIP rows wants, rounded to whole tiles."""
    start, stop = cols, 0
    for down in range(STRIP):
        if starts[row + down] < stops[row + down]:
            start, stop = min(start, starts[row + down]), max(stop, stops[row + down])
    return start // TILE * TILE, min(cols, -(-stop // TILE) * TILE)


@compiled
def smooth(
    source, taps, column_taps, starts, stops, line_starts, line_stops, base, block, scratch, out
):
    """Filter along rows, then along columns: out = base + filtered.

    `column_taps` are the taps again, or their negatives for out = base - filtered. `line_starts`
    and `line_stops` are the spans in which the row-filtered frame is needed. `base` is a frame, or
    a single row of zeros. `out` may not be `source` or `base`.
    """
    rows, cols = source.shape
    base_step = cols if base.shape[0] > 1 else 0
    done = 0
    for strip in range(0, rows, STRIP):
        row = min(strip, rows - STRIP)
        start, stop = block_span(line_starts, line_stops, row, cols)
        filter_block(source, row, cols, taps, start, stop, block, scratch, row)
        filtered = row + STRIP
        done = finish_columns(
            scratch, done, filtered, rows, cols, column_taps, starts, stops, base, base_step, out
        )
