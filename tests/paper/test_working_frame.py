"""The working grid, resampling compared with OpenCV, and the channels."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.color import rgb2lab

from capsieve.frames import FieldOfView, Placement
from capsieve.paper.working_frame import gray, resample, working_grid
from reference import gray as literal


def noise(shape, kind: type = np.float32, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(kind)


@pytest.mark.parametrize("shape", [(512, 512), (336, 336), (300, 400), (257, 257), (1080, 1920)])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_reduction_equals_the_area_average_of_opencv(shape, kind):
    frame = noise((*shape, 3), kind)
    grid = working_grid(shape[0], shape[1], 256, 30)
    expected = cv2.resize(frame.astype(np.float32), (256, grid.rows), interpolation=cv2.INTER_AREA)
    # OpenCV leaves out a share of a pixel below a thousandth.
    np.testing.assert_allclose(resample(frame, grid), expected, atol=0.3)


@pytest.mark.parametrize("shape", [(224, 224), (100, 128), (255, 255), (64, 60)])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_enlargement_equals_clipped_bicubic_of_opencv(shape, kind):
    frame = noise((*shape, 3), kind)
    grid = working_grid(shape[0], shape[1], 256, 30)
    expected = cv2.resize(frame.astype(np.float32), (256, grid.rows), interpolation=cv2.INTER_CUBIC)
    np.testing.assert_allclose(resample(frame, grid), expected.clip(0, 255), atol=0.02)


def test_frame_of_the_working_size_is_returned_as_it_is():
    frame = noise((256, 256, 3), np.uint8)
    assert resample(frame, working_grid(256, 256, 256, 30)) is frame


def test_gray_frames_stay_gray():
    frame = noise((300, 300), np.uint8)
    grid = working_grid(300, 300, 256, 30)
    thrice = resample(np.dstack([frame] * 3), grid)
    np.testing.assert_array_equal(resample(frame, grid), thrice[:, :, 1])


@given(rows=st.integers(200, 700), cols=st.integers(200, 700), width=st.integers(32, 300))
def test_corners_of_the_grid_are_corners_of_the_source(rows, cols, width):
    grid = working_grid(rows, cols, width, 1)
    assert grid.to_source(-0.5, -0.5) == pytest.approx((-0.5, -0.5), abs=1e-6)
    last = grid.to_source(grid.rows - 0.5, grid.cols - 0.5)
    assert last == pytest.approx((rows - 0.5, cols - 0.5), abs=1e-6)


@given(
    row=st.floats(60, 140),
    col=st.floats(60, 180),
    radius=st.floats(20, 60),
    width=st.integers(32, 300),
)
def test_centre_of_a_field_of_view_becomes_the_papers_centre(row, col, radius, width):
    grid = working_grid(200, 240, width, 1, FieldOfView("circle", row, col, radius, 1.0))
    assert grid.to_source(width / 2 - 1, width / 2 - 1) == pytest.approx((row, col))
    assert grid.length_to_source(width / 2) == pytest.approx(radius)


@given(
    row=st.floats(-20, 300),
    col=st.floats(-20, 300),
    scale=st.floats(0.1, 8),
    width=st.integers(32, 300),
)
def test_constant_stays_constant_wherever_the_grid_is(row, col, scale, width):
    grid = Placement(width, width, scale, scale, row, col)
    frame = np.full((200, 240), 77.0, np.float32)
    np.testing.assert_allclose(resample(frame, grid), 77.0, atol=1e-3)


@given(
    row_scale=st.floats(1.0, 4.0),
    col_scale=st.floats(1.0, 4.0),
    row_offset=st.floats(0, 20),
    col_offset=st.floats(0, 20),
)
def test_an_averaged_ramp_stays_a_ramp_inside(row_scale, col_scale, row_offset, col_offset):
    rows, cols = np.indices((120, 120), np.float32)
    grid = Placement(20, 20, row_scale, col_scale, row_offset + 5, col_offset + 5)
    found = resample(rows + cols, grid)
    wanted = np.add.outer(
        grid.row_offset + row_scale * np.arange(20),
        grid.col_offset + col_scale * np.arange(20),
    )
    inside = np.ix_(
        grid.row_offset + row_scale * np.arange(20) < 110,
        grid.col_offset + col_scale * np.arange(20) < 110,
    )
    # Pixels are constant squares: a mean over a part of one is off by an eighth at most, per axis.
    np.testing.assert_allclose(found[inside], wanted[inside], atol=0.26)


def test_fine_stripes_do_not_alias():
    stripes = np.zeros((512, 512), np.float32)
    stripes[:, ::2] = 255.0
    assert np.ptp(resample(stripes, working_grid(512, 512, 256, 30))) < 1e-3


def test_shift_is_interpolated_and_not_averaged():
    frame = noise((64, 64))
    shifted = resample(frame, Placement(60, 60, 1.0, 1.0, 0.5, 0.5))
    mean = (frame[:-1, :-1] + frame[1:, :-1] + frame[:-1, 1:] + frame[1:, 1:])[:60, :60] / 4
    assert shifted.std() > 1.2 * mean.std()


WHOLE = working_grid(40, 50, 50, 1)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_gray_is_the_weighted_sum(kind):
    frame = noise((40, 50, 3), kind)
    expected = literal.grey_from_rgb(frame.astype(float))
    np.testing.assert_allclose(gray(frame, WHOLE), expected, atol=5e-5)


def test_red_is_the_first_channel():
    frame = noise((40, 50, 3), np.uint8)
    np.testing.assert_array_equal(gray(frame, WHOLE, "red"), frame[:, :, 0])


def test_lab_a_equals_scikit_image():
    frame = noise((40, 50, 3), np.uint8)
    expected = rgb2lab(frame)[:, :, 1] + 128.0
    np.testing.assert_allclose(gray(frame, WHOLE, "lab-a"), expected.clip(0, 255), atol=0.5)


@pytest.mark.parametrize("channel", ["gray", "red"])
def test_grey_frame_is_its_own_channel(channel):
    frame = noise((40, 50), np.uint8)
    np.testing.assert_array_equal(gray(frame, WHOLE, channel), frame)


def test_lab_a_of_a_grey_frame_is_128():
    assert (gray(noise((40, 50)), WHOLE, "lab-a") == 128).all()


@pytest.mark.parametrize("channel", ["gray", "red"])
def test_channel_of_averaged_colours_is_the_average_of_the_channel(channel):
    frame, grid = noise((90, 100, 3), np.uint8), working_grid(90, 100, 40, 1)
    averaged = resample(frame, grid)
    same_size = working_grid(len(averaged), 40, 40, 1)
    np.testing.assert_allclose(
        gray(frame, grid, channel), gray(averaged, same_size, channel), atol=1e-3
    )
