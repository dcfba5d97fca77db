import contextlib
import io
import os
import struct
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageFile

from capsieve import FileError
from capsieve.sources.image_file import read_image

RNG = np.random.default_rng(1)
RGB = RNG.integers(0, 256, (20, 30, 3), np.uint8)
GRAY = RNG.integers(0, 256, (20, 30), np.uint8)
GRAY_16 = RNG.integers(0, 65536, (20, 30), np.uint16)


def encoded(image: Image.Image, kind: str, **options) -> bytes:
    with io.BytesIO() as file:
        image.save(file, kind, **options)
        return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
@pytest.mark.parametrize("pixels", [RGB, GRAY], ids=["rgb", "grey"])
def test_lossless_kinds_come_back_unchanged(tmp_path, kind, pixels):
    path = tmp_path / "frame"
    path.write_bytes(encoded(Image.fromarray(pixels), kind))
    back = read_image(path)
    assert back.dtype == np.uint8
    assert np.array_equal(back, pixels)


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bit_grey_comes_back_unchanged(tmp_path, kind):
    path = tmp_path / "frame"
    path.write_bytes(encoded(Image.fromarray(GRAY_16), kind))
    back = read_image(path)
    assert back.dtype == np.uint16
    assert np.array_equal(back, GRAY_16)


def sixteen_bit_tiff(pixels: np.ndarray, *, photometric: int, order: str = "<") -> bytes:
    """A TIFF by hand: kinds that Pillow reads but does not write."""
    rows, cols = pixels.shape
    data = pixels.astype(f"{order}u2").tobytes()
    tags = [(256, cols), (257, rows), (258, 16), (259, 1), (262, photometric), (273, 8)]
    tags += [(277, 1), (278, rows), (279, len(data))]
    directory = struct.pack(f"{order}H", len(tags))
    for tag, value in tags:
        directory += struct.pack(f"{order}HHI", tag, 4, 1) + struct.pack(f"{order}I", value)
    head = struct.pack(f"{order}2sHI", b"II" if order == "<" else b"MM", 42, 8 + len(data))
    return head + data + directory + struct.pack(f"{order}I", 0)


def test_big_endian_tiff_is_read_in_native_order(tmp_path):
    path = tmp_path / "frame.tif"
    path.write_bytes(sixteen_bit_tiff(GRAY_16, photometric=1, order=">"))
    back = read_image(path)
    assert back.dtype.isnative
    assert np.array_equal(back, GRAY_16)


def test_tiff_that_stores_white_as_zero_is_turned(tmp_path):
    path = tmp_path / "frame.tif"
    path.write_bytes(sixteen_bit_tiff(GRAY_16, photometric=0))
    assert np.array_equal(read_image(path), 65535 - GRAY_16)


def test_jpeg_is_near(tmp_path):
    smooth = np.repeat(np.linspace(0, 255, 64).astype(np.uint8)[None], 64, axis=0)
    path = tmp_path / "frame.jpg"
    path.write_bytes(encoded(Image.fromarray(smooth), "JPEG", quality=95))
    assert np.abs(read_image(path).astype(int) - smooth).max() <= 3


def test_kind_is_decided_by_the_content(tmp_path):
    path = tmp_path / "frame.jpg"
    path.write_bytes(encoded(Image.fromarray(RGB), "PNG"))
    assert np.array_equal(read_image(path), RGB)


@pytest.mark.parametrize(
    ("mode", "kind", "shape"),
    [
        ("RGBA", "PNG", (20, 30, 4)),
        ("LA", "PNG", (20, 30)),
        ("P", "PNG", (20, 30, 3)),
        ("1", "PNG", (20, 30)),
        ("CMYK", "JPEG", (20, 30, 3)),
        ("CMYK", "TIFF", (20, 30, 3)),
        ("YCbCr", "JPEG", (20, 30, 3)),
    ],
)
def test_other_modes_become_grey_or_colour(tmp_path, mode, kind, shape):
    path = tmp_path / "frame"
    # 204 is in Pillow's palette.
    image = Image.new("RGB", (30, 20), (204, 204, 204)).convert(mode)
    path.write_bytes(encoded(image, kind))
    back = read_image(path)
    assert back.dtype == np.uint8
    assert back.shape == shape
    if mode == "1":
        assert set(np.unique(back)) <= {0, 255}
    else:
        assert np.abs(back[..., :3].astype(int) - 204).max() <= 3


def test_result_may_be_written_to(tmp_path):
    path = tmp_path / "frame.png"
    path.write_bytes(encoded(Image.fromarray(RGB), "PNG"))
    read_image(path)[0, 0] = 1


def test_absent_file(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_image(tmp_path / "absent.png")


def test_folder(tmp_path):
    with pytest.raises(FileError, match="it is a folder; give one image file"):
        read_image(tmp_path)


def test_empty_file(tmp_path):
    (tmp_path / "a.png").touch()
    with pytest.raises(FileError, match="empty"):
        read_image(tmp_path / "a.png")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="not a regular file"):
        read_image(tmp_path / "pipe")


def test_a_name_that_no_file_can_have():
    with pytest.raises(FileError, match="cannot read"):
        read_image("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encoded(Image.fromarray(RGB), "PNG"))
    path.chmod(0)
    with pytest.raises(FileError, match="Permission denied"):
        read_image(path)


@pytest.mark.parametrize("content", [b"not an image", b"\x00" * 1000, b"PK\x03\x04" + b"x" * 99])
def test_not_an_image(tmp_path, content):
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(FileError, match="not a JPEG, PNG, BMP or TIFF"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PPM"])
def test_another_kind_of_image_is_refused(tmp_path, kind):
    (tmp_path / "a.png").write_bytes(encoded(Image.fromarray(RGB), kind))
    with pytest.raises(FileError, match="convert it"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "TIFF"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_cut_off_file(tmp_path, kind, share):
    whole = encoded(Image.fromarray(np.tile(RGB, (8, 8, 1))), kind)
    (tmp_path / "a").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(FileError):
        read_image(tmp_path / "a")


def test_cut_off_file_is_refused_though_a_library_told_pillow_to_load_it(tmp_path, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    whole = encoded(Image.fromarray(np.tile(RGB, (8, 8, 1))), "JPEG")
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "whole").write_bytes(whole)
    with ThreadPoolExecutor(4) as pool:
        whole_ones = [pool.submit(read_image, tmp_path / "whole") for _ in range(40)]
        cut_ones = [pool.submit(read_image, tmp_path / "cut") for _ in range(40)]
    assert all(isinstance(one.exception(), FileError) for one in cut_ones)
    assert not any(one.exception() for one in whole_ones)
    assert ImageFile.LOAD_TRUNCATED_IMAGES  # and what it was told is left as it was


def claimed_png(width: int, height: int) -> bytes:
    """The header of a PNG that claims a size, and hardly any data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize("size", [(10001, 10000), (12000, 9000), (100_000, 100_000)])
def test_absurd_dimensions_are_refused_before_decoding(tmp_path, size):
    (tmp_path / "a.png").write_bytes(claimed_png(*size))
    with pytest.raises(FileError, match="100 megapixels"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["TIFF", "PNG"])
def test_several_images_are_refused(tmp_path, kind):
    first = Image.fromarray(RGB)
    others = [Image.fromarray(255 - RGB), Image.fromarray(RGB // 2)]
    content = encoded(first, kind, save_all=True, append_images=others)
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(FileError, match="holds 3 images"):
        read_image(tmp_path / "a")


@pytest.mark.parametrize("mode", ["F", "I"])
def test_numbers_of_other_kinds_are_refused(tmp_path, mode):
    (tmp_path / "a.tif").write_bytes(encoded(Image.new(mode, (30, 20)), "TIFF"))
    with pytest.raises(FileError, match="save it as 8-bit grey or RGB"):
        read_image(tmp_path / "a.tif")


def test_pillow_never_warns(tmp_path):
    (tmp_path / "a.png").write_bytes(claimed_png(9800, 9800))  # above Pillow's limit, below ours
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(FileError, match="damaged"):
            read_image(tmp_path / "a.png")
    assert not caught


@pytest.mark.parametrize("seed", range(30))
def test_broken_bytes_never_raise_anything_else(tmp_path, seed):
    rng = np.random.default_rng(seed)
    kind = ("JPEG", "PNG", "BMP", "TIFF")[seed % 4]
    content = bytearray(encoded(Image.fromarray(RGB), kind))
    for position in rng.integers(0, min(len(content), 200), 8):
        content[position] = rng.integers(256)
    (tmp_path / "a").write_bytes(content)
    with contextlib.suppress(FileError):
        read_image(tmp_path / "a")
