"""One image file as a frame: JPEG, PNG, BMP or TIFF."""

import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.processes import ignored_warnings
from capsieve.sources.base import MAX_PIXELS
from capsieve.user_files import PathLike, read_bytes

if TYPE_CHECKING:
    from PIL import Image

LARGEST_FILE = 32_000_000
"""Bytes of the largest image file that is read."""

_FORMATS = ("JPEG", "PNG", "BMP", "TIFF")
_PNG = b"\x89PNG\r\n\x1a\n"
_KINDS = "JPEG, PNG, BMP or TIFF"

# Modes of Pillow that are kept, and what others are converted to. Detectors ignore alpha.
_KEPT = ("L", "RGB", "RGBA")
_CONVERTED = {"1": "L", "LA": "L", "La": "L", "RGBa": "RGBA"} | dict.fromkeys(
    ("P", "PA", "RGBX", "CMYK", "YCbCr", "HSV"), "RGB"
)

_BITS_PER_SAMPLE, _PHOTOMETRIC = 258, 262  # TIFF tags
_WHITE_IS_ZERO = 0


def read_image(path: PathLike) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read the pixels of an image file, without any correction.

    The content decides on the format, not the ending. An orientation in the file (EXIF) is not
    applied, so positions refer to the stored pixels. Colour of 16 bits per channel is reduced to
    the upper 8 bits.

    Parameters
    ----------
    path
        A JPEG, PNG, BMP or TIFF file with a single image.

    Returns
    -------
    array
        uint8: rows x columns (grey), x 3 (RGB) or x 4 (RGBA); uint16: rows x columns (grey).

    Raises
    ------
    FileError
        The file is missing, not a regular file, unreadable, truncated, of another format, larger
        than 16 megapixels, or contains several images.
    """
    content = read_file(path)
    pixels = decode_image(content, name=os.fspath(path))
    damage = image_damage(content)
    if damage:
        raise _unreadable(path, f"{damage}; copy the file again")
    return pixels


def read_file(path: PathLike) -> bytes:
    """Return the content of a regular file of at most :data:`LARGEST_FILE` bytes.

    Raises
    ------
    FileError
        There is no such file, it is empty or too large, or it cannot be read.
    """
    return read_bytes(path, largest=LARGEST_FILE)


def decode_image(data: bytes, *, name: str) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Return the pixels of an image file with this content; see :func:`read_image`.

    Parameters
    ----------
    data
        The content of the file.
    name
        Name in messages.

    Raises
    ------
    FileError
        As for :func:`read_image`.
    """
    with _opened(data, name) as image:
        image.load()
        return _pixels(image, name)


def image_size(data: bytes, *, name: str) -> tuple[int, int]:
    """Return the rows and columns of an image from its header, without decoding it.

    Raises
    ------
    FileError
        As for :func:`read_image`.
    """
    with _opened(data, name) as image:
        return image.height, image.width


def image_damage(data: bytes) -> str:
    """Return how the content of an image file is damaged; "" if no damage is found.

    Pillow accepts damaged JPEG and PNG data. FFmpeg can stop at the first error in JPEG data, which
    takes about 0.2 ms for a capsule frame. JPEG has no checksum: data that decode without an error
    pass as intact. The parts of a PNG file have checksums; comparing them takes 0.3 ms per MB.
    """
    if data.startswith(_PNG) and not _png_is_intact(data):
        return "the PNG data are damaged; parts of the image may be wrong"
    if not data.startswith(b"\xff\xd8"):
        return ""
    # If FFmpeg finds no image even when it tolerates errors, it does not support the coding.
    if _ffmpeg_decodes(data, err_detect="explode") or not _ffmpeg_decodes(data):
        return ""
    return "the JPEG data are damaged; parts of the image are wrong"


def _png_is_intact(data: bytes) -> bool:
    """Return whether the checksums of the parts (chunks) that determine the pixels are right."""
    at = len(_PNG)
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4])
        kind = data[at + 4 : at + 8]
        determines = kind[:1].isupper() or kind == b"tRNS"
        if determines and zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4]):
            return False
        if kind == b"IEND":
            return True
        at = end + 4
    return False


def _ffmpeg_decodes(data: bytes, **options: str) -> bool:
    from av import CodecContext, Packet
    from av.error import FFmpegError

    # A new decoder for each file: it keeps the tables of the previous image.
    decoder: Any = CodecContext.create("mjpeg", "r")
    decoder.thread_count = 1
    decoder.options = options
    try:
        return bool(decoder.decode(Packet(data)))
    except FFmpegError:
        return False


@contextmanager
def _opened(data: bytes, name: str) -> Iterator["Image.Image"]:
    """Yield an image after reading its header; turn all errors of Pillow into FileError."""
    from PIL import Image, UnidentifiedImageError

    if not data:
        raise _unreadable(name, "the file is empty; copy the file again")
    # Pillow warns about some of the images that we refuse.
    with ignored_warnings(), _truncated_images_refused():
        try:
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                _check_image(image, name)
                yield image
        except FileError:
            raise
        except UnidentifiedImageError:
            reason = f"it is not a {_KINDS} image; convert it to one of these"
            raise _unreadable(name, reason) from None
        except Image.DecompressionBombError:
            raise _unreadable(name, _too_large()) from None
        except MemoryError as error:
            raise _unreadable(name, "there is not enough memory for it") from error
        except Exception as error:  # Pillow raises many classes of errors for damaged files
            reason = f"the image is damaged or truncated ({_brief(error)}); copy the file again"
            raise _unreadable(name, reason) from error


@contextmanager
def _truncated_images_refused() -> Iterator[None]:
    """Let Pillow refuse truncated files, also if a library (a PDF writer does) has allowed them.

    The setting belongs to the process, as the filters of warnings do: one thread decodes at a time.
    """
    from PIL import ImageFile

    before, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, False
    try:
        yield
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before


def _check_image(image: "Image.Image", name: str) -> None:
    """Refuse images that need too much memory or would be decoded to wrong pixels."""
    if image.width * image.height > MAX_PIXELS:
        raise _unreadable(name, _too_large(f" ({image.width} x {image.height})"))
    count = getattr(image, "n_frames", 1)
    if count > 1:
        raise _unreadable(name, f"it contains {count} images; save the one you want as a file")
    bits = _tiff_tag(image, _BITS_PER_SAMPLE, (8,))
    if image.mode.startswith("I;16") and image.format == "TIFF" and tuple(bits) != (16,):
        raise _unreadable(name, f"it has {bits[0]} bits per pixel; save it with 8 or 16 bits")


def _pixels(image: "Image.Image", name: str) -> NDArray[Any]:
    if image.mode.startswith("I;16"):
        values = np.asarray(image).astype(np.uint16)
        # Pillow inverts 8-bit images that store white as zero, but not 16-bit images.
        inverted = _tiff_tag(image, _PHOTOMETRIC, 1) == _WHITE_IS_ZERO
        return np.uint16(65535) - values if inverted else values
    if image.mode in _CONVERTED:
        image = image.convert(_CONVERTED[image.mode])
    if image.mode not in _KEPT:
        raise _unreadable(
            name, f"its pixels ({image.mode}) are not supported; save it as 8-bit grey or RGB"
        )
    return np.array(image)


def _tiff_tag(image: "Image.Image", tag: int, default: Any) -> Any:
    return getattr(image, "tag_v2", {}).get(tag, default)


def _too_large(dimensions: str = "") -> str:
    return (
        f"it has more than {MAX_PIXELS // 10**6} megapixels{dimensions}, which no capsule frame "
        "has; scale it down"
    )


def _unreadable(name: PathLike, reason: str) -> FileError:
    return FileError(f"cannot read {os.fspath(name)}: {reason}")


def _brief(error: BaseException) -> str:
    """Return the first line of a message of another library."""
    message = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return message.splitlines()[0].rstrip(".")
