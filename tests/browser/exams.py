"""Exams that are screened once for all tests in the browser."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from capsieve.frames import pixel_hash
from capsieve.sources.source import Place, open_source
from support.results import write_results, write_table
from support.small_exam import write_small_exam

__all__ = [
    "IMAGES",
    "TWO_HEADS",
    "VIDEO",
    "events_of",
    "rows_of",
    "write_exams",
    "write_long_exam",
]

VIDEO, IMAGES, TWO_HEADS = "patient-1", "small", "both"


def write_exams(folder: Path) -> Path:
    """Render, screen, and return OUT."""
    out = folder / "out"
    size = ("--patients", "1", "--polyps", "2", "--size", "256", "--seed", "3")
    _capsieve("phantom", "-o", folder / "one", "--frames", "40", *size)
    _capsieve("phantom", "-o", folder / "two", "--frames", "12", "--heads", "2", *size)
    _capsieve("screen", folder / "one" / "exams", "-o", out)
    heads = sorted((folder / "two" / "exams").iterdir())
    _capsieve("screen", *heads, "--one-exam", TWO_HEADS, "-o", out)
    write_small_exam(out, folder / "source", exam=IMAGES)
    assert len(events_of(out, VIDEO)) >= 5, "the tests decide five events"
    return out


def write_long_exam(out: Path, video: Path, clip: Path, *, exam: str) -> int:
    """Write the results of a video that shows a clip over and over; return how many frames it has.

    Only the clip is decoded. Every thousandth frame is flagged.
    """
    short = open_source(Place("video", str(clip)))
    pixels = [f.pixels for each in short.survey().segments for f in short.frames(each)]
    digests = [pixel_hash(each) for each in pixels if each is not None]
    rows, cols = pixels[0].shape[:2] if pixels[0] is not None else (0, 0)
    source = open_source(Place("video", str(video)))
    survey = source.survey()
    frames = [frame for each in survey.segments for frame in source.expected(each)]
    count = len(frames)
    flagged = np.arange(0, count, 1000)
    score = np.full(count, 20.0)
    score[flagged] = 50.0
    event: list[int | None] = [None] * count
    for rank, number in enumerate(flagged.tolist(), 1):
        event[number] = rank
    write_results(
        out / exam,
        score=score,
        time_s=np.array([frame.time for frame in frames]),
        event=event,
        pts=[frame.pts for frame in frames],
        sha1=[digests[number % len(digests)] for number in range(count)],
        rows=np.full(count, rows),
        cols=np.full(count, cols),
        record={
            "views": [],
            "sources": [
                {
                    "head": 0,
                    "kind": "video",
                    "path": str(video),
                    "relative": str(Path("..") / ".." / video.name),
                    "stream": 0,
                    "names": "",
                    "sha256": survey.sha256,
                    "bytes": survey.size,
                    "declared": None,
                    "description": {"rows": rows, "cols": cols},
                }
            ],
        },
    )
    events = [
        {
            **{"event": rank, "head": 0, "score": 50.0, "frames": 1, "to_read": 1},
            **{"first_frame": number, "last_frame": number, "best_frame": number},
            **{"row": rows / 2, "col": cols / 2, "radius": 40.0},
        }
        for rank, number in enumerate(flagged.tolist(), 1)
    ]
    write_table(out / exam, "events", events)
    return count


def rows_of(out: Path, exam: str, head: int = 0) -> list[dict]:
    """Return what the table says of a head's frames."""
    rows = pq.read_table(out / exam / "frames.parquet").to_pylist()
    return [row for row in rows if row["head"] == head]


def events_of(out: Path, exam: str) -> list[dict]:
    """Return the events, best first."""
    rows = pq.read_table(out / exam / "events.parquet").to_pylist()
    return sorted(rows, key=lambda row: row["event"])


def _capsieve(command: str, *arguments: str | Path) -> None:
    line = [sys.executable, "-m", "capsieve", command, *map(str, arguments), "--quiet"]
    subprocess.run(
        [*line, "--workers", "1"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
