"""The mask and the spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from capsieve.paper.disc import Spans, disc, grown, whole
from reference import mask as literal


@pytest.mark.parametrize("shape", [(256, 256), (255, 255), (200, 256), (41, 60), (300, 256)])
def test_the_mask_is_the_papers(shape):
    rows, cols = shape
    circle = disc(rows, cols, 0.45 * cols)
    np.testing.assert_array_equal(circle.mask, literal.mask(rows, cols))
    np.testing.assert_allclose(circle.distance, literal.distance(rows, cols))


def test_at_256_the_mask_has_41689_pixels_about_127_127():
    circle = disc(256, 256, 0.45 * 256)
    assert circle.mask.sum() == 41689
    assert circle.distance[127, 127] == 0.0


def filled(spans: Spans, cols: int):
    columns = np.arange(cols)[None, :]
    return (columns >= spans.starts[:, None]) & (columns < spans.stops[:, None])


@given(
    rows=st.integers(5, 60),
    cols=st.integers(5, 60),
    radius=st.floats(0.5, 40),
    by_rows=st.integers(0, 9),
    by_cols=st.integers(0, 9),
)
def test_spans_are_the_masks_and_grow_by_a_box(rows, cols, radius, by_rows, by_cols):
    circle = disc(rows, cols, radius)
    np.testing.assert_array_equal(filled(circle.spans, cols), circle.mask)
    box = np.ones((2 * by_rows + 1, 2 * by_cols + 1), bool)
    expected = ndimage.binary_dilation(circle.mask, box)
    found = filled(grown(circle.spans, cols, by_rows=by_rows, by_cols=by_cols), cols)
    np.testing.assert_array_equal(found, expected)


def test_whole_spans_cover_everything():
    assert filled(whole(7, 9), 9).all()


def test_discs_of_the_same_numbers_are_one():
    assert disc(64, 64, 20.0) is disc(64, 64, 20.0)
    assert disc(64, 64, 20.0) != disc(64, 64, 20.5)
