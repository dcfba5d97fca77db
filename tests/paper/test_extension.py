"""The linear extension compared with a sparse direct solve of the upwind system."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import FrameError
from capsieve.paper.extension import extend
from capsieve.paper.mask import circular_mask
from reference import extension as literal
from reference.mask import mask

SHAPES = [
    (256, 256),
    (255, 255),
    (61, 61),
    (60, 61),
    (61, 60),
    (48, 64),
    (63, 41),
    (33, 90),
    (90, 33),
]


def noise(shape, seed=0):
    return np.random.default_rng(seed).uniform(0, 255, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("slope", [0.0, 1.0, -2.5])
def test_one_pass_solves_the_upwind_system(shape, slope):
    rows, cols = shape
    frame = noise(shape)
    expected = literal.extend(frame.astype(float), mask(rows, cols), slope)
    found = extend(frame, circular_mask(rows, cols, 0.45 * cols), slope=slope)
    np.testing.assert_allclose(found, expected, atol=2e-3)


@given(
    rows=st.integers(20, 40),
    cols=st.integers(20, 40),
    radius=st.floats(3.0, 9.0),
    seed=st.integers(0, 100),
)
def test_upwind_system_is_solved_for_every_size_and_radius(rows, cols, radius, seed):
    frame = noise((rows, cols), seed)
    circle = circular_mask(rows, cols, radius)
    expected = literal.extend(frame.astype(float), circle.inside, 1.0)
    np.testing.assert_allclose(extend(frame, circle), expected, atol=2e-3)


def test_values_inside_the_mask_do_not_change():
    circle = circular_mask(64, 64, 25.0)
    frame = noise((64, 64))
    np.testing.assert_array_equal(extend(frame, circle)[circle.inside], frame[circle.inside])


@given(factor=st.floats(0.1, 8.0))
def test_scaling_the_frame_and_the_slope_scales_the_extension(factor):
    circle, frame = circular_mask(48, 48, 18.0), noise((48, 48))
    scaled = extend(np.float32(factor) * frame, circle, slope=factor)
    np.testing.assert_allclose(scaled, factor * extend(frame, circle), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("turn", [np.fliplr, np.flipud, np.rot90, np.transpose])
@pytest.mark.parametrize("size", [61, 75])
def test_extension_commutes_with_mirrors_and_rotations_about_a_pixel(turn, size):
    centre = (size // 2, size // 2)
    circle, frame = circular_mask(size, size, 0.4 * size, centre), noise((size, size))
    np.testing.assert_allclose(
        extend(np.ascontiguousarray(turn(frame)), circle), turn(extend(frame, circle)), atol=1e-3
    )


def test_slope_zero_stays_within_the_range_of_values_inside():
    circle, frame = circular_mask(64, 64, 25.0), noise((64, 64))
    extended = extend(frame, circle, slope=0.0)
    inside = frame[circle.inside]
    assert extended.min() >= inside.min() - 1e-3
    assert extended.max() <= inside.max() + 1e-3


def test_the_input_is_not_changed():
    circle, frame = circular_mask(64, 64, 25.0), noise((64, 64))
    before = frame.copy()
    extend(frame, circle)
    np.testing.assert_array_equal(frame, before)


def test_mask_below_two_pixels_is_rejected():
    with pytest.raises(FrameError):
        extend(np.zeros((32, 32), np.float32), circular_mask(32, 32, 1.0))


@pytest.mark.parametrize("shape", [(64, 64), (61, 61), (64, 61), (61, 64)])
def test_values_outside_the_mask_are_never_used(shape):
    circle, frame = circular_mask(*shape, 20.0), noise(shape)
    unknown = np.where(circle.inside, frame, np.nan)
    np.testing.assert_array_equal(extend(unknown, circle), extend(frame, circle))
