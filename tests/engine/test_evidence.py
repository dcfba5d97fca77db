"""What is kept of a frame's pixels."""

import io

import numpy as np
import pytest
from PIL import Image

from capsieve import FieldOfView
from capsieve.engine.evidence import THUMBNAIL_WIDTH, mean_colour, signature, thumbnail
from support.polyp_frames import polyp_frame

COLOUR = (200, 100, 50)


def plain(rows=60, cols=80, colour=COLOUR):
    return np.full((rows, cols, len(colour)), colour, np.uint8)


def opened(content):
    return Image.open(io.BytesIO(content))


def test_the_mean_colour_of_one_colour_is_that_colour():
    assert mean_colour(plain(), None) == pytest.approx(COLOUR)


def test_alpha_is_no_colour():
    assert mean_colour(plain(colour=(200, 100, 50, 7)), None) == pytest.approx(COLOUR)


def test_grey_counts_for_all_three():
    assert mean_colour(np.full((60, 80), 77, np.uint8), None) == pytest.approx((77, 77, 77))


@pytest.mark.parametrize("order", ["<u2", ">u2"])
def test_sixteen_bits_are_told_on_the_scale_of_eight(order):
    grey = np.full((60, 80), 77 * 257, order)
    assert mean_colour(grey, None) == pytest.approx((77, 77, 77))


def test_only_what_the_camera_sees_counts():
    row, col = np.mgrid[:120, :160]
    inside = (row - 50) ** 2 + (col - 90) ** 2 <= 40**2
    pixels = np.where(inside[..., None], np.array(COLOUR, np.uint8), np.uint8(0))
    assert mean_colour(pixels, FieldOfView("circle", 50, 90, 40)) == pytest.approx(COLOUR)
    assert mean_colour(pixels, None) < COLOUR


def test_a_field_that_was_not_found_is_not_believed():
    pixels = plain()
    pixels[:20, :20] = 0
    nowhere = FieldOfView("full", 10, 10, 5, confidence=0.0)
    assert mean_colour(pixels, nowhere) == mean_colour(pixels, None)


def test_the_sampled_mean_is_near_the_mean_of_all_pixels():
    pixels = polyp_frame(size=512)
    row, col = np.mgrid[:512, :512]
    inside = (row - 255.5) ** 2 + (col - 255.5) ** 2 < (0.95 * 240) ** 2
    expected = pixels[inside].mean(axis=0)
    found = mean_colour(pixels, FieldOfView("circle", 255.5, 255.5, 240))
    np.testing.assert_allclose(found, expected, rtol=0.02)


@pytest.mark.parametrize("side", [1, 2, 7])
def test_tiny_frames_have_a_mean_colour(side):
    assert mean_colour(plain(side, side), None) == pytest.approx(COLOUR)


def test_numbers_are_plain_floats():
    assert all(type(value) is float for value in mean_colour(plain(), None))


@pytest.mark.parametrize("shape", [(60, 80), (60, 80, 3), (60, 80, 4), (8, 8, 3), (300, 500, 3)])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_every_signature_has_the_same_length(shape, kind):
    assert len(signature(np.zeros(shape, kind))) == 256


def test_signatures_of_grey_and_of_the_same_in_colour_and_in_sixteen_bits_are_equal():
    grey = polyp_frame(size=96)[:, :, 0]
    in_colour = np.repeat(grey[:, :, None], 3, axis=2)
    assert signature(in_colour) == signature(grey)
    assert signature(grey.astype(np.uint16) * 257) == signature(grey)


def test_a_signature_is_a_small_picture_of_the_frame():
    pixels = np.zeros((64, 64), np.uint8)
    pixels[:32, 32:] = 240
    picture = np.frombuffer(signature(pixels), np.uint8).reshape(16, 16)
    assert (picture[:8, 8:] == 240).all()
    assert picture.sum() == 240 * 64


def test_noise_hardly_changes_a_signature_and_another_view_does():
    pixels = polyp_frame(size=128)
    noise = np.random.default_rng(0).integers(-3, 4, pixels.shape)
    noisy = np.clip(pixels + noise, 0, 255).astype(np.uint8)
    one, near, far = (
        np.frombuffer(signature(view), np.uint8).astype(int)
        for view in (pixels, noisy, pixels[::-1])
    )
    assert np.abs(one - near).max() <= 2
    assert np.abs(one - far).max() > 16


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((512, 512), (192, 192)),
        ((300, 600), (192, 96)),
        ((50, 100), (100, 50)),
        ((9, 999), (192, 2)),
    ],
)
def test_a_thumbnail_is_the_whole_frame_made_small_never_large(shape, size):
    image = opened(thumbnail(np.zeros((*shape, 3), np.uint8)))
    assert image.format == "JPEG"
    assert image.size == size
    assert image.width <= THUMBNAIL_WIDTH


def test_a_thumbnail_keeps_the_colours():
    pixel = np.asarray(opened(thumbnail(plain(64, 64))))[32, 32]
    np.testing.assert_allclose(pixel, COLOUR, atol=4)


def test_a_thumbnail_without_alpha_keeps_the_colours():
    pixel = np.asarray(opened(thumbnail(plain(64, 64, (*COLOUR, 9)))))[32, 32]
    np.testing.assert_allclose(pixel, COLOUR, atol=4)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_a_grey_thumbnail_is_grey(kind):
    level = 100 if kind is np.uint8 else 100 * 257
    image = opened(thumbnail(np.full((64, 64), level, kind)))
    assert image.mode == "L"
    assert abs(np.asarray(image)[32, 32] - 100.0) <= 2


def test_a_sliver_still_has_a_thumbnail():
    assert opened(thumbnail(np.zeros((1, 2000, 3), np.uint8))).size == (192, 1)
