"""Measure the search on random synthetic exams: python -m tests.field_of_view.measure 60."""

import sys
import time

import numpy as np
from tests.field_of_view.conftest import Scene, make, truth

from capsieve import find_field_of_view

SURROUNDS = [(0, 0, 0), (45, 45, 48), (105, 105, 105), (150, 150, 155), (20, 40, 120)]
COUNTS = (30, 10, 3, 1)


def random_scene(seed: int) -> Scene:
    """A scene with random values, harder than most real ones."""
    draw = np.random.default_rng(1000 + seed)
    height = int(draw.choice([128, 224, 256, 336, 480]))
    width = int(height * draw.choice([1.0, 1.0, 1.25, 1.33]))
    kind = str(draw.choice(["circle", "circle", "circle", "cut-square", "rounded", "rectangle"]))
    half = height * float(draw.uniform(0.3, 0.56) if kind == "circle" else draw.uniform(0.38, 0.5))
    flat = -half * float(draw.uniform(0.06, 0.15)) if draw.random() < 0.15 else 0.0
    row, col = (height - 1) / 2, (width - 1) / 2
    if draw.random() < 0.7:
        row, col = row + height * draw.uniform(-0.08, 0.08), col + width * draw.uniform(-0.08, 0.08)
    return Scene(
        size=(height, width),
        kind=kind,
        centre=(float(row), float(col)),
        half=(half, half),
        cut=half * float(draw.uniform(0.25, 0.58)),
        flat=flat if half < 0.5 * height else 0.0,
        surround=SURROUNDS[draw.integers(len(SURROUNDS))],
        band=(20, 40, 120) if draw.random() < 0.1 else None,
        text=str(draw.choice(["none", "static", "changing", "overlapping"])),
        logo=bool(draw.random() < 0.3),
        soft=float(draw.choice([1, 1, 2, 3])),
        fall_off=float(draw.uniform(0, 1.05)),
        brightness=float(draw.choice([1, 1, 0.8, 0.5, 0.25])),
        noise=float(draw.uniform(0, 4)),
        jpeg=int(draw.choice([0, 95, 85, 70, 50])),
        frames=max(COUNTS),
        seed=seed,
    )


def main(number: int) -> None:
    """Print the error of centre or radius, whichever is larger, per number of frames."""
    misses: dict[int, list[float]] = {count: [] for count in COUNTS}
    sure: dict[int, list[float]] = {count: [] for count in COUNTS}
    spent = 0.0
    for seed in range(number):
        scene = random_scene(seed)
        frames, (row, col, radius) = make(scene), truth(scene)
        for count in COUNTS:
            start = time.perf_counter()
            seen = find_field_of_view(frames[:count])
            spent += time.perf_counter() - start
            off = np.hypot(seen.row - row, seen.col - col)
            misses[count].append(max(float(off), abs(seen.radius - radius)))
            sure[count].append(seen.confidence)
    print("frames  median  90 %  within 1 px  within 2 px  confidence right / wrong")
    for count in COUNTS:
        miss, trust = np.array(misses[count]), np.array(sure[count])
        wrong = f"{trust[miss > 2].mean():.2f}" if (miss > 2).any() else "-"
        print(
            f"{count:6d}  {np.median(miss):6.2f}  {np.percentile(miss, 90):4.2f}"
            f"  {(miss <= 1).mean():11.0%}  {(miss <= 2).mean():11.0%}"
            f"  {trust[miss <= 2].mean():.2f} / {wrong}"
        )
    print(f"{1000 * spent / (number * len(COUNTS)):.0f} ms a call")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
