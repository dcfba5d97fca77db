"""Events, identity and screening of a screened exam, as decisions need them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from capsieve.decisions.model import canonical, event_subject
from capsieve.errors import file_errors
from capsieve.store.exam import Exam


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
    """Return the events of an exam with all of their flagged frames.

    Raises
    ------
    FileError
        A table cannot be read.
    """
    paths = [folder / name for name in ("frames.parquet", "events.parquet")]
    stamps: list[int] = []
    for path in paths:
        with file_errors("read", path):
            stamps.append(path.stat().st_mtime_ns)
    return _events(folder, tuple(stamps))


@lru_cache(maxsize=64)  # every decision asks for them
def _events(folder: Path, _stamps: tuple[int, ...]) -> tuple[Event, ...]:
    exam = Exam(folder)
    table = exam.columns("frame", "event")
    event = np.asarray(table["event"].fill_null(-1).to_numpy(), np.int64)
    frame = np.asarray(table["frame"].to_numpy(), np.int64)
    frames: dict[int, list[int]] = {}
    for place in np.flatnonzero(event >= 0).tolist():  # in the order of heads and frames
        frames.setdefault(int(event[place]), []).append(int(frame[place]))
    rows = exam.columns(table="events").to_pylist()
    return tuple(
        Event(row["head"], row["best_frame"], tuple(frames.get(row["event"], [row["best_frame"]])))
        for row in sorted(rows, key=lambda row: row["event"])
    )


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
