"""The way to the working width against OpenCV."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.frames import Placement
from capsieve.paper.resample import place_circle, place_frame, resample


def noise(shape, kind: type = np.float32, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(kind)


@pytest.mark.parametrize("shape", [(512, 512), (336, 336), (300, 400), (257, 257), (1080, 1920)])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_down_is_opencvs_area_average(shape, kind):
    frame = noise((*shape, 3), kind)
    placement = place_frame(*shape, width=256)
    expected = cv2.resize(
        frame.astype(np.float32), (256, placement.rows), interpolation=cv2.INTER_AREA
    )
    # OpenCV leaves out a share of a pixel below a thousandth.
    np.testing.assert_allclose(resample(frame, placement), expected, atol=0.3)


@pytest.mark.parametrize("shape", [(224, 224), (100, 128), (255, 255), (64, 60)])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_up_is_opencvs_bicubic_clipped(shape, kind):
    frame = noise((*shape, 3), kind)
    placement = place_frame(*shape, width=256)
    expected = cv2.resize(
        frame.astype(np.float32), (256, placement.rows), interpolation=cv2.INTER_CUBIC
    )
    np.testing.assert_allclose(resample(frame, placement), expected.clip(0, 255), atol=0.02)


def test_the_working_size_is_left_as_it_is():
    frame = noise((256, 256, 3), np.uint8)
    assert resample(frame, place_frame(256, 256, width=256)) is frame


def test_gray_frames_stay_gray():
    frame = noise((300, 300), np.uint8)
    placement = place_frame(300, 300, width=256)
    thrice = resample(np.dstack([frame] * 3), placement)
    np.testing.assert_array_equal(resample(frame, placement), thrice[:, :, 1])


@given(rows=st.integers(30, 700), cols=st.integers(30, 700), width=st.integers(32, 300))
def test_corners_map_to_corners(rows, cols, width):
    placement = place_frame(rows, cols, width=width)
    assert placement.to_source(-0.5, -0.5) == pytest.approx((-0.5, -0.5), abs=1e-6)
    last = placement.to_source(placement.rows - 0.5, placement.cols - 0.5)
    assert last == pytest.approx((rows - 0.5, cols - 0.5), abs=1e-6)


@given(
    row=st.floats(-5, 300),
    col=st.floats(-5, 300),
    radius=st.floats(20, 400),
    width=st.integers(32, 300),
)
def test_weights_sum_to_one_wherever_the_grid_lies(row, col, radius, width):
    placement = place_circle(row, col, radius, width=width)
    assert placement.to_source(width / 2 - 1, width / 2 - 1) == pytest.approx((row, col))
    frame = np.full((200, 240), 77.0, np.float32)
    np.testing.assert_allclose(resample(frame, placement), 77.0, atol=1e-3)


@given(
    row_scale=st.floats(1.0, 4.0),
    col_scale=st.floats(1.0, 4.0),
    row_offset=st.floats(0, 20),
    col_offset=st.floats(0, 20),
)
def test_an_averaged_ramp_stays_a_ramp_inside(row_scale, col_scale, row_offset, col_offset):
    rows, cols = np.indices((120, 120), np.float32)
    placement = Placement(20, 20, row_scale, col_scale, row_offset + 5, col_offset + 5)
    found = resample(rows + cols, placement)
    wanted = np.add.outer(
        placement.row_offset + row_scale * np.arange(20),
        placement.col_offset + col_scale * np.arange(20),
    )
    inside = np.ix_(
        placement.row_offset + row_scale * np.arange(20) < 110,
        placement.col_offset + col_scale * np.arange(20) < 110,
    )
    # Pixels are constant squares: a mean over a part of one is off by an eighth at most, per axis.
    np.testing.assert_allclose(found[inside], wanted[inside], atol=0.26)


def test_fine_stripes_average_out_instead_of_aliasing():
    stripes = np.zeros((512, 512), np.float32)
    stripes[:, ::2] = 255.0
    assert np.ptp(resample(stripes, place_frame(512, 512, width=256))) < 1e-3
