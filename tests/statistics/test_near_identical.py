"""Pairs of nearly the same perceptual hash, against comparing every one with every other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.statistics.near_identical import near_pairs


def brute_force(a, b, limit):
    bits_a, bits_b = (np.unpackbits(hashes, axis=1).astype(int) for hashes in (a, b))
    distances = (bits_a[:, None, :] != bits_b[None, :, :]).sum(axis=2)
    places = np.argwhere(distances <= limit)
    return {(i, j): int(distances[i, j]) for i, j in places.tolist()}


def found(a, b, limit):
    pairs = near_pairs(a, b, limit=limit)
    assert pairs.complete
    keys = list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys)
    return dict(zip(keys, pairs.distance.tolist(), strict=True))


def related(rng, count, most_flips, clusters=4):
    """Looks that scatter around few of them, so that many pairs are near the limit."""
    bits = rng.integers(0, 2, (clusters, 256))[rng.integers(0, clusters, count)]
    for row in bits:
        row[rng.choice(256, rng.integers(0, most_flips + 1), replace=False)] ^= 1
    return np.packbits(bits.astype(np.uint8), axis=1)


@pytest.mark.parametrize("limit", [0, 1, 15, 16, 24, 31])
def test_all_pairs_within_the_limit_are_found_once(limit):
    rng = np.random.default_rng(limit)
    both = related(rng, 260, 20)
    a, b = both[:120], both[120:]
    expected = brute_force(a, b, limit)
    assert found(a, b, limit) == expected
    assert limit < 15 or len(expected) > 100


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 31), st.integers(0, 12), st.integers(0, 12))
def test_small_sets_with_copies_agree_with_brute_force(seed, limit, size_a, size_b):
    rng = np.random.default_rng(seed)
    pool = related(rng, 6, 24, clusters=2)
    a, b = pool[rng.integers(0, 6, size_a)], pool[rng.integers(0, 6, size_b)]
    assert found(a, b, limit) == brute_force(a, b, limit)


def test_a_pair_that_differs_in_every_band_is_found_at_31_bits():
    bits = np.zeros((2, 256), np.uint8)
    bits[1, ::8] = 1  # two bits in each band of 16
    bits[1, 8 * 13] = 0
    hashes = np.packbits(bits, axis=1)
    assert found(hashes[:1], hashes[1:], 31) == {(0, 0): 31}
    assert found(hashes[:1], hashes[1:], 30) == {}


def test_the_search_stops_and_says_so():
    same = np.repeat(np.arange(32, dtype=np.uint8)[None], 50, axis=0)
    for most, complete in ((2500, True), (2499, False), (7, False)):
        pairs = near_pairs(same, same, most=most)
        assert (len(pairs), pairs.complete) == (most, complete)
        assert (pairs.distance == 0).all()
    different = related(np.random.default_rng(3), 60, 10, clusters=1)
    pairs = near_pairs(different, different, most=100)
    assert (len(pairs), pairs.complete) == (100, False)
    whole = brute_force(different, different, 31)
    assert set(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)) <= set(whole)


def test_empty_sets_have_no_pairs():
    some, none = np.zeros((3, 32), np.uint8), np.zeros((0, 32), np.uint8)
    for a, b in ((some, none), (none, some), (none, none)):
        pairs = near_pairs(a, b)
        assert (len(pairs), pairs.complete) == (0, True)


@pytest.mark.parametrize("limit", [-1, 32])
def test_a_limit_that_cannot_be_searched_is_refused(limit):
    with pytest.raises(ValueError, match="0 to 31"):
        near_pairs(np.zeros((1, 32), np.uint8), np.zeros((1, 32), np.uint8), limit=limit)


def test_other_arrays_are_refused():
    with pytest.raises(ValueError, match="rows of 32 bytes"):
        near_pairs(np.zeros((1, 16), np.uint8), np.zeros((1, 32), np.uint8))
