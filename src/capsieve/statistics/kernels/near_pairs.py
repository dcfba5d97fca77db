"""Pairs of hashes that differ in few bits, among those whose bits of one band nearly agree."""

from typing import Any

import numpy as np
from numba import types

from capsieve.compiling import compiled, machine_code

__all__ = ["join_band"]

_WORDS = 4
_BANDS_PER_WORD = 4
_BAND_BITS = 16
_BAND = np.uint64(0xFFFF)


@machine_code
def _ones(typingctx, word):
    """Count the bits of a 64-bit word that are 1."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@compiled
def _rest_agrees(a, i, b, j, band, slack, left):
    """Tell whether the other two words are near enough, and no earlier band brought the pair."""
    word = band // _BANDS_PER_WORD
    for step in (3, 4):
        place = (word + step) % _WORDS
        left -= _ones(a[place, i] ^ b[place, j])
    if left < 0:
        return -1
    for earlier in range(band):
        shift = np.uint64(_BAND_BITS * (earlier % _BANDS_PER_WORD))
        place = earlier // _BANDS_PER_WORD
        if _ones(((a[place, i] ^ b[place, j]) >> shift) & _BAND) <= slack:
            return -1
    return left


@compiled
def join_band(a, a_starts, b, b_starts, band, limit, found, count):
    """Write the pairs within the limit that are first met in this band; return how many there are.

    Parameters
    ----------
    a, b
        Looks as columns of four words, sorted by the band's 16 bits.
    a_starts, b_starts
        Where the hashes with each value of these bits begin; one more at the end.
    band
        Which one, from 0.
    limit
        Of the distance, at most 31: then some band differs in at most ``limit // 16`` bits.
    found
        Rows for pairs: place in a, place in b, distance.
    count
        Rows already taken; what is returned includes them. It stops when all are taken.
    """
    slack = limit // _BAND_BITS
    word = band // _BANDS_PER_WORD
    # The band's own word nearly agrees already. Two others rule out all but one pair in millions.
    second, third = (word + 1) % _WORDS, (word + 2) % _WORDS
    a_second, a_third = a[second], a[third]
    for value in range(len(a_starts) - 1):
        start, stop = a_starts[value], a_starts[value + 1]
        if start == stop:
            continue
        for probe in range(1 + slack * _BAND_BITS):
            near = value if probe == 0 else value ^ (1 << (probe - 1))
            for j in range(b_starts[near], b_starts[near + 1]):
                b_second, b_third = b[second, j], b[third, j]
                for i in range(start, stop):
                    bits = _ones(a_second[i] ^ b_second) + _ones(a_third[i] ^ b_third)
                    if bits > limit:
                        continue
                    left = _rest_agrees(a, i, b, j, band, slack, limit - bits)
                    if left < 0:
                        continue
                    if count == len(found):
                        return count
                    found[count, 0] = i
                    found[count, 1] = j
                    found[count, 2] = limit - left
                    count += 1
    return count
