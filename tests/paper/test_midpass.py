"""The mid-pass filter and Theta compared with their literal transcriptions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.paper import midpass as steps
from capsieve.paper.filters import smooth
from capsieve.paper.mask import circular_mask
from reference import midpass as literal


def midpass(frame, circle, fine=7.0, coarse=30.0):
    """Both Gaussians and their ratio."""
    return steps.midpass(
        smooth(frame, fine, 1.0, circle),
        smooth(frame, coarse, 1.0, circle),
        circle,
    )


def noise(shape, seed=0):
    return np.random.default_rng(seed).uniform(1, 255, shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(256, 256), (200, 256), (101, 131), (64, 64), (35, 90)])
@pytest.mark.parametrize(("fine", "coarse"), [(7.0, 30.0), (1.0, 2.0), (8.0, 33.0), (2.5, 11.5)])
def test_u_equals_the_literal_transcription(shape, fine, coarse):
    circle = circular_mask(*shape, 0.45 * shape[1])
    found, largest = midpass(noise(shape), circle, fine=fine, coarse=coarse)
    expected = literal.midpass(
        noise(shape).astype(float), circle.inside, fine_sigma=fine, coarse_sigma=coarse
    )
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert largest == found.max()


@given(factor=st.floats(1e-3, 1e3))
def test_u_does_not_depend_on_the_scale_of_the_frame(factor):
    circle, frame = circular_mask(64, 64, 28.8), noise((64, 64))
    expected, _ = midpass(frame, circle)
    found, _ = midpass(np.float32(factor) * frame, circle)
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("turn", [np.fliplr, np.flipud, np.rot90, np.transpose])
def test_u_commutes_with_mirrors_and_rotations_about_a_pixel(turn):
    frame, circle = noise((95, 95)), circular_mask(95, 95, 42.0, (47, 47))
    expected, _ = midpass(frame, circle)
    found, _ = midpass(np.ascontiguousarray(turn(frame)), circle)
    np.testing.assert_allclose(found, turn(expected), atol=2e-6)


def test_u_of_a_dark_frame_is_zero():
    found, largest = midpass(np.full((64, 64), 1e-8, np.float32), circular_mask(64, 64, 28.8))
    assert largest == 0.0
    assert not found.any()


@given(largest=st.floats(0, 2))
def test_theta_is_half_the_maximum_within_its_bounds(largest):
    theta = steps.segmentation_threshold(largest, 0.11, 0.16)
    assert theta == literal.threshold(np.array([[largest, 0.0]]))
    assert 0.11 <= theta <= 0.16
