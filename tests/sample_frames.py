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
