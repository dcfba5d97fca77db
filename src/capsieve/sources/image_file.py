"""A frame that is an image file: JPEG, PNG, BMP or TIFF."""

import io
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["decode_image", "read_image"]

_MOST_PIXELS = 100_000_000
_FORMATS = ("JPEG", "PNG", "BMP", "TIFF")
_KINDS = "JPEG, PNG, BMP or TIFF"

# Modes of Pillow that go as they are, and what the others become. Alpha of grey images and palettes
# goes: the detector would drop it anyway.
_AS_THEY_ARE = ("L", "RGB", "RGBA")
_BECOME = {
    "1": "L",
    "LA": "L",
    "La": "L",
    "P": "RGB",
    "PA": "RGB",
    "RGBX": "RGB",
    "RGBa": "RGBA",
    "CMYK": "RGB",
    "YCbCr": "RGB",
    "HSV": "RGB",
}

_BITS_PER_SAMPLE, _PHOTOMETRIC = 258, 262  # TIFF tags
_WHITE_IS_ZERO = 0


def read_image(path: str | os.PathLike[str]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read the pixels of an image file, as they are stored.

    The kind is decided by the content, not by the ending. An orientation noted in the file (EXIF)
    is not applied, so that positions are those of the stored pixels. Colour with 16 bits a channel
    comes with the upper 8.

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
        The file is absent, a folder, unreadable, cut off, of another kind, larger than 100
        megapixels, or holds several images.
    """
    path = Path(path)
    _check_place(path)
    try:
        with path.open("rb") as file:
            return _decode(file, str(path))
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error


def decode_image(data: bytes, *, name: str) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Return the pixels of an image file whose bytes are at hand; see :func:`read_image`.

    Parameters
    ----------
    data
        The content of the file.
    name
        What messages call it.

    Raises
    ------
    FileError
        As for :func:`read_image`.
    """
    if not data:
        raise FileError(_empty(name))
    return _decode(io.BytesIO(data), name)


def _decode(file: IO[bytes], name: str) -> NDArray[np.uint8] | NDArray[np.uint16]:
    from PIL import Image, UnidentifiedImageError

    # Pillow's decoders raise errors of many types on broken files, and warn where we refuse.
    with warnings.catch_warnings(), _cut_files_refused():
        warnings.simplefilter("ignore")
        try:
            with Image.open(file, formats=_FORMATS) as image:
                _check_image(image, name)
                image.load()
                return _pixels(image, name)
        except FileError:
            raise
        except UnidentifiedImageError:
            raise FileError(
                f"cannot read {name}: it is not a {_KINDS} image; convert it to one of these"
            ) from None
        except Image.DecompressionBombError:
            raise FileError(_too_large(name)) from None
        except MemoryError as error:
            raise FileError(f"cannot read {name}: there is not enough memory for it") from error
        except Exception as error:
            raise FileError(
                f"cannot read {name}: the image is damaged or cut off ({_brief(error)}); "
                "get a fresh copy"
            ) from error


class _Strict:
    """How many threads decode right now, and what Pillow was told before the first of them."""

    lock = threading.Lock()
    decoding = 0
    before = False


@contextmanager
def _cut_files_refused() -> Iterator[None]:
    """Let Pillow refuse files that end too early, whatever other libraries told it.

    Pillow has one switch for the whole process, and some libraries (a PDF writer among them) turn
    it on when they are imported: the lost part of a frame would then come as grey, without a word.
    The switch is put back when the last thread is done.
    """
    from PIL import ImageFile

    with _Strict.lock:
        if _Strict.decoding == 0:
            _Strict.before = ImageFile.LOAD_TRUNCATED_IMAGES
            ImageFile.LOAD_TRUNCATED_IMAGES = False
        _Strict.decoding += 1
    try:
        yield
    finally:
        with _Strict.lock:
            _Strict.decoding -= 1
            if _Strict.decoding == 0:
                ImageFile.LOAD_TRUNCATED_IMAGES = _Strict.before


def _check_place(path: Path) -> None:
    try:
        if path.is_file():
            if path.stat().st_size == 0:
                raise FileError(_empty(str(path)))
            return
        exists, folder = path.exists(), path.is_dir()
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {str(path)!r}: {_brief(error)}") from error
    if folder:
        raise FileError(f"cannot read {path}: it is a folder; give one image file")
    if exists:
        raise FileError(f"cannot read {path}: it is not a regular file")
    raise FileError(f"cannot read {path}: there is no such file; check the name")


def _check_image(image: "Image.Image", name: str) -> None:
    """Refuse what must not be decoded, or would be decoded to a wrong answer."""
    if image.width * image.height > _MOST_PIXELS:
        raise FileError(_too_large(name, f" ({image.width} x {image.height})"))
    count = getattr(image, "n_frames", 1)
    if count > 1:
        raise FileError(
            f"cannot read {name}: it holds {count} images, and only one can be meant; "
            "save that one as a file of its own"
        )
    bits = _tiff_tag(image, _BITS_PER_SAMPLE, (8,))
    if image.mode.startswith("I;16") and image.format == "TIFF" and tuple(bits) != (16,):
        raise FileError(
            f"cannot read {name}: it has {bits[0]} bits a pixel; save it with 8 or 16 bits"
        )


def _pixels(image: "Image.Image", name: str) -> NDArray[Any]:
    if image.mode.startswith("I;16"):
        values = np.asarray(image).astype(np.uint16)
        # Pillow turns 8-bit images that store white as zero, but not 16-bit ones.
        inverted = _tiff_tag(image, _PHOTOMETRIC, 1) == _WHITE_IS_ZERO
        return np.uint16(65535) - values if inverted else values
    if image.mode in _BECOME:
        image = image.convert(_BECOME[image.mode])
    if image.mode not in _AS_THEY_ARE:
        raise FileError(
            f"cannot read {name}: pixels of the kind {image.mode!r} are not supported; "
            "save it as 8-bit grey or RGB, or 16-bit grey"
        )
    return np.array(image)


def _tiff_tag(image: "Image.Image", tag: int, default: Any) -> Any:
    return getattr(image, "tag_v2", {}).get(tag, default)


def _empty(name: str) -> str:
    return f"cannot read {name}: the file is empty; get a fresh copy"


def _too_large(name: str, dimensions: str = "") -> str:
    return (
        f"cannot read {name}: it claims more than {_MOST_PIXELS // 10**6} megapixels{dimensions}, "
        "which no capsule frame has; scale it down"
    )


def _brief(error: BaseException) -> str:
    """The first line of a foreign message, without its final stop."""
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")
