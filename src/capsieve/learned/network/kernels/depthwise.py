"""The gradient of filters that look at one channel each, in vector registers.

For each channel c and tap (a, b) it is the sum over all frames and places of
x[i * stride + a, j * stride + b, c] * g[i, j, c], where x has its zeros around it. torch's own
takes ten times as long as the filter itself for sides of 5. Here 16 channels are copied to a small
place of their own, where they lie side by side, and the sums of all 25 taps stay in registers while
the places pass by. It is written as portable LLVM vectors: where a processor has fewer registers
than AVX-512, the compiler keeps some of the sums in memory.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from capsieve.compiling import compiled, machine_code

__all__ = ["LANES", "SIDE", "tap_gradients"]

LANES = 16
"""Channels that are summed at a time; their number must be a multiple."""
SIDE = 5
"""Of the filters, in taps."""

_TAPS = SIDE * SIDE
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_FUSED = ("contract",)  # a multiply and an add may become one instruction


@machine_code
def _add_products(typingctx, x, g, sums, rows, cols, x_cols, stride):
    """Add to sums (taps x LANES) what x (padded) and g of one frame give, for LANES channels."""
    i = types.intp
    signature = types.void(x, g, sums, i, i, i, i)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def data(position: int) -> Any:
            make = context.make_array(signature.args[position])
            return make(context, builder, args[position]).data

        def pointer(start: Any, vectors: Any) -> Any:
            vector_start = builder.bitcast(start, _VECTOR.as_pointer())
            return builder.gep(vector_start, [vectors])

        def load(start: Any, vectors: Any) -> Any:
            loaded = builder.load(pointer(start, vectors))
            loaded.align = 4
            return loaded

        def number(value: int) -> Any:
            return ir.Constant(ir.IntType(64), value)

        x, g, sums = data(0), data(1), data(2)
        rows, cols, x_cols, stride = args[3:]
        totals = [cgutils.alloca_once(builder, _VECTOR) for _ in range(_TAPS)]
        for tap, total in enumerate(totals):
            builder.store(load(sums, number(tap)), total)
        with cgutils.for_range(builder, rows) as row, cgutils.for_range(builder, cols) as col:
            gradient = load(g, builder.add(builder.mul(row.index, cols), col.index))
            first = builder.mul(builder.mul(row.index, stride), x_cols)
            first = builder.add(first, builder.mul(col.index, stride))
            for tap, total in enumerate(totals):
                down, across = divmod(tap, SIDE)
                at = builder.add(first, builder.mul(x_cols, number(down)))
                value = load(x, builder.add(at, number(across)))
                product = builder.fmul(value, gradient, flags=_FUSED)
                builder.store(builder.fadd(builder.load(total), product, flags=_FUSED), total)
        for tap, total in enumerate(totals):
            builder.store(builder.load(total), pointer(sums, number(tap))).align = 4
        return context.get_dummy_value()

    return signature, codegen


@compiled
def tap_gradients(x, g, stride, padding, out):
    """Write the gradient of every tap into `out`, channels x SIDE x SIDE.

    `x` (frames x rows x columns x channels) is what was filtered, with `padding` zeros around it
    that are not in the array; `g`, likewise, the gradient of what came out.
    """
    frames, rows, cols, channels = g.shape
    x_rows, x_cols = (rows - 1) * stride + SIDE, (cols - 1) * stride + SIDE
    # Rows and columns that no tap reaches are left out.
    inner_rows = min(x.shape[1], x_rows - padding)
    inner_cols = min(x.shape[2], x_cols - padding)
    padded = np.zeros((x_rows, x_cols, LANES), np.float32)
    gradient = np.empty((rows, cols, LANES), np.float32)
    sums = np.zeros((channels // LANES, _TAPS, LANES), np.float32)
    for frame in range(frames):
        for chunk in range(channels // LANES):
            first = chunk * LANES
            for i in range(inner_rows):
                for j in range(inner_cols):
                    for lane in range(LANES):
                        padded[i + padding, j + padding, lane] = x[frame, i, j, first + lane]
            for i in range(rows):
                for j in range(cols):
                    for lane in range(LANES):
                        gradient[i, j, lane] = g[frame, i, j, first + lane]
            _add_products(padded, gradient, sums[chunk], rows, cols, x_cols, stride)
    for channel in range(channels):
        for tap in range(_TAPS):
            total = sums[channel // LANES, tap, channel % LANES]
            out[channel, tap // SIDE, tap % SIDE] = total
