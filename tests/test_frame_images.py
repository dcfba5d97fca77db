"""Frames as image files."""

import io
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from capsieve.frame_images import browser_kind, eight_bits, jpeg, rgb, shrink

GRADIENT = np.add.outer(np.arange(60), 2 * np.arange(80)).astype(np.uint8)
COLOUR = np.dstack([GRADIENT, GRADIENT // 2, 255 - GRADIENT])


def stored(pixels: NDArray[Any] = COLOUR, kind="PNG", **options):
    with io.BytesIO() as file:
        Image.fromarray(pixels).save(file, kind, **options)
        return file.getvalue()


def test_8_bits_are_unchanged_and_16_bits_are_rounded():
    assert eight_bits(COLOUR) is COLOUR
    deep = np.array([[0, 128, 129, 257, 65534, 65535]], np.uint16)
    assert eight_bits(deep).tolist() == [[0, 0, 1, 1, 255, 255]]


@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
def test_8_bit_levels_survive_16_bits(dtype):
    levels = np.arange(256, dtype=np.uint8)[None]
    np.testing.assert_array_equal(eight_bits(levels.astype(dtype) * 257), levels)


def test_rgb_has_three_channels():
    alpha = np.dstack([COLOUR, np.zeros_like(GRADIENT)])
    np.testing.assert_array_equal(rgb(alpha), COLOUR)
    np.testing.assert_array_equal(rgb(GRADIENT), np.dstack([GRADIENT] * 3))


def test_shrink_keeps_the_shape_and_never_enlarges():
    assert shrink(COLOUR, width=40).shape == (30, 40, 3)
    assert shrink(COLOUR.transpose(1, 0, 2), side=40).shape == (40, 30, 3)
    assert shrink(COLOUR, width=80) is COLOUR
    assert shrink(np.zeros((2, 900), np.float32), side=30).shape == (1, 30)


@pytest.mark.parametrize(
    "pixels", [COLOUR, np.dstack([COLOUR, GRADIENT]), COLOUR.astype(np.uint16) * 257]
)
def test_a_jpeg_shows_the_colours_of_the_frame(pixels):
    decoded = cv2.imdecode(np.frombuffer(jpeg(pixels), np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    assert np.abs(decoded[:, :, ::-1].astype(int) - COLOUR).mean() < 3


def test_a_grey_jpeg_is_grey():
    with Image.open(io.BytesIO(jpeg(GRADIENT))) as image:
        assert image.mode == "L"


def test_plain_files_are_sent_to_a_browser_as_they_are():
    assert browser_kind(stored()) == "png"
    assert browser_kind(stored(GRADIENT)) == "png"
    assert browser_kind(stored(kind="JPEG")) == "jpeg"


def oriented():
    exif = Image.Exif()
    exif[0x0112] = 6
    return stored(kind="JPEG", exif=exif)


def with_gamma():
    info = PngImagePlugin.PngInfo()
    info.add(b"gAMA", (45455).to_bytes(4, "big"))
    return stored(pnginfo=info)


@pytest.mark.parametrize(
    "content",
    [
        oriented(),
        with_gamma(),
        stored(kind="JPEG", icc_profile=b"profile"),
        stored(np.dstack([COLOUR, GRADIENT])),
        stored(GRADIENT.astype(np.uint16)),
        stored(kind="BMP"),
        stored()[:30],
        b"",
    ],
    ids=["orientation", "gamma", "profile", "alpha", "16 bits", "bmp", "damaged", "empty"],
)
def test_files_that_a_browser_would_change_are_encoded_again(content):
    assert browser_kind(content) == ""
