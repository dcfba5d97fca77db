"""The circular mask."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.paper.mask import circular_mask
from reference import mask as literal


@pytest.mark.parametrize("shape", [(256, 256), (255, 255), (200, 256), (41, 60), (300, 256)])
def test_mask_equals_the_literal_transcription(shape):
    rows, cols = shape
    mask = circular_mask(rows, cols, 0.45 * cols)
    np.testing.assert_array_equal(mask.inside, literal.mask(rows, cols))
    np.testing.assert_allclose(mask.distance, literal.distance(rows, cols))


def test_mask_of_width_256_has_41689_pixels_about_127_127():
    mask = circular_mask(256, 256, 0.45 * 256)
    assert mask.inside.sum() == 41689
    assert mask.distance[127, 127] == 0.0


@given(rows=st.integers(5, 60), cols=st.integers(5, 60), radius=st.floats(0.5, 40))
def test_starts_and_stops_delimit_the_mask_and_blocks_contain_it(rows, cols, radius):
    mask = circular_mask(rows, cols, radius)
    col = np.arange(cols)
    between = (col >= mask.starts[:, None]) & (col < mask.stops[:, None])
    np.testing.assert_array_equal(between, mask.inside)
    blocks = (col >= mask.block_starts[:, None]) & (col < mask.block_stops[:, None])
    assert (blocks >= mask.inside).all()
    assert not blocks[~mask.inside.any(axis=1)].any()


def test_infinite_radius_covers_the_whole_frame():
    assert circular_mask(7, 9, math.inf).inside.all()


def test_masks_with_the_same_numbers_are_the_same_object():
    assert circular_mask(64, 64, 20.0) is circular_mask(64, 64, 20.0)
    assert circular_mask(64, 64, 20.0) is not circular_mask(64, 64, 20.5)
