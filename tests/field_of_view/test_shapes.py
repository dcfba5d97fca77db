"""Geometry of the shapes, and their fit to points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.field_of_view.shapes import Shape, border_sides, inscribed_circle


def box(top: float, bottom: float, left: float, right: float) -> np.ndarray:
    return np.column_stack([border_sides((1, 1))[:, :2], [-top, bottom, -left, right]])


def deepest(shape: Shape) -> float:
    """The largest depth on a dense grid."""
    rows, cols = np.mgrid[0:101:0.5, 0:101:0.5]
    return float(shape.depth(np.stack([rows, cols], axis=-1)).max())


def test_a_disc_inside_the_image_is_its_own_largest_circle() -> None:
    shape = Shape(box(0, 100, 0, 100), (52.0, 47.0, 40.0))
    assert inscribed_circle(shape) == pytest.approx((52, 47, 40), abs=0.01)


def test_a_long_rectangle_gives_the_circle_in_its_middle() -> None:
    assert inscribed_circle(Shape(box(10, 50, 0, 100))) == pytest.approx((30, 50, 20), abs=0.02)


def test_a_disc_cut_by_one_side_gives_the_circle_between() -> None:
    shape = Shape(box(20, 100, 0, 100), (50.0, 50.0, 40.0))
    assert inscribed_circle(shape) == pytest.approx((55, 50, 35), abs=0.02)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.floats(0, 40),
    st.floats(60, 100),
    st.floats(20, 80),
    st.floats(20, 80),
    st.floats(15, 70),
    st.floats(0, 1.5),
)
def test_the_largest_circle_is_the_deepest_point(
    low: float, high: float, row: float, col: float, radius: float, angle: float
) -> None:
    slanted = np.array([[np.sin(angle), np.cos(angle), 100.0]])
    shape = Shape(np.vstack([box(low, high, low, high), slanted]), (row, col, radius))
    expected = deepest(shape)
    if expected > 1:
        assert inscribed_circle(shape)[2] == pytest.approx(expected, abs=0.4)
        assert inscribed_circle(shape)[2] > expected - 0.02


def test_outline_points_lie_on_the_edge() -> None:
    shape = Shape(box(5, 90, 0, 80), (45.0, 40.0, 46.0))
    outline = shape.outline(200)
    np.testing.assert_allclose(shape.depth(outline.points), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(outline.normals, axis=1), 1, atol=1e-6)
    assert (shape.depth(outline.points + 0.1 * outline.normals) < 0).all()


def test_a_finer_grid_keeps_the_shape() -> None:
    shape = Shape(box(4.5, 90.5, -0.5, 80.5), (45.0, 40.0, 44.0))
    fine = shape.rescaled(3.0, 3.0)
    points = np.array([[20.0, 30.0], [50.0, 60.0]])
    np.testing.assert_allclose(fine.depth((points + 0.5) * 3 - 0.5), 3 * shape.depth(points))
