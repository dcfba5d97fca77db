"""Measure how well perceptual hashes recognise frames: the tables of docs/leaks.md.

    python tools/measure_phash.py CAPSULE [FRAMES]

CAPSULE is the folder with the frames of docs/results.md. Of each source FRAMES frames (240) are
changed and compared with all frames of that source, and frames of different sources, exams and far
blocks with each other. Fields of view are those that a screening of the changed frames finds.
"""

import csv
import sys
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.field_of_view import find_field_of_view
from capsieve.phash import BITS, field_phash, match_near_duplicates, orientations, phash

Image = NDArray[np.uint8]


def main() -> None:
    """Print the tables."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 240
    with (folder / "frames.csv").open() as file:
        rows = list(csv.DictReader(file))
    sources = {
        source: [row for row in rows if row["source"] == source]
        for source in sorted({row["source"] for row in rows})
    }
    hashes = {}
    for source, of_source in sources.items():
        of_source.sort(key=lambda row: (row["video"], int(row["frame"])))
        images = [_read(folder / row["file"]) for row in of_source]
        hashes[source] = _hashes(images)
        picked = np.random.default_rng(0).choice(len(images), count, replace=False)
        print(f"\n{source}: of {count} changed frames so many are recognised; by phash alone")
        for name, change in CHANGES.items():
            changed = _hashes([change(images[i]) for i in picked])
            match, _ = match_near_duplicates(changed, hashes[source])
            alone, _ = match_near_duplicates(
                changed * np.array([[1], [0]], np.uint8), hashes[source]
            )
            print(f"  {name:28} {np.mean(match >= 0):7.1%} {np.mean(alone >= 0):7.1%}")
    kvasir, see = (hashes[source] for source in ("kvasir-capsule", "see-ai"))
    exam = np.array([row["video"] for row in sources["kvasir-capsule"]])
    half = np.isin(exam, np.unique(exam)[::2])
    third = len(see) // 3
    pairs = {
        "Kvasir-Capsule and SEE-AI": (kvasir, see),
        "first and last third of SEE-AI": (see[:third], see[-third:]),
        "exams of Kvasir-Capsule": (kvasir[half], kvasir[~half]),
    }
    for name, (a, b) in pairs.items():
        print(f"\n{name}: {len(a):,} x {len(b):,} frames; pairs within so many bits")
        for kind in (0, 1):
            counts = np.cumsum(_distances(a[:, kind], b[:, kind], turned=bool(kind)))
            shown = {bits: int(counts[bits]) for bits in (31, 36, 40, 44, 48, 52, 56)}
            print(f"  {('frame', 'field of view, eight orientations')[kind]:36} {shown}")
        match, _ = match_near_duplicates(a, b)
        print(f"  frames with a near-duplicate: {np.count_nonzero(match >= 0)} of {len(a):,}")


def _distances(a: NDArray[np.uint8], b: NDArray[np.uint8], *, turned: bool) -> NDArray[np.int64]:
    """Return the number of pairs by the number of bits that differ."""
    counts = np.zeros(BITS + 1, np.int64)
    words = np.ascontiguousarray(a).view(np.uint64)
    for oriented in orientations(b) if turned else (b,):
        others = np.ascontiguousarray(oriented).view(np.uint64)
        for row in words:
            differing = np.bitwise_count(row ^ others).sum(axis=1)
            counts += np.bincount(differing, minlength=BITS + 1)
    return counts


def _read(path: Path) -> Image:
    pixels = cv2.imread(str(path))
    assert pixels is not None
    return np.ascontiguousarray(pixels[..., ::-1], np.uint8)


def _hashes(images: list[Image]) -> NDArray[np.uint8]:
    field = find_field_of_view(images[:: max(1, len(images) // 30)])
    none = bytes(BITS // 8)
    content = b"".join(
        (phash(image) or none) + (field_phash(image, field) or none) for image in images
    )
    return np.frombuffer(content, np.uint8).reshape(len(images), 2, -1)


def _jpeg(image: Image, quality: int) -> Image:
    stored = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return np.asarray(cv2.imdecode(stored, cv2.IMREAD_COLOR), np.uint8)


def _sized(image: Image, rows: int, cols: int | None = None) -> Image:
    method = cv2.INTER_AREA if rows < len(image) else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, (cols or rows, rows), interpolation=method), np.uint8)


def _turned(image: Image, degrees: float) -> Image:
    size = len(image)
    matrix = cv2.getRotationMatrix2D(((size - 1) / 2, (size - 1) / 2), degrees, 1)
    return np.asarray(cv2.warpAffine(image, matrix, (size, size)), np.uint8)


def _shifted(image: Image, rows: int, cols: int) -> Image:
    matrix = np.array([[1.0, 0, cols], [0, 1, rows]])
    return np.asarray(cv2.warpAffine(image, matrix, (len(image), len(image))), np.uint8)


def _canvas(image: Image, size: int, row: int, col: int) -> Image:
    larger = np.zeros((size, size, 3), np.uint8)
    larger[row : row + len(image), col : col + len(image)] = image
    return larger


def _exported(image: Image) -> Image:
    larger = _canvas(_sized(image, 480), 576, 48, 40)
    for text, at in (("00:12:34", (8, 22)), ("capsule", (470, 566))):
        cv2.putText(larger, text, at, cv2.FONT_HERSHEY_PLAIN, 1.4, (255, 255, 255))
    return _jpeg(larger, 85)


def _grey(image: Image) -> Image:
    return np.repeat(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2).astype(np.uint8)


CHANGES = {
    "JPEG, quality 40": lambda image: _jpeg(image, 40),
    "336 pixels": lambda image: _sized(image, 336),
    "128 pixels": lambda image: _sized(image, 128),
    "grey": _grey,
    "stretched by 14 %": lambda image: _sized(image, 224, 256),
    "turned by 3 degrees": lambda image: _turned(image, 3),
    "3 % cut off each side": lambda image: np.ascontiguousarray(image[7:-7, 7:-7]),
    "on a larger black canvas": lambda image: _canvas(image, 320, 30, 60),
    "576 pixels with text, JPEG": _exported,
    "shifted by 4 pixels": lambda image: _shifted(image, 4, 0),
    "shifted by 4 + 4 pixels": lambda image: _shifted(image, 4, 4),
    "mirrored": lambda image: np.ascontiguousarray(image[:, ::-1]),
    "turned by 90 degrees": lambda image: np.ascontiguousarray(np.rot90(image)),
    "mirrored, on a canvas, JPEG": lambda image: _jpeg(
        _canvas(np.ascontiguousarray(_sized(image, 180)[::-1]), 288, 50, 60), 60
    ),
}

if __name__ == "__main__":
    main()
