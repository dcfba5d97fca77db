"""Cut windows with and without a polyp: ``python tools/cut_windows.py FRAMES OUT``.

FRAMES is a CSV file with the columns file, mask (both beside it) and sequence, every frame with a
polyp. OUT becomes a folder with two square windows of each frame, half as high as the frame: one
around the polyp's centre, and the nearest one that shows nothing of it and little of the rim.
Frames without room for the second are left out. OUT/labels.csv says which is which.

A detector that finds polyps tells the two apart; the camera, the light and the patient are the
same in both. So sets of polyp frames without normal ones can say how well a detector does on
another device. See docs/results.md, which holds the figures.
"""

import csv
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

STEP = 4  # pixels from one window that is tried to the next
SEEN = 0.9  # share of a window that shows something
DARK = 25  # grey levels of the brightest channel; the rim around the picture is darker


def window_at_polyp(polyp: NDArray[np.bool_], side: int) -> tuple[int, int]:
    """Return the first row and column of the window around the centre, moved into the frame."""
    highest = np.array(polyp.shape) - side
    row, col = np.clip(np.rint(_centre(polyp) - side / 2), 0, highest).astype(int)
    return int(row), int(col)


def window_beside_polyp(
    polyp: NDArray[np.bool_], seen: NDArray[np.bool_], side: int
) -> tuple[int, int] | None:
    """Return the same of the window nearest to the centre that shows nothing of the polyp."""
    rows, cols = np.meshgrid(
        *(np.arange(0, length - side + 1, STEP) for length in polyp.shape), indexing="ij"
    )
    free = (_sums(polyp, rows, cols, side) == 0) & (
        _sums(seen, rows, cols, side) >= SEEN * side * side
    )
    if not free.any():
        return None
    row, col = _centre(polyp)
    distance = np.hypot(rows + side / 2 - row, cols + side / 2 - col)
    best = np.argmin(np.where(free, distance, np.inf))
    return int(rows.flat[best]), int(cols.flat[best])


def _centre(polyp: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.argwhere(polyp).mean(0)


def _sums(
    mask: NDArray[np.bool_], rows: NDArray[np.int64], cols: NDArray[np.int64], side: int
) -> NDArray[np.int64]:
    """Return how many pixels of a mask each window holds."""
    table = np.pad(mask.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    low, right = rows + side, cols + side
    return table[low, right] - table[rows, right] - table[low, cols] + table[rows, cols]


def picture(path: Path, how: int) -> Any:
    """Read an image, or end with a sentence."""
    found: Any = cv2.imread(str(path), how)
    if found is None:
        sys.exit(f"{path} cannot be read as an image; mend the table, or bring the file")
    return found


def main(table: Path, out: Path) -> None:
    """Write windows and labels, and say how many."""
    if not table.is_file():
        sys.exit(f"{table} is no file; name the table of the frames")
    if out.exists():
        sys.exit(f"{out} exists; choose another folder")
    with table.open(newline="", encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    if not listed or not {"file", "mask", "sequence"} <= listed[0].keys():
        sys.exit(f"{table} must have rows, and the columns file, mask and sequence")
    out.mkdir(parents=True)
    labels: list[tuple[str, str, str, str]] = []
    for row in listed:
        pixels = picture(table.parent / row["file"], cv2.IMREAD_COLOR)
        polyp = picture(table.parent / row["mask"], cv2.IMREAD_GRAYSCALE) > 127
        if polyp.shape != pixels.shape[:2] or not polyp.any():
            sys.exit(f"{row['mask']} is no outline of a polyp in {row['file']}")
        side = len(polyp) // 2
        beside = window_beside_polyp(polyp, pixels.max(2) > DARK, side)
        if beside is None:
            continue
        name, sequence = Path(row["file"]).stem, row["sequence"]
        for kind, (first, left) in (("polyp", window_at_polyp(polyp, side)), ("normal", beside)):
            window = pixels[first : first + side, left : left + side]
            cv2.imwrite(str(out / f"{name}-{kind}.png"), window)
            shown = sequence if kind == "polyp" else ""
            labels.append((f"{name}-{kind}.png", kind, shown, f"sequence-{sequence}"))
    with (out / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("file", "label", "polyp", "patient"), *labels])
    sequences = len({patient for *_, patient in labels})
    print(f"{len(labels) // 2} of {len(listed)} frames, {sequences} sequences: two windows of each")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python tools/cut_windows.py FRAMES OUT")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
