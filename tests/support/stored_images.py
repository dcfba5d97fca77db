"""Small images as files, in folders and in archives, for the tests of what reads them."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from capsieve.sources.base import SourceFrame


def image_bytes(level: int = 100, kind: str = "PNG", *, rows: int = 6, cols: int = 8) -> bytes:
    """Return an image of one colour as a file's content."""
    pixels = np.full((rows, cols, 3), level % 256, np.uint8)
    with io.BytesIO() as file:
        Image.fromarray(pixels).save(file, kind)
        return file.getvalue()


def claimed_png(width: int, height: int) -> bytes:
    """Return the header of a PNG that claims a size, and hardly any data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def write_zip(
    path: Path, files: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED
) -> Path:
    """Write an archive of files."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def numbered(count: int, name: str = "frame{}.png") -> dict[str, bytes]:
    """Return images by name; the level of each is its number."""
    return {name.format(number): image_bytes(number) for number in range(count)}


def levels(frames: Iterable[SourceFrame]) -> list[int | None]:
    """Return the level of each frame; None where it has no pixels."""
    return [None if frame.pixels is None else int(frame.pixels[0, 0, 0]) for frame in frames]
