"""All pairs of nearly equal perceptual hashes between two sets of frames: exact and fast.

Two hashes of 256 bits that differ in at most 31 have, among the 16 bands of 16 bits, one that
differs in at most one bit: 16 bands with two wrong bits each would make 32. So only hashes whose
bits of some band nearly agree need to be compared, a small part of a percent of all pairs; and
none is missed (multi-index hashing: Norouzi, Punjani, Fleet, CVPR 2012).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.phash import BITS, NEAR_DUPLICATE_BITS

__all__ = ["MOST_PAIRS", "NearPairs", "near_pairs"]

MOST_PAIRS = 1_000_000
"""After so many pairs the search stops."""

_BYTES = BITS // 8
_BANDS = 16
_VALUES = 1 << 16
_LARGEST_LIMIT = 2 * _BANDS - 1


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of nearly the same perceptual hash.

    Attributes
    ----------
    a, b
        Places in the two sets, sorted by a, then b.
    distance
        In how many bits the hashes differ.
    complete
        False where the search stopped early: there are at least so many pairs.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    distance: NDArray[np.int64]
    complete: bool

    def __len__(self) -> int:
        return len(self.a)


def near_pairs(
    a: NDArray[np.uint8],
    b: NDArray[np.uint8],
    *,
    limit: int = NEAR_DUPLICATE_BITS,
    most: int = MOST_PAIRS,
) -> NearPairs:
    """Return all pairs of hashes, one of either set, that differ in at most `limit` bits.

    Parameters
    ----------
    a, b
        Looks: rows of 32 bytes.
    limit
        0 to 31.
    most
        Stop after so many pairs: copies of a long film make more of them than anybody needs.
    """
    if not 0 <= limit <= _LARGEST_LIMIT:
        raise ValueError(f"limit is 0 to {_LARGEST_LIMIT}, not {limit}")
    first, second = _Different.of(a), _Different.of(b)
    # One more than wanted, by which we know that there are more.
    found = _join(first.hashes, second.hashes, limit, most + 1)
    return _every_copy(found, first, second, most)


@dataclass(frozen=True, slots=True, eq=False)
class _Different:
    """The different hashes of a set, and which frames have each.

    Attributes
    ----------
    hashes
        Each once, as rows of four words.
    frames
        Places of the frames, those of one hash together.
    starts
        Where the frames of each hash begin; one more at the end.
    """

    hashes: NDArray[np.uint64]
    frames: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, hashes: NDArray[np.uint8]) -> "_Different":
        if hashes.ndim != 2 or hashes.shape[1] != _BYTES or hashes.dtype != np.uint8:
            raise ValueError(
                f"hashes are rows of {_BYTES} bytes, not {hashes.dtype} {hashes.shape}"
            )
        words = np.ascontiguousarray(hashes).view(np.uint64)
        order = np.lexsort(words.T)
        words = words[order]
        new = np.ones(len(words), bool)
        new[1:] = (words[1:] != words[:-1]).any(axis=1)
        starts = np.append(np.flatnonzero(new), len(words))
        return cls(words[new], order, starts)


def _join(a: NDArray[np.uint64], b: NDArray[np.uint64], limit: int, most: int) -> NDArray[np.int64]:
    """Return rows of place in a, place in b and distance, each pair once, at most so many."""
    from capsieve.statistics.kernels.near_pairs import join_band

    if not len(a) or not len(b):
        return np.empty((0, 3), np.int64)
    found = np.empty((most, 3), np.int64)
    count = 0
    for band in range(_BANDS):
        before = count
        (a_order, a_starts), (b_order, b_starts) = _by_band(a, band), _by_band(b, band)
        a_sorted, b_sorted = (
            np.ascontiguousarray(hashes[order].T) for hashes, order in ((a, a_order), (b, b_order))
        )
        count = join_band(a_sorted, a_starts, b_sorted, b_starts, band, limit, found, count)
        found[before:count, 0] = a_order[found[before:count, 0]]
        found[before:count, 1] = b_order[found[before:count, 1]]
        if count == most:
            break
    return found[:count]


def _by_band(hashes: NDArray[np.uint64], band: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the order by the bits of a band, and where each value of them begins."""
    shift = np.uint64(_BANDS * (band % 4))
    values = ((hashes[:, band // 4] >> shift) & np.uint64(_VALUES - 1)).astype(np.uint16)
    counts = np.bincount(values, minlength=_VALUES)
    return np.argsort(values, kind="stable"), np.concatenate([[0], np.cumsum(counts)])


def _every_copy(
    found: NDArray[np.int64], first: _Different, second: _Different, most: int
) -> NearPairs:
    """Put in the place of each hash all frames that have it."""
    a, b, distance = found.T
    copies_a, copies_b = np.diff(first.starts)[a], np.diff(second.starts)[b]
    each = copies_a * copies_b
    ends = np.cumsum(each)
    kept = int(np.searchsorted(ends, most, side="right"))  # pairs of hashes that fit in whole
    chosen = np.repeat(np.arange(min(kept + 1, len(each))), each[: kept + 1])[:most]
    within = np.arange(len(chosen)) - (ends - each)[chosen]
    in_a = first.frames[first.starts[a[chosen]] + within // copies_b[chosen]]
    in_b = second.frames[second.starts[b[chosen]] + within % copies_b[chosen]]
    order = np.lexsort((in_b, in_a))
    complete = len(found) <= most and (not len(ends) or int(ends[-1]) <= most)
    return NearPairs(in_a[order], in_b[order], distance[chosen][order], complete)
