"""Frames that several tests use."""

import csv
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

GOLDEN = Path(__file__).parent / "golden"
CAPSULE = Path(__file__).parents[2] / "shared" / "data" / "capsule"


def golden_frame(name: str) -> tuple[NDArray[np.uint8], dict]:
    """Return a synthetic frame and what an independent implementation says of it."""
    with np.load(GOLDEN / f"frame_{name}.npz") as stored:
        pixels = stored[stored.files[0]]
    return pixels, json.loads((GOLDEN / f"frame_{name}.json").read_text())


GOLDEN_FRAMES = sorted(path.stem.removeprefix("frame_") for path in GOLDEN.glob("frame_*.json"))


def real_frames(count: int) -> list[Path]:
    """Return that many real frames, spread evenly over sources, exams and labels."""
    with (CAPSULE / "frames.csv").open() as table:
        rows = sorted(
            csv.DictReader(table),
            key=lambda row: (row["source"], row["label"], row["video"], int(row["frame"])),
        )
    picked = np.linspace(0, len(rows) - 1, count).astype(int)
    return [CAPSULE / rows[index]["file"] for index in picked]


def smooth_noise(shape, seed=0, size=24.0):
    """Bumps of about that size on grey, as 8 bits."""
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[: shape[0], : shape[1]]
    frame = np.full(shape, 90.0)
    for _ in range(30):
        r, c, height = rng.uniform(0, shape[0]), rng.uniform(0, shape[1]), rng.uniform(-40, 70)
        frame += height * np.exp(-((rows - r) ** 2 + (cols - c) ** 2) / (2 * (size / 2) ** 2))
    return np.clip(frame + rng.normal(0, 4, shape), 0, 255).astype(np.uint8)
