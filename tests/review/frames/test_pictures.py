"""What a browser is sent shows what was scored."""

import io
import struct
from typing import Any

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from capsieve.review.frames.packs import pack
from capsieve.review.frames.pictures import jpeg, shown_as_stored, thumbnail
from sample_videos import picture

RGB = picture(4)


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    with io.BytesIO() as file:
        image.save(file, kind, **options)
        return file.getvalue()


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(Image.fromarray(RGB), "JPEG", exif=exif)


def with_gamma() -> bytes:
    about = PngImagePlugin.PngInfo()
    about.add(b"gAMA", struct.pack(">I", 100_000))
    return saved(Image.fromarray(RGB), "PNG", pnginfo=about)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (saved(Image.fromarray(RGB), "JPEG"), "jpeg"),
        (saved(Image.fromarray(RGB[:, :, 0]), "JPEG"), "jpeg"),
        (saved(Image.fromarray(RGB), "PNG"), "png"),
        (saved(Image.fromarray(RGB).quantize(16), "PNG"), "png"),
        (saved(Image.fromarray(RGB).convert("CMYK"), "JPEG"), ""),
        (saved(Image.fromarray(RGB).convert("RGBA"), "PNG"), ""),
        (saved(Image.fromarray(RGB).quantize(16), "PNG", transparency=3), ""),
        (saved(Image.fromarray(RGB[:, :, 0].astype(np.uint16) * 257), "PNG"), ""),
        (saved(Image.fromarray(RGB), "JPEG", icc_profile=b"a profile"), ""),
        (saved(Image.fromarray(RGB), "TIFF"), ""),
        (saved(Image.fromarray(RGB), "BMP"), ""),
        (turned(), ""),
        (with_gamma(), ""),
        (b"no image", ""),
    ],
)
def test_only_what_a_browser_leaves_alone_goes_as_it_is(content: bytes, kind: str) -> None:
    assert shown_as_stored(content) == kind


def smooth(rows: int = 60, cols: int = 80) -> np.ndarray:
    row, col = np.mgrid[:rows, :cols]
    return np.stack((row * 3, col * 3, 255 - row - col), axis=-1).astype(np.uint8)


@pytest.mark.parametrize("channels", ["RGB", "L", "RGBA"])
def test_jpeg_keeps_the_colours(channels: str) -> None:
    pixels = np.asarray(Image.fromarray(smooth()).convert(channels))
    kind, content = jpeg(pixels)
    with Image.open(io.BytesIO(content)) as image:
        shown = np.asarray(image).astype(int)
    seen = pixels[..., :3] if pixels.ndim == 3 else pixels
    assert kind == "jpeg"
    assert np.abs(shown - seen).mean() < 2


def test_sharp_edges_of_colour_stay_sharp() -> None:
    pixels = np.zeros((32, 32, 3), np.uint8)
    pixels[:, ::2] = (255, 0, 0)
    pixels[:, 1::2] = (0, 0, 255)
    with Image.open(io.BytesIO(jpeg(pixels)[1])) as image:
        assert np.abs(np.asarray(image).astype(int) - pixels).mean() < 10


def test_sixteen_bits_are_scaled_as_the_detector_does() -> None:
    pixels = np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype(np.uint16)
    with Image.open(io.BytesIO(jpeg(pixels)[1])) as image:
        assert np.abs(np.asarray(image) - pixels / 257).max() < 4


@pytest.mark.parametrize(
    ("shape", "small"), [((300, 600), (80, 160)), ((600, 300), (160, 80)), ((50, 90), (50, 90))]
)
def test_thumbnails_keep_the_shape(shape: tuple[int, int], small: tuple[int, int]) -> None:
    _, content = thumbnail(np.zeros((*shape, 3), np.uint8))
    with Image.open(io.BytesIO(content)) as image:
        assert image.size[::-1] == small


def test_a_pack_can_be_taken_apart() -> None:
    content = pack([(7, ("jpeg", b"abc")), (70_000, ("", b"")), (9, ("png", b"x"))])
    assert content == (
        b"\x07\0\0\0\x03\0\0\0\x01\0\0\0abc"
        b"\x70\x11\x01\0\0\0\0\0\0\0\0\0"
        b"\x09\0\0\0\x01\0\0\0\x02\0\0\0x"
    )
