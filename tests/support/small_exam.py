"""A small exam with its images, as if it had been screened: nothing is scored, so it is quick."""

from pathlib import Path

import numpy as np
from PIL import Image

from support.results import frame_hash, write_results

__all__ = ["EVENTS_OF_SMALL", "FRAMES", "SIZE", "small_frame", "write_small_exam"]

FRAMES = 24
SIZE = 96
EVENTS_OF_SMALL = ((0, 5), (20, 23))
"""First and last frame of each event; all frames between are flagged."""


def small_frame(number: int) -> np.ndarray:
    """Return a frame that differs from all others."""
    rows, cols = np.mgrid[:SIZE, :SIZE]
    waves = 120 + 60 * np.sin(rows / 9 + number) + 40 * np.cos(cols / 7)
    return np.stack([waves, waves * 0.6, waves * 0.4], axis=-1).astype(np.uint8)


def write_small_exam(out: Path, source: Path, *, exam: str = "small") -> Path:
    """Write images, and results that name them; return OUT/EXAM."""
    source.mkdir(parents=True)
    names = [f"frame{number}.png" for number in range(FRAMES)]
    for number, name in enumerate(names):
        Image.fromarray(small_frame(number)).save(source / name)
    event: list[int | None] = [None] * FRAMES
    score = np.full(FRAMES, 20.0)
    rows = []
    for rank, (first, last) in enumerate(EVENTS_OF_SMALL, 1):
        event[first : last + 1] = [rank] * (last + 1 - first)
        score[first : last + 1] = 60.0 - rank
        rows.append(
            {
                "event": rank,
                "head": 0,
                "first_frame": first,
                "last_frame": last,
                "best_frame": first,
                "score": 60.0 - rank,
                "frames": last + 1 - first,
                "to_read": last + 1 - first,
                "best_file": names[first],
                "row": 40.0,
                "col": 50.0,
                "radius": 20.0,
            }
        )
    folder = out / exam
    write_results(
        folder,
        score=score,
        events=rows,
        file=names,
        event=event,
        pixel_hash=[frame_hash(small_frame(number)) for number in range(FRAMES)],
        rows=np.full(FRAMES, SIZE),
        cols=np.full(FRAMES, SIZE),
        record={
            "fields_of_view": [],
            "sources": [
                {
                    "head": 0,
                    "kind": "folder",
                    "path": str(source),
                    "relative": str(Path("..") / ".." / source.name),
                    "stream": 0,
                    "names": "",
                    "sha256": "0" * 64,
                    "stamp": "",
                    "bytes": 1,
                    "declared": None,
                    "description": {"rows": SIZE, "cols": SIZE},
                }
            ],
        },
    )
    return folder
