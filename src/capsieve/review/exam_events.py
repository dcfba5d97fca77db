"""What decisions need to know of a screening: its events by their frames, and its identity."""

from pathlib import Path
from typing import Any

import numpy as np

from capsieve.review.decisions.subjects import FlaggedEvent
from capsieve.store.exam import Exam
from capsieve.store.record import read_record

__all__ = ["flagged_events", "signed_identity"]


def flagged_events(folder: Path) -> list[FlaggedEvent]:
    """Return the events of an exam with all of their flagged frames.

    Raises
    ------
    FileError
        The table cannot be read.
    """
    table = Exam(folder).columns("head", "frame", "event")
    event = np.asarray(table["event"].fill_null(-1).to_numpy(), np.int64)
    head, frame = (np.asarray(table[name].to_numpy(), np.int64) for name in ("head", "frame"))
    found: dict[tuple[int, int], list[int]] = {}
    for place in np.flatnonzero(event >= 0).tolist():  # in the order of heads and frames
        found.setdefault((int(event[place]), int(head[place])), []).append(int(frame[place]))
    return [FlaggedEvent(of, tuple(frames)) for (_, of), frames in sorted(found.items())]


def signed_identity(folder: Path) -> dict[str, Any]:
    """Return what a signature says that the exam was: its sources, its tables, how it was screened.

    Raises
    ------
    FileError
        The record cannot be read.
    """
    record = read_record(folder)
    return {
        "exam": record["exam"],
        "sources": [
            {name: source[name] for name in ("head", "kind", "stream", "names", "sha256", "bytes")}
            for source in record["sources"]
        ],
        "tables": record["tables"],
        "identity": record["identity"],
        "versions": record["versions"],
    }
