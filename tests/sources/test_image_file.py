import contextlib
import io
import os
import struct
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import av
import cv2
import numpy as np
import pytest
from PIL import Image, ImageFile, PngImagePlugin

from capsieve import FileError
from capsieve.sources import image_file
from capsieve.sources.image_file import decode_image, image_damage, image_size, read_image
from support.stored_images import claimed_png

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


def test_tiff_that_stores_white_as_zero_is_inverted(tmp_path):
    path = tmp_path / "frame.tif"
    path.write_bytes(sixteen_bit_tiff(GRAY_16, photometric=0))
    assert np.array_equal(read_image(path), 65535 - GRAY_16)


def test_jpeg_is_decoded_closely(tmp_path):
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


def test_result_is_writable(tmp_path):
    path = tmp_path / "frame.png"
    path.write_bytes(encoded(Image.fromarray(RGB), "PNG"))
    read_image(path)[0, 0] = 1


def test_absent_file(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_image(tmp_path / "absent.png")


def test_folder(tmp_path):
    with pytest.raises(FileError, match="it is a folder"):
        read_image(tmp_path)


def test_empty_file(tmp_path):
    (tmp_path / "a.png").touch()
    with pytest.raises(FileError, match="empty"):
        read_image(tmp_path / "a.png")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="it is a pipe"):
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
def test_truncated_files_are_refused(tmp_path, kind, share):
    whole = encoded(Image.fromarray(np.tile(RGB, (8, 8, 1))), kind)
    (tmp_path / "a").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(FileError):
        read_image(tmp_path / "a")


def test_truncated_files_are_refused_even_if_a_library_allows_them_in_pillow(tmp_path, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    whole = encoded(Image.fromarray(np.tile(RGB, (8, 8, 1))), "JPEG")
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "whole").write_bytes(whole)
    with ThreadPoolExecutor(4) as pool:
        whole_ones = [pool.submit(read_image, tmp_path / "whole") for _ in range(40)]
        cut_ones = [pool.submit(read_image, tmp_path / "cut") for _ in range(40)]
    assert all(isinstance(one.exception(), FileError) for one in cut_ones)
    assert not any(one.exception() for one in whole_ones)
    assert ImageFile.LOAD_TRUNCATED_IMAGES


@pytest.mark.parametrize("size", [(4097, 4096), (9990, 9990), (100_000, 100_000)])
def test_large_dimensions_are_refused_before_decoding(size):
    with pytest.raises(FileError, match="16 megapixels"):
        decode_image(claimed_png(*size), name="a.png")


def test_large_files_are_refused_before_reading(tmp_path):
    (tmp_path / "a.png").touch()
    os.truncate(tmp_path / "a.png", 900_000_000)
    with pytest.raises(FileError, match="900,000,000 bytes"):
        read_image(tmp_path / "a.png")


def test_image_size_reads_only_the_header():
    content = encoded(Image.fromarray(RGB), "JPEG")
    assert image_size(content[:-100], name="a.jpg") == (20, 30)


@pytest.mark.parametrize("kind", ["TIFF", "PNG"])
def test_several_images_are_refused(tmp_path, kind):
    first = Image.fromarray(RGB)
    others = [Image.fromarray(255 - RGB), Image.fromarray(RGB // 2)]
    content = encoded(first, kind, save_all=True, append_images=others)
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(FileError, match="contains 3 images"):
        read_image(tmp_path / "a")


@pytest.mark.parametrize("mode", ["F", "I"])
def test_numbers_of_other_kinds_are_refused(tmp_path, mode):
    (tmp_path / "a.tif").write_bytes(encoded(Image.new(mode, (30, 20)), "TIFF"))
    with pytest.raises(FileError, match="8-bit grey or RGB"):
        read_image(tmp_path / "a.tif")


def test_pillow_never_warns(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(claimed_png(2000, 2000))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 3_000_000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(FileError, match="damaged"):
            read_image(tmp_path / "a.png")
    assert not caught


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "TIFF"])
def test_damaged_bytes_raise_no_other_error(kind):
    whole = encoded(Image.fromarray(RGB), kind)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        content = bytearray(whole)
        for position in rng.integers(0, min(len(content), 200), 8):
            content[position] = rng.integers(256)
        image_damage(bytes(content))
        with contextlib.suppress(FileError):
            decode_image(bytes(content), name="a")


def pictures():
    rows, cols = np.mgrid[:120, :161]
    smooth = np.stack([rows * 2, cols, rows + cols], axis=2).astype(np.uint8)
    yield from (smooth, RNG.integers(0, 256, smooth.shape, np.uint8), smooth[:7, :9], smooth * 0)


def jpeg(image: Image.Image, **options) -> bytes:
    return encoded(image, "JPEG", **options)


def opencv_jpeg(pixels, *options: int) -> bytes:
    return cv2.imencode(".jpg", pixels, list(options))[1].tobytes()


def ffmpeg_jpeg(pixels, pixel_format: str) -> bytes:
    encoder = av.CodecContext.create("mjpeg", "w")
    encoder.height, encoder.width = pixels.shape[:2]
    encoder.pix_fmt, encoder.time_base, encoder.color_range = pixel_format, Fraction(1, 25), 2
    frame = av.VideoFrame.from_ndarray(pixels, "rgb24").reformat(format=pixel_format)
    return bytes(encoder.encode(frame)[0])


def intact_jpegs(pixels):
    image = Image.fromarray(pixels)
    exif = Image.Exif()
    exif[0x0112] = 6
    plain = jpeg(image)
    yield "small", jpeg(image, quality=5, optimize=True)
    for subsampling in ("4:4:4", "4:2:2", "4:2:0"):
        yield subsampling, jpeg(image, quality=95, subsampling=subsampling)
        yield (
            f"{subsampling} restart",
            jpeg(image, subsampling=subsampling, restart_marker_blocks=2),
        )
    if pixels.size > 1000:  # Pillow fails to write smaller ones
        yield "progressive", jpeg(image, progressive=True)
        yield "progressive grey", jpeg(image.convert("L"), progressive=True)
        yield "progressive restart", jpeg(image, progressive=True, restart_marker_rows=1)
    yield "grey", jpeg(image.convert("L"))
    yield "CMYK", jpeg(image.convert("CMYK"))
    yield "CMYK 4:2:0", jpeg(image.convert("CMYK"), subsampling="4:2:0")
    yield "RGB", jpeg(image, keep_rgb=True)
    yield "EXIF", jpeg(image, exif=exif)
    yield "ICC", jpeg(image, icc_profile=b"no profile" * 9999)
    yield "comment", jpeg(image, comment=b"from the reading centre")
    for marker in (b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\1", b"\xff\xe1\0\x0eExif\0\0broken"):
        yield f"marker {marker}", plain[:2] + marker + plain[2:]
    for tail in (b"\n", b"\0" * 999, b"\xff\xd9", RNG.bytes(5000), plain, plain[:-40]):
        yield f"trailing {tail[:4]}", plain + tail
    for factor in (0x411111, 0x221111, 0x211111, 0x121111, 0x111111):
        options = (cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factor, cv2.IMWRITE_JPEG_RST_INTERVAL, 5)
        yield f"OpenCV {factor:x}", opencv_jpeg(pixels, *options)
        yield f"OpenCV {factor:x}", opencv_jpeg(pixels, *options, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    for pixel_format in ("yuvj420p", "yuvj422p", "yuvj444p"):
        yield pixel_format, ffmpeg_jpeg(pixels, pixel_format)


def test_intact_jpeg_files_are_not_damaged():
    for pixels in pictures():
        for name, content in intact_jpegs(pixels):
            assert decode_image(content, name=name).shape[:2] == pixels.shape[:2]
            assert image_damage(content) == "", name


def test_a_coding_that_ffmpeg_does_not_support_is_not_damage(monkeypatch):
    monkeypatch.setattr(image_file, "_ffmpeg_decodes", lambda data, **options: False)
    assert image_damage(jpeg(Image.fromarray(RGB))) == ""


def test_other_formats_are_not_checked():
    assert image_damage(encoded(Image.fromarray(RGB), "PNG")) == ""
    assert image_damage(b"") == ""


@pytest.mark.parametrize("progressive", [False, True])
def test_damaged_jpeg_files_are_decoded_and_recognised(progressive):
    pixels = next(pictures())
    whole = jpeg(Image.fromarray(pixels), quality=90, progressive=progressive)
    start, end = whole.index(b"\xff\xda") + 14, len(whole) - 2
    length = end - start
    removed = whole[: start + int(0.3 * length)] + whole[start + int(0.7 * length) :]
    replaced = whole[: start + length // 2] + bytes(length // 4) + whole[start + 3 * length // 4 :]
    ended = whole[: start + int(0.6 * length)] + whole[-2:]
    for content in (removed, replaced, ended):
        assert decode_image(content, name="a.jpg").shape == pixels.shape
        assert image_damage(content)


def test_png_data_that_do_not_match_their_checksums_are_reported(tmp_path):
    rng = np.random.default_rng(4)
    smooth = cv2.GaussianBlur(rng.integers(0, 255, (224, 224, 3), np.uint8), (0, 0), 3)
    for mode in ("RGB", "L", "P"):
        content = encoded(Image.fromarray(smooth).convert(mode), "PNG")
        assert image_damage(content) == ""
        (tmp_path / "a.png").write_bytes(content)
        read_image(tmp_path / "a.png")
        start = content.index(b"IDAT")
        for place in rng.integers(start, len(content) - 16, 20).tolist():
            changed = bytearray(content)
            changed[place] ^= 16
            assert "PNG" in image_damage(bytes(changed))
            (tmp_path / "a.png").write_bytes(changed)
            with pytest.raises(FileError):
                read_image(tmp_path / "a.png")
        tail = len(content) * 4 // 5
        assert image_damage(content[:tail] + bytes(len(content) - tail))


def test_a_wrong_checksum_of_a_comment_does_not_matter():
    comment = PngImagePlugin.PngInfo()
    comment.add_text("comment", "by a camera")
    content = bytearray(encoded(Image.fromarray(RGB), "PNG", pnginfo=comment))
    content[content.index(b"by a camera")] ^= 1
    assert image_damage(bytes(content)) == ""
