"""Gaussian filters compared with SciPy and with their literal transcription."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from capsieve.errors import FrameError
from capsieve.paper.filters import gaussian_filter, gaussian_taps, smooth, spectrum
from capsieve.paper.mask import circular_mask
from reference import gaussian as literal

SHAPES = [(256, 256), (61, 61), (48, 64), (33, 90), (90, 33), (37, 41), (255, 200), (31, 31)]


def noise(shape, seed=0):
    return np.random.default_rng(seed).uniform(0, 255, shape).astype(np.float32)


def smooth_everywhere(frame, sigma, stencil=1.0):
    return smooth(frame, sigma, stencil, circular_mask(*frame.shape, math.inf))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5, 7.0, 11.0, 14.5, 30.0])
def test_smooth_equals_the_literal_transcription(shape, sigma):
    frame = noise(shape)
    expected = literal.gaussian(frame.astype(float), sigma)
    np.testing.assert_allclose(smooth_everywhere(frame, sigma), expected, atol=1e-4)


@pytest.mark.parametrize("stencil", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("sigma", [0.3, 2.5, 7.0, 10.0])
def test_longer_stencils_equal_the_literal_transcription(sigma, stencil):
    frame = noise((64, 48))
    expected = literal.gaussian(frame.astype(float), sigma, stencil)
    np.testing.assert_allclose(smooth_everywhere(frame, sigma, stencil), expected, atol=1e-4)


@pytest.mark.parametrize("half", [3, 14, 15, 28])
@pytest.mark.parametrize("shape", [(64, 80), (63, 81)])
def test_filter_mirrors_borders_as_scipy_does(half, shape):
    frame, sigma = noise(shape), half / 2
    taps = gaussian_taps(sigma, half)
    kernel = np.concatenate([taps[:0:-1], taps])
    expected = ndimage.correlate1d(frame.astype(float), kernel, axis=1, mode="reflect")
    expected = ndimage.correlate1d(expected, kernel, axis=0, mode="reflect")
    found = gaussian_filter(frame, sigma, half, circular_mask(*shape, math.inf))
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("sigma", "stencil", "half"),
    [(2.0, 1.0, 2), (2.1, 1.0, 3), (2.0, 3.0, 6), (2.1, 3.0, 7), (10.0, 1.1, 11)],
)
def test_smooth_is_cut_at_the_ceiling_of_the_stencil(sigma, stencil, half):
    impulse = np.zeros((65, 65), np.float32)
    impulse[32, 32] = 1
    reach = np.flatnonzero(smooth_everywhere(impulse, sigma, stencil)[32])
    assert (reach.min(), reach.max()) == (32 - half, 32 + half)


def test_sigma_zero_is_the_identity():
    frame = noise((20, 30))
    np.testing.assert_array_equal(smooth_everywhere(frame, 0.0), frame)


@given(sigma=st.floats(0.05, 40.0))
def test_taps_sum_to_one_and_decrease(sigma):
    taps = gaussian_taps(sigma, math.ceil(sigma))
    assert taps[0] + 2 * taps[1:].sum() == pytest.approx(1)
    assert (np.diff(taps) <= 0).all()


@given(level=st.floats(0, 255), sigma=st.floats(0.5, 20.0))
def test_constant_stays_constant(level, sigma):
    frame = np.full((40, 40), level, np.float32)
    np.testing.assert_allclose(smooth_everywhere(frame, sigma), frame, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("shape", [(256, 256), (61, 47), (200, 256)])
@pytest.mark.parametrize("half", [4, 10, 30])
def test_result_inside_a_mask_does_not_depend_on_the_mask(shape, half):
    frame, part = noise(shape), circular_mask(*shape, 0.4 * min(shape))
    whole = circular_mask(*shape, math.inf)
    found = gaussian_filter(frame, half / 2, half, part)
    expected = gaussian_filter(frame, half / 2, half, whole)
    np.testing.assert_array_equal(found[part.inside], expected[part.inside])


def test_known_spectrum_gives_the_same_result():
    frame, mask = noise((70, 50)), circular_mask(70, 50, math.inf)
    found = smooth(frame, 30.0, 1.0, mask, spectrum(frame))
    np.testing.assert_array_equal(found, smooth(frame, 30.0, 1.0, mask))


@pytest.mark.parametrize(("shape", "sigma"), [((15, 200), 30.0), ((200, 15), 30.0), ((9, 90), 10)])
def test_frame_smaller_than_the_kernel_is_rejected(shape, sigma):
    with pytest.raises(FrameError):
        smooth_everywhere(np.zeros(shape, np.float32), sigma)
