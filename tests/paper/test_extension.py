"""The linear extension against a sparse direct solve of the upwind system."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import FrameError
from capsieve.paper.disc import disc
from capsieve.paper.extension import extend
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
    return np.random.default_rng(seed).uniform(0, 255, shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("slope", [0.0, 1.0, -2.5])
def test_one_sweep_solves_the_upwind_system(shape, slope):
    rows, cols = shape
    frame = noise(shape)
    expected = literal.extend(frame, mask(rows, cols), slope)
    found = extend(frame, disc(rows, cols, 0.45 * cols), slope=slope)
    np.testing.assert_allclose(found, expected, atol=2e-3)


@given(
    rows=st.integers(20, 40),
    cols=st.integers(20, 40),
    radius=st.floats(3.0, 9.0),
    seed=st.integers(0, 100),
)
def test_every_size_and_radius_is_solved(rows, cols, radius, seed):
    frame = noise((rows, cols), seed)
    circle = disc(rows, cols, radius)
    expected = literal.extend(frame, circle.mask, 1.0)
    np.testing.assert_allclose(extend(frame, circle), expected, atol=2e-3)


def test_inside_the_mask_nothing_changes():
    circle = disc(64, 64, 25.0)
    frame = noise((64, 64)).astype(np.float32)
    np.testing.assert_array_equal(extend(frame, circle)[circle.mask], frame[circle.mask])


@given(factor=st.floats(0.1, 8.0))
def test_scaling_the_frame_and_the_slope_scales_the_extension(factor):
    circle, frame = disc(48, 48, 18.0), noise((48, 48))
    scaled = extend(factor * frame, circle, slope=factor)
    np.testing.assert_allclose(scaled, factor * extend(frame, circle), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("turn", [np.fliplr, np.flipud, np.rot90, np.transpose])
@pytest.mark.parametrize("size", [61, 75])
def test_mirrors_and_turns_about_a_pixel_commute_with_the_extension(turn, size):
    centre = (size // 2, size // 2)
    circle, frame = disc(size, size, 0.4 * size, centre), noise((size, size)).astype(np.float32)
    np.testing.assert_allclose(
        extend(np.ascontiguousarray(turn(frame)), circle), turn(extend(frame, circle)), atol=1e-3
    )


def test_slope_zero_stays_within_the_range_of_the_rim():
    circle, frame = disc(64, 64, 25.0), noise((64, 64))
    extended = extend(frame, circle, slope=0.0)
    inside = frame[circle.mask]
    assert extended.min() >= inside.min() - 1e-3
    assert extended.max() <= inside.max() + 1e-3


def test_the_result_may_be_written_in_place():
    circle, frame = disc(64, 64, 25.0), noise((64, 64)).astype(np.float32)
    expected = extend(frame, circle)
    assert extend(frame, circle, out=frame) is frame
    np.testing.assert_array_equal(frame, expected)


def test_a_mask_without_room_is_refused():
    with pytest.raises(FrameError, match="too small"):
        extend(np.zeros((32, 32), np.float32), disc(32, 32, 1.0))


@pytest.mark.parametrize("shape", [(64, 64), (61, 61), (64, 61), (61, 64)])
def test_what_lies_outside_the_mask_is_never_read(shape):
    circle, frame = disc(*shape, 20.0), noise(shape)
    unknown = np.where(circle.mask, frame, np.nan)
    np.testing.assert_array_equal(extend(unknown, circle), extend(frame, circle))
