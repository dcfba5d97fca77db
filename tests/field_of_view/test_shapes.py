"""The result type, and the largest circle inside a shape."""

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import FrameError
from capsieve.field_of_view.shapes import AXIS_NORMALS, Shape, inscribed_circle
from capsieve.frames import FieldOfView


def box(top: float, bottom: float, left: float, right: float) -> np.ndarray:
    return np.column_stack([AXIS_NORMALS, [-top, bottom, -left, right]])


def deepest(shape: Shape) -> float:
    """The largest depth on a dense grid: slow and literal."""
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
    fine = shape.rescaled((3.0, 3.0))
    points = np.array([[20.0, 30.0], [50.0, 60.0]])
    np.testing.assert_allclose(fine.depth((points + 0.5) * 3 - 0.5), 3 * shape.depth(points))


def test_the_result_cannot_be_changed() -> None:
    field = FieldOfView("circle", 1.0, 2.0, 3.0, 0.5)
    with pytest.raises(FrozenInstanceError):
        field.row = 2.0  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    "values",
    [
        ("oval", 1.0, 1.0, 1.0, 0.5),
        ("circle", np.nan, 1.0, 1.0, 0.5),
        ("circle", 1.0, np.inf, 1.0, 0.5),
        ("circle", 1.0, 1.0, 0.0, 0.5),
        ("circle", 1.0, 1.0, -3.0, 0.5),
        ("circle", 1.0, 1.0, 1.0, 1.1),
        ("circle", 1.0, 1.0, 1.0, -0.1),
        ("circle", "a", 1.0, 1.0, 0.1),
    ],
)
def test_impossible_fields_are_refused(values: Any) -> None:
    with pytest.raises(FrameError):
        FieldOfView(*values)


def test_numpy_numbers_become_plain_ones() -> None:
    numbers: list[Any] = [np.float32(1), np.float64(2), np.int64(3), 1]
    field = FieldOfView("circle", *numbers)
    assert all(type(v) is float for v in (field.row, field.col, field.radius, field.confidence))
