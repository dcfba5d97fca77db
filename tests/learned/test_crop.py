"""The crop that a network sees, against a literal computation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve import FieldOfView
from capsieve.errors import FrameError
from capsieve.learned.crop import MARGIN, crop, crop_placement, visible


def literal(pixels, low_row, low_col, height, width, size):
    """The mean over each area, or the linear mean of neighbours; one pixel at a time."""

    def weights(low, high, length):
        if high - low > 1:
            return {
                place: (min(high, place + 0.5) - max(low, place - 0.5)) / (high - low)
                for place in range(math.floor(low) - 1, math.ceil(high) + 2)
                if min(high, place + 0.5) > max(low, place - 0.5) and 0 <= place < length
            }
        centre = (low + high) / 2
        first = math.floor(centre)
        share = centre - first
        both = {first: 1 - share, first + 1: share}
        return {place: weight for place, weight in both.items() if 0 <= place < length}

    out = np.zeros((size, size, 3))
    rgb = np.repeat(pixels[:, :, None], 3, axis=2) if pixels.ndim == 2 else pixels
    for i in range(size):
        row = weights(low_row + height * i / size, low_row + height * (i + 1) / size, len(rgb))
        for j in range(size):
            step = width / size
            col = weights(low_col + step * j, low_col + step * (j + 1), rgb.shape[1])
            for r, a in row.items():
                for c, b in col.items():
                    out[i, j] += a * b * rgb[r, c].astype(float)
    return out


def noise(rows, cols, seed=0, channels=3):
    shape = (rows, cols) if channels == 1 else (rows, cols, channels)
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


@settings(max_examples=40)
@given(
    st.integers(21, 40),
    st.integers(21, 40),
    st.floats(-2, 2),
    st.floats(-2, 2),
    st.floats(3, 10),
    st.integers(2, 30),
    st.sampled_from([1, 3]),
)
def test_a_crop_equals_the_literal_computation(
    rows, cols, off_row, off_col, radius, size, channels
):
    pixels = noise(rows, cols, channels=channels)
    view = FieldOfView("rectangle", rows / 2 + off_row, cols / 2 + off_col, radius)
    found = crop(pixels, view, size, mask=False)
    top, left = view.row - radius, view.col - radius
    expected = literal(pixels, top, left, 2 * radius, 2 * radius, size)
    assert found.shape == (size, size, 3)
    assert np.abs(found - expected).max() <= 0.501


@pytest.mark.parametrize("size", [7, 40])
@pytest.mark.parametrize("confidence", [None, 0.0])
def test_without_a_field_of_view_the_centred_square_is_taken(size, confidence):
    pixels = noise(20, 31)
    view = None if confidence is None else FieldOfView("circle", 3, 3, 2, confidence)
    expected = literal(pixels, -0.5, 5.0, 20, 20, size)
    assert np.abs(crop(pixels, view, size) - expected).max() <= 0.501


def test_the_whole_frame_is_stretched():
    pixels = noise(20, 31)
    expected = literal(pixels, -0.5, -0.5, 20, 31, 12)
    assert np.abs(crop(pixels, None, 12, whole=True) - expected).max() <= 0.501


def test_a_square_frame_at_its_own_size_is_itself():
    pixels = noise(32, 32)
    np.testing.assert_array_equal(crop(pixels, None, 32), pixels)


@pytest.mark.parametrize(
    ("shape", "seen"),
    [
        ("circle", lambda row, col: math.hypot(row, col) <= 1 - MARGIN),
        ("rectangle", lambda row, col: max(abs(row), abs(col)) <= 1 - MARGIN),
        (
            "cut-square",
            lambda row, col: (
                max(abs(row), abs(col)) <= 1 - MARGIN and abs(row) + abs(col) <= 1.62 * (1 - MARGIN)
            ),
        ),
        ("full", lambda row, col: True),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_nothing_outside_the_field_of_view_is_used(shape, seen, whole):
    pixels = np.full((50, 60, 3), 200, np.uint8)
    view = FieldOfView(shape, 24.3, 30.1, 20.7)
    found = crop(pixels, view, 33, whole=whole)
    place = crop_placement(50, 60, view, 33, whole=whole)
    for i in range(33):
        for j in range(33):
            row, col = place.to_source(i, j)
            expected = seen((row - view.row) / view.radius, (col - view.col) / view.radius)
            assert found[i, j, 0] == (200 if expected else 0)


def test_marks_in_the_corners_change_nothing():
    pixels = noise(64, 64)
    marked = pixels.copy()
    marked[:8, :8] = 255
    marked[-8:, -8:] = 255
    view = FieldOfView("circle", 31.5, 31.5, 32)
    np.testing.assert_array_equal(crop(pixels, view, 48), crop(marked, view, 48))


def test_grey_frames_give_three_equal_channels():
    found = crop(noise(40, 40, channels=1), None, 16)
    assert (found == found[:, :, :1]).all()


def test_pixels_outside_the_frame_are_black():
    pixels = np.full((30, 30, 3), 100, np.uint8)
    found = crop(pixels, FieldOfView("circle", 7.5, 14.5, 10), 20, mask=False)
    assert found[:2].max() == 0
    assert found[2:].min() == 100


def test_a_field_of_view_of_another_size_is_refused():
    with pytest.raises(FrameError, match="another size"):
        crop(noise(30, 30), FieldOfView("circle", 50, 50, 40), 20)


def test_a_frame_may_be_tiny():
    assert crop(np.full((1, 2, 3), 90, np.uint8), None, 20).shape == (20, 20, 3)


def test_visible_pixels_are_those_of_the_crop():
    view = FieldOfView("circle", 24.3, 30.1, 20.7)
    place = crop_placement(50, 60, view, 33)
    found = crop(np.full((50, 60, 3), 255, np.uint8), view, 33)
    np.testing.assert_array_equal(visible(place, view), found[:, :, 0] == 255)


def test_float_frames_are_rounded():
    pixels = np.full((30, 30), 99.6, np.float32)
    assert (crop(pixels, None, 10) == 100).all()
    assert crop(pixels, None, 10).dtype == np.uint8


def test_the_frame_is_not_changed():
    pixels = noise(40, 40)
    before = pixels.copy()
    crop(pixels, FieldOfView("circle", 20, 20, 15), 40)
    np.testing.assert_array_equal(pixels, before)
