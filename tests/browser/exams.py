"""Exams that are screened once for all tests in the browser."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow.parquet as pq
import xxhash
from numpy.typing import NDArray

from support.small_exam import write_small_exam

__all__ = [
    "IMAGES",
    "TWO_HEADS",
    "VIDEO",
    "decoded_video",
    "digest",
    "events_of",
    "free_frame",
    "key_frames_of",
    "nearest",
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
    size = ("--patients", "1", "--polyps", "2", "--size", "256", "--seed", "5")
    _capsieve("phantom", "-o", folder / "one", "--frames", "40", *size)
    _capsieve("phantom", "-o", folder / "two", "--frames", "12", "--heads", "2", *size)
    _capsieve("screen", folder / "one" / "exams", "-o", out)
    for number, head in enumerate(sorted((folder / "two" / "exams").iterdir())):
        head.rename(head.with_name(f"{TWO_HEADS}-head-{number}{head.suffix}"))
    loose = folder / "loose.toml"
    loose.write_text(_LOOSE)
    _capsieve("screen", folder / "two" / "exams", "-o", out, "--parameters", loose)
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


def free_frame(out: Path, exam: str) -> int:
    """Return the first frame of head 0 that is in no event."""
    spans = [event for event in events_of(out, exam) if event["head"] == 0]
    taken = {n for each in spans for n in range(each["first_frame"], each["last_frame"] + 1)}
    return next(row["frame"] for row in rows_of(out, exam) if row["frame"] not in taken)


def key_frames_of(out: Path, exam: str) -> set[int]:
    """Return the frames of a video that are decoded without any other."""
    packets = pq.read_table(out / exam / "packets.parquet")["key"].to_pylist()
    return {row["frame"] for row in rows_of(out, exam) if packets[row["packet"]]}


def decoded_video(out: Path) -> list[NDArray[Any]]:
    """Return the frames of the exam VIDEO, decoded without capsieve."""
    path = next((out.parent / "one" / "exams").iterdir())
    with av.open(str(path)) as source:
        return [frame.to_ndarray(format="rgb24") for frame in source.decode(video=0)]


def nearest(image: NDArray[Any], frames: list[NDArray[Any]]) -> int:
    """Return which of the frames an image shows; a JPEG differs a little from its frame."""
    away = [np.abs(image - frame.astype(int)).mean() for frame in frames]
    assert min(away) < 2
    return int(np.argmin(away))


def digest(pixels: NDArray[Any]) -> str:
    """Return the hash of a frame, like the column pixel_hash."""
    return xxhash.xxh3_128_hexdigest(pixels.tobytes())


def _capsieve(command: str, *arguments: str | Path) -> None:
    line = [sys.executable, "-m", "capsieve", command, *map(str, arguments), "--quiet"]
    subprocess.run(
        [*line, "--workers", "1"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
