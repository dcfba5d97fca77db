"""A symmetric filter along columns, and transposed tiles, in vector registers.

A plain loop over the taps inside a loop over the pixels is not vectorised well: the partial sums
go through memory at every tap. Here the sums of 32 pixels stay in registers while the taps pass by.
Along rows the same would load from odd addresses, which is slow: such pixels are transposed first.
It is written as portable LLVM vectors, which become AVX, SSE or NEON.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from capsieve.compiling import machine_code

__all__ = ["STRIP", "TILE", "filter_row_pair", "transpose_tile"]

_LANES = 8
STRIP = 2 * _LANES
"""Pixels of each of two rows that :func:`filter_row_pair` computes at a time."""
TILE = _LANES
"""Rows and columns of a tile."""

_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_FUSED = ("contract",)  # a multiply and an add may become one instruction


class _Writer:
    """Writes vector code: what the functions below share."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder = context, builder
        self.signature, self.args = signature, args

    def data(self, position: int) -> Any:
        make = self.context.make_array(self.signature.args[position])
        return make(self.context, self.builder, self.args[position]).data

    def moved(self, offset: Any, by: int) -> Any:
        return self.builder.add(offset, ir.Constant(ir.IntType(64), by)) if by else offset

    def pointer(self, data: Any, offset: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(data, [offset]), _VECTOR.as_pointer())

    def load(self, data: Any, offset: Any) -> Any:
        loaded = self.builder.load(self.pointer(data, offset))
        loaded.align = 4
        return loaded

    def store(self, vector: Any, data: Any, offset: Any) -> None:
        self.builder.store(vector, self.pointer(data, offset)).align = 4

    def weight(self, taps: Any, tap: Any) -> Any:
        """One tap in all lanes."""
        builder = self.builder
        empty = ir.Constant(_VECTOR, ir.Undefined)
        scalar = builder.load(builder.gep(taps, [tap]))
        single = builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
        return builder.shuffle_vector(single, empty, zeros)

    def variable(self, value: Any) -> Any:
        """A place for a vector; the compiler turns it into a register."""
        place = cgutils.alloca_once(self.builder, _VECTOR)
        self.builder.store(value, place)
        return place

    def add_product(self, place: Any, factor: Any, value: Any) -> None:
        product = self.builder.fmul(factor, value, flags=_FUSED)
        total = self.builder.fadd(self.builder.load(place), product, flags=_FUSED)
        self.builder.store(total, place)


_ZERO, _ONE = ir.Constant(ir.IntType(64), 0), ir.Constant(ir.IntType(64), 1)


@machine_code
def filter_row_pair(
    typingctx, out, out_at, out_step, base, base_at, base_step, source, source_at, step, taps, half
):
    """Compute STRIP pixels of two rows: base + taps[0] s[0] + sum of taps[m] (s[-m] + s[m]).

    Here s[m] is m rows of `step` elements away. Two rows together need each source row only once:
    what is s[-m] for the first is s[-m-1] for the second. The taps go in twos, so `half` is even;
    the sums of even and odd taps are kept apart, or each addition would wait for the one before.
    """
    i = types.intp
    signature = types.void(out, i, i, base, i, i, source, i, i, taps, i)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        out, base, source, taps = w.data(0), w.data(3), w.data(6), w.data(9)
        out_at, out_step, base_at, base_step, source_at, step, half = (
            args[n] for n in (1, 2, 4, 5, 7, 8, 10)
        )
        next_at = builder.add(source_at, step)
        shifts = range(0, STRIP, _LANES)
        weight = w.weight(taps, _ZERO)
        lanes = []
        for shift in shifts:
            upper = w.load(source, w.moved(source_at, shift))
            lower = w.load(source, w.moved(next_at, shift))
            start = w.load(base, w.moved(base_at, shift))
            next_start = w.load(base, w.moved(builder.add(base_at, base_step), shift))
            even, next_even = w.variable(start), w.variable(next_start)
            w.add_product(even, weight, upper)
            w.add_product(next_even, weight, lower)
            zero = ir.Constant(_VECTOR, None)
            odd, next_odd = w.variable(zero), w.variable(zero)
            # The last source rows that were loaded above and below.
            carried = w.variable(upper), w.variable(lower)
            lanes.append((shift, (odd, next_odd), (even, next_even), carried))
        with cgutils.for_range(builder, builder.lshr(half, _ONE)) as loop:
            first_tap = builder.add(builder.shl(loop.index, _ONE), _ONE)
            for later in range(2):
                tap = w.moved(first_tap, later)
                weight = w.weight(taps, tap)
                reach = builder.mul(tap, step)
                above, below = builder.sub(source_at, reach), builder.add(next_at, reach)
                for shift, odds, evens, carried in lanes:
                    total, next_total = evens if later else odds
                    upper = w.load(source, w.moved(above, shift))
                    lower = w.load(source, w.moved(below, shift))
                    w.add_product(total, weight, builder.fadd(upper, builder.load(carried[1])))
                    w.add_product(next_total, weight, builder.fadd(builder.load(carried[0]), lower))
                    builder.store(upper, carried[0])
                    builder.store(lower, carried[1])
        for shift, odds, evens, _ in lanes:
            at = w.moved(out_at, shift)
            for odd, even in zip(odds, evens, strict=True):
                w.store(builder.fadd(builder.load(odd), builder.load(even)), out, at)
                at = builder.add(at, out_step)
        return context.get_dummy_value()

    return signature, codegen


def _interleave(builder: Any, first: Any, second: Any, order: list[int]) -> Any:
    mask = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), order)
    return builder.shuffle_vector(first, second, mask)


@machine_code
def transpose_tile(typingctx, out, out_at, out_step, source, source_at, step):
    """Write the transpose of TILE x TILE pixels; the steps are the lengths of a row."""
    i = types.intp
    signature = types.void(out, i, i, source, i, i)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        out, source = w.data(0), w.data(3)
        out_at, out_step, source_at, step = (args[n] for n in (1, 2, 4, 5))
        rows = []
        for _ in range(TILE):
            rows.append(w.load(source, source_at))
            source_at = builder.add(source_at, step)
        # Exchange neighbours at distance 1, 2 and 4; each step is two shuffles for a pair of rows.
        for reach, low, high in (
            (1, [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]),
            (2, [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]),
            (4, [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]),
        ):
            for row in range(TILE):
                if not row & reach:
                    first, second = rows[row], rows[row + reach]
                    rows[row] = _interleave(builder, first, second, low)
                    rows[row + reach] = _interleave(builder, first, second, high)
        for vector in rows:
            w.store(vector, out, out_at)
            out_at = builder.add(out_at, out_step)
        return context.get_dummy_value()

    return signature, codegen
