import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve import Feature
from capsieve.paper.ellipse import inertia_ellipse


def feature_of(pixels: np.ndarray) -> Feature:
    rows, cols = np.nonzero(pixels)
    row, col = float(rows.mean()), float(cols.mean())
    rr, cc = float(((rows - row) ** 2).sum()), float(((cols - col) ** 2).sum())
    rc = float(((rows - row) * (cols - col)).sum())
    small, large = np.linalg.eigvalsh([[rr, rc], [rc, cc]])
    return Feature(
        number=1,
        size=int(rows.size),
        eccentricity=float(large / small) if small > 1e-9 * large else math.inf,
        row=row,
        col=col,
        ball_row=row,
        ball_col=col,
        radius=0,
        rejected="",
        moment_rr=rr,
        moment_rc=rc,
        moment_cc=cc,
    )


def blob(*, long: float, short: float, angle: float, side: int = 101) -> np.ndarray:
    """An ellipse whose long axis points `angle` radians from the columns towards the rows."""
    y, x = np.mgrid[:side, :side] - side // 2
    along = x * math.cos(angle) + y * math.sin(angle)
    across = y * math.cos(angle) - x * math.sin(angle)
    return (along / long) ** 2 + (across / short) ** 2 <= 1


def area(rows: np.ndarray, cols: np.ndarray) -> float:
    """The shoelace formula."""
    return abs(float((rows[:-1] * cols[1:] - rows[1:] * cols[:-1]).sum())) / 2


shapes = st.tuples(st.floats(6, 40), st.floats(4, 6), st.floats(0, math.pi))


@given(shapes)
def test_area_is_the_size(shape):
    long, short, angle = shape
    feature = feature_of(blob(long=long, short=short, angle=angle))
    rows, cols = inertia_ellipse(feature, points=2000)
    assert area(rows - feature.row, cols - feature.col) == pytest.approx(feature.size, rel=1e-4)


@given(shapes)
def test_axes_are_in_the_ratio_of_the_eccentricity(shape):
    long, short, angle = shape
    feature = feature_of(blob(long=long, short=short, angle=angle))
    rows, cols = inertia_ellipse(feature, points=4001)
    reach = np.hypot(rows - feature.row, cols - feature.col)
    assert reach.max() / reach.min() == pytest.approx(feature.eccentricity, rel=1e-2)


@pytest.mark.parametrize("angle", [0.0, 0.5, math.pi / 2, 2.5])
def test_long_axis_lies_along_the_feature(angle):
    feature = feature_of(blob(long=30, short=8, angle=angle))
    rows, cols = inertia_ellipse(feature, points=721)
    tip = int(np.argmax(np.hypot(rows - feature.row, cols - feature.col)))
    direction = math.atan2(rows[tip] - feature.row, cols[tip] - feature.col)
    # Opposite tips are the same axis.
    assert math.sin(direction - angle) == pytest.approx(0, abs=0.03)


def test_curve_is_closed_about_the_centre():
    feature = feature_of(blob(long=20, short=10, angle=1.0))
    rows, cols = inertia_ellipse(feature, points=65)
    assert rows.shape == cols.shape == (65,)
    assert (rows[0], cols[0]) == pytest.approx((rows[-1], cols[-1]))
    assert rows[:-1].mean() == pytest.approx(feature.row)
    assert cols[:-1].mean() == pytest.approx(feature.col)


@pytest.mark.parametrize(
    ("pixels", "ends"),
    [
        (np.ones((1, 9), bool), ((0.0, -0.5), (0.0, 8.5))),
        (np.ones((7, 1), bool), ((-0.5, 0.0), (6.5, 0.0))),
        (np.ones((1, 1), bool), ((0.0, -0.5), (0.0, 0.5))),
    ],
)
def test_a_line_of_pixels_becomes_the_segment_that_it_covers(pixels, ends):
    rows, cols = inertia_ellipse(feature_of(pixels))
    (top, left), (bottom, right) = ends
    assert (rows.min(), rows.max()) == pytest.approx((top, bottom))
    assert (cols.min(), cols.max()) == pytest.approx((left, right))


def test_a_diagonal_line_keeps_its_direction():
    rows, cols = inertia_ellipse(feature_of(np.eye(9, dtype=bool)[::-1]))
    assert np.isfinite(rows).all()
    assert rows - 4 == pytest.approx(-(cols - 4))
