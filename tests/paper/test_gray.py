"""The channel that the sieve looks at."""

import numpy as np
import pytest
from skimage.color import rgb2lab

from capsieve.paper.gray import channel_of
from reference import gray as literal


def colours(kind=np.uint8, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (40, 50, 3)).astype(kind)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_gray_is_the_papers_weighted_sum(kind):
    expected = literal.grey_from_rgb(colours().astype(float))
    np.testing.assert_allclose(channel_of(colours(kind)), expected, atol=5e-5)


def test_red_is_red():
    np.testing.assert_array_equal(channel_of(colours(), channel="red"), colours()[:, :, 0])


def test_lab_a_is_that_of_scikit_image():
    expected = rgb2lab(colours())[:, :, 1] + 128.0
    found = channel_of(colours(), channel="lab-a")
    np.testing.assert_allclose(found, expected.clip(0, 255), atol=0.5)


@pytest.mark.parametrize("channel", ["gray", "red"])
def test_a_gray_frame_is_its_own_channel(channel):
    gray = colours()[:, :, 0]
    np.testing.assert_array_equal(channel_of(gray, channel=channel), gray)


def test_a_gray_frame_has_no_colour():
    assert (channel_of(colours()[:, :, 0], channel="lab-a") == 128).all()
