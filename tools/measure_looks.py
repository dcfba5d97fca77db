"""Measure how far apart the looks of frames are: ``python tools/measure_looks.py FRAMES STUDY``.

FRAMES is a CSV file with the columns file (beside it), video and frame; rows without a video are
left out. STUDY is a folder of ``capsieve phantom``. Prints, for both, the distances of copies, of
neighbours in an exam, and of frames of different exams; then how many of the latter there are at
each limit. See docs/leaks.md, which holds the figures.
"""

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.phash import BITS, NEAR_DUPLICATE_BITS, phash, phash_contrast

Pixels = NDArray[np.uint8]
Frame = tuple[str, int, Any]

EVERY = 10  # frames of which copies are made
QUANTILES = (0.01, 0.05, 0.5, 0.95, 0.99, 1.0)
LIMITS = (15, 23, NEAR_DUPLICATE_BITS, 40, 48, 56, 64, 72, 80)


def listed(table: Path) -> Iterator[Frame]:
    """Yield exam, number and pixels of the frames of a table."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["video"]]
    for row in sorted(rows, key=lambda row: (row["video"], int(row["frame"]))):
        pixels: Any = cv2.imread(str(table.parent / row["file"]))
        yield row["video"], int(row["frame"]), np.ascontiguousarray(pixels[:, :, ::-1])


def filmed(study: Path) -> Iterator[Frame]:
    """Yield the same of the videos of a study."""
    for path in sorted((study / "exams").glob("*.mp4")):
        with av.open(str(path)) as container:
            for number, frame in enumerate(container.decode(video=0)):
                yield path.stem, number, frame.to_ndarray(format="rgb24")


def jpeg(pixels: Pixels) -> Any:
    """Compress and decompress at quality 70."""
    encoded = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 70])[1]
    decoded: Any = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    return np.ascontiguousarray(decoded[:, :, ::-1])


def scaled(pixels: Pixels, factor: float) -> Any:
    """Resize, as libraries do: by area down, cubic up."""
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=how)


def gamma(pixels: Pixels, power: float) -> Any:
    """Make darker (above 1) or brighter (below 1)."""
    return np.round(255 * (pixels / 255.0) ** power).astype(np.uint8)


def cropped(pixels: Pixels, share: float) -> Any:
    """Cut a share of the side off each side."""
    cut = round(share * pixels.shape[0])
    return np.ascontiguousarray(pixels[cut:-cut, cut:-cut])


COPIES: dict[str, Callable[[Pixels], Any]] = {
    "JPEG, quality 70": jpeg,
    "two thirds of the size": lambda pixels: scaled(pixels, 2 / 3),
    "one and a half of the size": lambda pixels: scaled(pixels, 1.5),
    "x 1.1 + 10 grey levels": lambda pixels: cv2.convertScaleAbs(pixels, alpha=1.1, beta=10),
    "gamma 0.85": lambda pixels: gamma(pixels, 0.85),
    "gamma 1.2": lambda pixels: gamma(pixels, 1.2),
    "1 % cut off each side": lambda pixels: cropped(pixels, 0.01),
    "2 % cut off each side": lambda pixels: cropped(pixels, 0.02),
    "1 % cut, 2/3, gamma 1.15, JPEG": lambda pixels: jpeg(
        gamma(scaled(cropped(pixels, 0.01), 2 / 3), 1.15)
    ),
}


def bits_of(pixels: Any) -> NDArray[np.uint8] | None:
    """Return a look bit by bit."""
    found = phash(pixels)
    return None if found is None else np.unpackbits(np.frombuffer(found, np.uint8))


def measure(frames: Iterator[Frame]) -> None:
    """Print what is measured on the frames of several exams."""
    exams: list[str] = []
    numbers: list[int] = []
    looks: list[NDArray[np.uint8]] = []
    contrasts: list[float] = []
    copies: dict[str, list[int]] = {name: [] for name in COPIES}
    lost = 0
    for place, (exam, number, pixels) in enumerate(frames):
        contrasts.append(phash_contrast(pixels))
        bits = bits_of(pixels)
        if bits is None:
            continue
        exams.append(exam)
        numbers.append(number)
        looks.append(bits)
        for name, change in COPIES.items() if place % EVERY == 0 else ():
            copy = bits_of(change(pixels))
            lost += copy is None
            if copy is not None:
                copies[name].append(int((copy != bits).sum()))
    print(f"{len(contrasts)} frames of {len(set(exams))} exams, {len(looks)} with a look; contrast")
    print("  least, 1 %, median:", *np.quantile(contrasts, [0, 0.01, 0.5]).round(2))
    print(f"{'bits that differ':<36}{'n':>9}", *(f"{q:>6.0%}" for q in QUANTILES), "  within")
    for name, distances in copies.items():
        line(f"copy: {name}", np.array(distances))
    if lost:
        print(f"  {lost} copies had no look")
    code = np.unique(exams, return_inverse=True)[1]
    bits, number = np.array(looks), np.array(numbers)
    gap = np.where(code[1:] == code[:-1], number[1:] - number[:-1], 0)
    step = np.count_nonzero(bits[1:] != bits[:-1], axis=1)
    for low, high in ((1, 2), (3, 10), (11, 100)):
        chosen = step[(gap >= low) & (gap <= high)]
        if len(chosen):
            line(f"neighbours, {low} to {high} frames apart", chosen)
    counts = between(bits, code)
    total = int(counts.sum())
    print(f"different exams: {total} pairs, the nearest at {np.flatnonzero(counts)[0]} bits")
    for limit in LIMITS:
        share = counts[: limit + 1].sum() / total
        print(f"  within {limit:>3} bits: {1e6 * share:10.3f} per million pairs")


def between(bits: NDArray[np.uint8], code: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count the pairs of frames of different exams by their distance."""
    counts = np.zeros(BITS + 1, np.int64)
    signs = 2 * bits.astype(np.float32) - 1
    for exam in np.unique(code):
        # The product of signs is the bits that agree minus those that differ.
        products = signs[code == exam] @ signs[code > exam].T
        distances = np.round((BITS - products) / 2).astype(np.int64)
        counts += np.bincount(distances.ravel(), minlength=BITS + 1)
    return counts


def line(name: str, distances: NDArray[Any]) -> None:
    """Print the quantiles, and the share within the limit."""
    figures = (f"{value:>6.0f}" for value in np.quantile(distances, QUANTILES))
    print(
        f"{name:<36}{len(distances):>9}",
        *figures,
        f"{np.mean(distances <= NEAR_DUPLICATE_BITS):>8.1%}",
    )


def main() -> None:
    """Measure both."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table, study = (Path(argument) for argument in sys.argv[1:])
    measure(listed(table))
    print()
    measure(filmed(study))


if __name__ == "__main__":
    main()
