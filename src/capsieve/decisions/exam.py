"""Events, listed frames, identity and screening of an exam, as decisions need them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.decisions.model import canonical, event_subject
from capsieve.errors import file_errors
from capsieve.frame_table import to_read
from capsieve.store.exam import Exam
from capsieve.store.frame_columns import COLUMNS, frame_columns


@dataclass(frozen=True, slots=True)
class Event:
    """A candidate polyp: head and best frame, which name it, and its flagged frames in order."""

    head: int
    best: int
    frames: tuple[int, ...]

    @property
    def subject(self) -> str:
        """Its name: a longer reading list keeps it."""
        return event_subject(self.head, self.best)


def flagged_events(folder: Path) -> tuple[Event, ...]:
    """Return the events of an exam with all of their flagged frames, best first.

    Raises
    ------
    FileError
        A table cannot be read.
    """
    return _tables(folder, _stamps(folder))[0]


def listed_frames(folder: Path) -> Mapping[int, NDArray[np.bool_]]:
    """Return for each head which frames are listed: flagged, without near-duplicates.

    Raises
    ------
    FileError
        A table cannot be read.
    """
    return _tables(folder, _stamps(folder))[1]


def _stamps(folder: Path) -> tuple[int, ...]:
    stamps: list[int] = []
    for name in ("frames.parquet", "events.parquet"):
        with file_errors("read", folder / name):
            stamps.append((folder / name).stat().st_mtime_ns)
    return tuple(stamps)


@lru_cache(maxsize=64)  # every decision asks for them
def _tables(
    folder: Path, _stamps: tuple[int, ...]
) -> tuple[tuple[Event, ...], dict[int, NDArray[np.bool_]]]:
    exam = Exam(folder)
    frames = frame_columns({folder.name: exam.columns(*COLUMNS)})
    of_event: dict[int, list[int]] = {}
    for place in np.flatnonzero(frames.event >= 0).tolist():  # in the order of heads and frames
        of_event.setdefault(int(frames.event[place]), []).append(int(frames.frame[place]))
    listed = to_read(frames.event, frames.score, frames.duplicate_of)
    rows = exam.columns(table="events").to_pylist()
    events = tuple(
        Event(
            row["head"], row["best_frame"], tuple(of_event.get(row["event"], [row["best_frame"]]))
        )
        for row in sorted(rows, key=lambda row: row["event"])
    )
    return events, {head: listed[frames.head == head] for head in exam.heads}


def signed_identity(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the identity of an exam that a signature covers, from its record."""
    names = ("head", "kind", "stream", "names", "sha256", "bytes")
    return {
        **{name: record[name] for name in ("exam", "tables", "identity", "versions")},
        "sources": [{name: source[name] for name in names} for source in record["sources"]],
    }


def screening_of(record: Mapping[str, Any]) -> str:
    """Return a hash that changes when an exam is screened again with other scores.

    A longer reading list (``capsieve flag``) does not change it.
    """
    return hash_json({name: record[name] for name in ("identity", "versions")})


def hash_json(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
