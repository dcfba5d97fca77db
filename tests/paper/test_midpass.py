"""The mid-pass filter, Theta and the segmentation against their transcriptions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.paper import midpass as steps
from capsieve.paper.disc import disc
from capsieve.paper.segmentation import threshold
from reference import midpass as literal


def midpass(frame, circle, fine=7.0, coarse=30.0):
    """Both Gaussians and their ratio."""
    return steps.midpass(
        steps.smooth_inside(frame, circle, sigma=fine),
        steps.smooth_inside(frame, circle, sigma=coarse),
        circle,
    )


def noise(shape, seed=0):
    return np.random.default_rng(seed).uniform(1, 255, shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(256, 256), (200, 256), (101, 131), (64, 64), (35, 90)])
@pytest.mark.parametrize(("fine", "coarse"), [(7.0, 30.0), (1.0, 2.0), (8.0, 33.0), (2.5, 11.5)])
def test_u_agrees_with_the_literal_transcription(shape, fine, coarse):
    circle = disc(*shape, 0.45 * shape[1])
    found, largest = midpass(noise(shape), circle, fine=fine, coarse=coarse)
    expected = literal.midpass(
        noise(shape).astype(float), circle.mask, fine_sigma=fine, coarse_sigma=coarse
    )
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert largest == found.max()


@given(factor=st.floats(1e-3, 1e3))
def test_u_does_not_depend_on_the_scale_of_the_frame(factor):
    circle, frame = disc(64, 64, 28.8), noise((64, 64))
    expected, _ = midpass(frame, circle)
    found, _ = midpass(np.float32(factor) * frame, circle)
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("turn", [np.fliplr, np.flipud, np.rot90, np.transpose])
def test_mirrors_and_turns_about_a_pixel_turn_u(turn):
    frame, circle = noise((95, 95)), disc(95, 95, 42.0, (47, 47))
    expected, _ = midpass(frame, circle)
    found, _ = midpass(np.ascontiguousarray(turn(frame)), circle)
    np.testing.assert_allclose(found, turn(expected), atol=2e-6)


def test_a_dark_frame_has_no_protrusion():
    found, largest = midpass(np.full((64, 64), 1e-8, np.float32), disc(64, 64, 28.8))
    assert largest == 0.0
    assert not found.any()


@given(largest=st.floats(0, 2))
def test_theta_is_half_the_maximum_within_its_bounds(largest):
    u = np.array([[largest, 0.0]])
    assert threshold(largest) == literal.threshold(u)
    assert 0.11 <= threshold(largest) <= 0.16
