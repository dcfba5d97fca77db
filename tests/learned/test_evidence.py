"""The place to which a map points."""

import math

import numpy as np
import pytest

from capsieve import FieldOfView
from capsieve.frames import Placement
from capsieve.learned.crop import crop_placement
from capsieve.learned.evidence import map_on_frame, map_placement, peak

ITSELF = Placement(40, 40, 1.0, 1.0, 0.0, 0.0)


def blob(rows, cols, row, col, sigma, floor=0.0):
    y, x = np.mgrid[:rows, :cols]
    bump = np.exp(-((y - row) ** 2 + (x - col) ** 2) / (2 * sigma**2))
    return (floor + bump).astype(np.float32)


@pytest.mark.parametrize("floor", [0.0, -7.0, 3.0])
def test_the_peak_is_where_the_blob_is(floor):
    found = peak(blob(40, 40, 21.3, 12.8, 4.0, floor), ITSELF, None)
    assert found is not None
    assert (found.row, found.col) == pytest.approx((21.3, 12.8), abs=0.05)
    assert found.radius == pytest.approx(4.0 * math.sqrt(2 * math.log(2)), rel=0.08)


@pytest.mark.parametrize("cells", [7, 14, 32])
def test_cells_map_to_the_frames_pixels(cells):
    view = FieldOfView("circle", 130.0, 160.0, 100.0)
    place = map_placement(crop_placement(260, 320, view, 224), cells, cells)
    truth = (105.0, 190.0)
    row = (truth[0] - place.row_offset) / place.row_scale
    col = (truth[1] - place.col_offset) / place.col_scale
    found = peak(blob(cells, cells, row, col, cells / 8), place, view)
    assert found is not None
    assert math.dist(found[:2], truth) < 0.25 * 200 / cells


def test_a_map_covers_what_the_crop_covers():
    view = FieldOfView("circle", 50.0, 60.0, 40.0)
    place = map_placement(crop_placement(100, 120, view, 32), 4, 8)
    top, left = place.to_source(-0.5, -0.5)
    bottom, right = place.to_source(3.5, 7.5)
    assert (top, left, bottom, right) == pytest.approx((10, 20, 90, 100))


@pytest.mark.parametrize("value", [0.0, -3.0, np.nan])
def test_a_flat_map_points_nowhere(value):
    assert peak(np.full((40, 40), value, np.float32), ITSELF, None) is None


def test_cells_outside_the_field_of_view_are_ignored():
    evidence = blob(40, 40, 20, 20, 3.0)
    evidence[0, 0] = 9.0
    found = peak(evidence, ITSELF, FieldOfView("circle", 19.5, 19.5, 20))
    assert found is not None
    assert (found.row, found.col) == pytest.approx((20, 20), abs=0.1)


def test_the_map_on_the_frame_keeps_its_peak_and_its_values():
    view = FieldOfView("circle", 60.0, 70.0, 50.0)
    place = map_placement(crop_placement(120, 140, view, 64), 16, 16)
    evidence = blob(16, 16, 6.0, 10.0, 2.0)
    found = map_on_frame(evidence, place, view, 120, 140)
    assert found.shape == (120, 140)
    row, col = np.unravel_index(found.argmax(), found.shape)
    assert math.dist((row, col), place.to_source(6, 10)) < 1.5
    assert found.max() == pytest.approx(1.0, abs=0.1)
    assert found[0, 0] == found[119, 139] == found.min()


def test_a_ramp_is_interpolated_linearly():
    place = Placement(4, 4, 10.0, 10.0, 4.5, 4.5)
    ramp = np.repeat(np.arange(4, dtype=np.float32)[None, :], 4, axis=0)
    found = map_on_frame(ramp, place, None, 40, 40)
    inner = np.arange(5, 35)
    np.testing.assert_allclose(found[20, inner], (inner - 4.5) / 10, atol=0.04)
