"""Exams that are screened once for all tests in the browser."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from numpy.typing import NDArray

from support.small_exam import write_small_exam

__all__ = [
    "IMAGES",
    "TWO_HEADS",
    "VIDEO",
    "digest",
    "events_of",
    "rows_of",
    "write_exams",
]

VIDEO, IMAGES, TWO_HEADS = "patient-1", "small", "both"

# With these most frames are flagged: events on both heads at the same time, and interleaved ones.
_LOOSE = """
schema = 1
texture_low = 1.0
texture_high = 20.0
threshold_low = 0.05
threshold_high = 0.08
radius_threshold = 20
"""


def write_exams(folder: Path) -> Path:
    """Render, screen, and return OUT."""
    out = folder / "out"
    size = ("--patients", "1", "--polyps", "2", "--size", "256", "--seed", "3")
    _capsieve("phantom", "-o", folder / "one", "--frames", "40", *size)
    _capsieve("phantom", "-o", folder / "two", "--frames", "12", "--heads", "2", *size)
    _capsieve("screen", folder / "one" / "exams", "-o", out)
    heads = sorted((folder / "two" / "exams").iterdir())
    loose = folder / "loose.toml"
    loose.write_text(_LOOSE)
    _capsieve("screen", *heads, "--one-exam", TWO_HEADS, "-o", out, "--parameters", loose)
    write_small_exam(out, folder / "source", exam=IMAGES)
    assert len(events_of(out, VIDEO)) >= 5, "the tests decide five events"
    return out


def rows_of(out: Path, exam: str, head: int = 0) -> list[dict]:
    """Return what the table says of a head's frames."""
    rows = pq.read_table(out / exam / "frames.parquet").to_pylist()
    return [row for row in rows if row["head"] == head]


def events_of(out: Path, exam: str) -> list[dict]:
    """Return the events, best first."""
    rows = pq.read_table(out / exam / "events.parquet").to_pylist()
    return sorted(rows, key=lambda row: row["event"])


def digest(pixels: NDArray[Any]) -> str:
    """Return the hash of a frame, like the column sha1."""
    return hashlib.sha1(pixels.tobytes(), usedforsecurity=False).hexdigest()


def _capsieve(command: str, *arguments: str | Path) -> None:
    line = [sys.executable, "-m", "capsieve", command, *map(str, arguments), "--quiet"]
    subprocess.run(
        [*line, "--workers", "1"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
