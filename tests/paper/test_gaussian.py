"""The Gaussian filters against SciPy and against their literal transcription."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from capsieve.errors import FrameError
from capsieve.paper.disc import Spans, disc, whole
from capsieve.paper.gaussian import Smoother, gaussian_taps, smooth
from reference import gaussian as literal

SHAPES = [(256, 256), (61, 61), (48, 64), (33, 90), (90, 33), (37, 41), (255, 200), (31, 31)]


def noise(shape, seed=0):
    return np.random.default_rng(seed).uniform(0, 255, shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5, 7.0, 11.0, 30.0])
def test_smoothing_agrees_with_the_literal_transcription(shape, sigma):
    frame = noise(shape)
    expected = literal.gaussian(frame, sigma)
    np.testing.assert_allclose(smooth(frame, sigma=sigma), expected, atol=1e-4)


def test_the_mirror_is_that_of_scipy():
    frame = noise((64, 80))
    taps = gaussian_taps(7.0, 7)[:8].astype(float)
    kernel = np.concatenate([taps[:0:-1], taps])
    expected = ndimage.correlate1d(frame, kernel, axis=1, mode="reflect")
    expected = ndimage.correlate1d(expected, kernel, axis=0, mode="reflect")
    np.testing.assert_allclose(smooth(frame, sigma=7.0), expected, atol=1e-4)


def test_sigma_zero_is_the_identity():
    frame = noise((20, 30)).astype(np.float32)
    np.testing.assert_array_equal(smooth(frame, sigma=0.0), frame)


@given(sigma=st.floats(0.05, 40.0))
def test_taps_sum_to_one_and_fall(sigma):
    taps = gaussian_taps(sigma, math.ceil(sigma))
    assert taps[0] + 2.0 * taps[1:].sum() == pytest.approx(1.0, abs=1e-6)
    assert (np.diff(taps) <= 0).all()


@given(level=st.floats(0, 255), sigma=st.floats(0.5, 15.0))
def test_a_constant_stays_constant(level, sigma):
    frame = np.full((40, 40), level, np.float32)
    np.testing.assert_allclose(smooth(frame, sigma=sigma), frame, rtol=1e-5)


@pytest.mark.parametrize("shape", [(256, 256), (61, 47), (200, 256)])
@pytest.mark.parametrize("half", [4, 10, 30])
def test_only_what_is_wanted_is_computed_and_it_is_the_same(shape, half):
    rows, cols = shape
    frame = noise(shape).astype(np.float32)
    taps = gaussian_taps(half / 2, half)
    wanted = disc(rows, cols, 0.4 * min(shape))
    everywhere, somewhere = np.empty_like(frame), np.full_like(frame, -1.0)
    Smoother(rows, cols, taps)(frame, everywhere)
    Smoother(rows, cols, taps, wanted.spans)(frame, somewhere)
    np.testing.assert_array_equal(somewhere[wanted.mask], everywhere[wanted.mask])


def test_nothing_wanted_leaves_the_output_alone():
    frame, out = noise((64, 64)).astype(np.float32), np.full((64, 64), -1.0, np.float32)
    none = Spans(np.zeros(64, np.int64), np.zeros(64, np.int64))
    Smoother(64, 64, gaussian_taps(3.0, 3), none)(frame, out)
    assert (out == -1.0).all()


def test_the_residual_is_the_frame_less_the_smoothed_frame():
    frame = noise((70, 50)).astype(np.float32)
    smoothed, residual = np.empty_like(frame), np.empty_like(frame)
    smoother = Smoother(70, 50, gaussian_taps(5.0, 10), whole(70, 50))
    smoother(frame, smoothed)
    smoother.residual(frame, residual)
    np.testing.assert_allclose(residual, frame - smoothed, atol=1e-4)


@pytest.mark.parametrize("shape", [(15, 200), (200, 15), (29, 200)])
def test_a_frame_smaller_than_the_kernel_is_refused(shape):
    with pytest.raises(FrameError, match="too small"):
        smooth(np.zeros(shape), sigma=30.0)
