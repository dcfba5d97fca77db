"""The exams of a room: what the sieve found in each, and what is wrong with those that are broken.

A list of a thousand exams is asked for often. Each exam is read once, and again when its record
has changed; between, one look at the folders is all it takes. Exams that are screened while the
room is open appear.
"""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from capsieve.decisions.exam import screening_of
from capsieve.decisions.model import UnreachableError
from capsieve.errors import FileError
from capsieve.names import natural_key
from capsieve.report.text import count, plain, plural
from capsieve.store.record import RECORD, Record, read_record
from capsieve.store.segments import unfinished

__all__ = ["Catalogue", "ExamFacts"]


@dataclass(frozen=True, slots=True)
class ExamFacts:
    """What the list says of an exam, but for what readers said.

    Attributes
    ----------
    exam
        Its id: the name of its folder.
    folder
        Where it is. Requests never name a path: they name an exam, which is looked up.
    stamp
        Changes whenever the record is written.
    screening
        Changes whenever the exam is screened anew, with other results.
    readable
        Whether it can be opened; `problems` say why not.
    problems
        One sentence each.
    frames, heads, events, flagged, to_read
        Counts, and the numbers of the heads.
    duration_s
        From the first frame to the last; None where times are unknown.
    """

    exam: str
    folder: Path
    stamp: str
    readable: bool
    complete: bool
    problems: tuple[str, ...]
    frames: int = 0
    heads: tuple[int, ...] = ()
    frames_by_head: Mapping[int, int] = field(default_factory=dict)
    events: int = 0
    flagged: int = 0
    to_read: int = 0
    duration_s: float | None = None
    screened_at: str | None = None
    screening: str = ""


class Catalogue:
    """Looks exams up.

    Parameters
    ----------
    out
        What was given to ``capsieve screen -o``.
    only
        The name of the one exam that is shown; None for all.
    """

    def __init__(self, out: Path, *, only: str | None = None) -> None:
        self.out = out
        self._only = only
        self._known: dict[str, ExamFacts] = {}
        self._lock = threading.Lock()

    def exams(self) -> list[ExamFacts]:
        """Return all exams, in natural order of their names.

        Raises
        ------
        UnreachableError
            The folder of results cannot be read just now.
        """
        with self._lock:
            found = {}
            for folder in self._folders():
                facts = self._facts(folder)
                if facts is not None:
                    found[facts.exam] = facts
            self._known = found
        return sorted(found.values(), key=lambda facts: natural_key(facts.exam))

    def find(self, exam: str) -> ExamFacts | None:
        """Return an exam by its id; None where there is none of that name.

        Raises
        ------
        UnreachableError
            The folder of results cannot be read just now.
        """
        # The name is compared with what the folder holds, and never becomes a path.
        with self._lock:
            known = self._known.get(exam)
            folder = known.folder if known else self._folder_named(exam)
            if folder is None:
                return None
            facts = self._facts(folder)
            if facts is not None:
                self._known[exam] = facts
            else:
                self._folders()  # an exam is gone when the others are there
                self._known.pop(exam, None)
            return facts

    def _folder_named(self, exam: str) -> Path | None:
        return next((folder for folder in self._folders() if folder.name == exam), None)

    def _folders(self) -> list[Path]:
        try:
            with os.scandir(self.out) as entries:
                return [
                    Path(entry.path)
                    for entry in entries
                    if not entry.name.startswith(".")
                    and (self._only is None or entry.name == self._only)
                    and entry.is_dir()
                ]
        except OSError as error:  # a disk that is not mounted, a folder that was moved
            raise UnreachableError(
                f"the folder of the results cannot be read just now ({error.strerror}); bring it "
                "back, and nothing is lost"
            ) from error

    def _facts(self, folder: Path) -> ExamFacts | None:
        """Return what is known of a folder; None where it is no exam."""
        stamp = _stamp(folder)
        if stamp is None:
            return None
        known = self._known.get(folder.name)
        # What could not be read is read again: a disk can come back, and the stamp tells it not.
        still_holds = known is not None and known.readable and known.stamp == stamp
        return known if still_holds else _read(folder, stamp)


def _stamp(folder: Path) -> str | None:
    """Return a text that changes when the exam does; None where there is no exam."""
    try:
        found = os.stat(folder / RECORD)
        return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"
    except FileNotFoundError:
        return "unfinished" if unfinished(folder) else None
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _read(folder: Path, stamp: str) -> ExamFacts:
    """Read an exam; whatever is wrong with it is said of it, and is no concern of the others."""
    if stamp == "unfinished":
        return _broken(
            folder,
            stamp,
            "Its screening is not finished: it appears here when it is, or run the same capsieve "
            "screen again.",
        )
    try:
        record = read_record(folder)
        return _facts_of(folder, stamp, record)
    except FileError as error:
        return _broken(folder, stamp, _sentence(plain(error).replace(f"{folder}/", "")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return _broken(
            folder,
            stamp,
            f"Its record cannot be understood ({type(error).__name__}: {plain(error)}); screen it "
            "again, with --overwrite.",
        )


def _facts_of(folder: Path, stamp: str, record: Record) -> ExamFacts:
    counts = record["frame_counts"]
    heads = {int(head): each["found"] for head, each in record["heads"].items()}
    path = folder / "frames.parquet"
    try:
        rows, duration = _times(path)
    except (OSError, pa.ArrowException) as error:
        raise FileError(
            f"cannot read {path.name} ({error}); screen the exam again, with --overwrite"
        ) from error
    if rows != counts["found"]:
        raise FileError(
            f"{path.name} has {count(rows)} frames and {RECORD} {count(counts['found'])}; screen "
            "the exam again, with --overwrite"
        )
    return ExamFacts(
        exam=folder.name,
        folder=folder,
        stamp=stamp,
        readable=True,
        complete=bool(record["complete"]),
        problems=tuple(_problems(record)),
        frames=counts["found"],
        heads=tuple(sorted(heads)),
        frames_by_head=heads,
        events=counts["events"],
        flagged=counts["flagged"],
        to_read=counts["to_read"],
        duration_s=duration,
        screened_at=_finished(record),
        screening=screening_of(record),
    )


def _times(path: Path) -> tuple[int, float | None]:
    """Return how many frames a table has, and the time that they span, from its footer alone."""
    with pq.ParquetFile(path, memory_map=True) as file:
        footer = file.metadata
        column = file.schema_arrow.get_field_index("time_s")
        # Nested columns come after this one: its place in the footer is that in the schema.
        parts = [footer.row_group(group).column(column) for group in range(footer.num_row_groups)]
    known = [part.statistics for part in parts if part.statistics and part.statistics.has_min_max]
    if column < 0 or not known:
        return footer.num_rows, None
    first, last = min(each.min for each in known), max(each.max for each in known)
    return footer.num_rows, float(last - first)


def _problems(record: Record) -> list[str]:
    """Return what was wrong with the exam's frames, one sentence for each kind."""
    found: dict[str, int] = {}
    for stretch in record["problems"]:
        found[stretch["what"]] = found.get(stretch["what"], 0) + stretch["frames"]
    lines = [
        _sentence(f"{plain(what)}: {plural(frames, 'frame')}" if frames else plain(what))
        for what, frames in found.items()
    ]
    missing = record["frame_counts"]["missing"]
    if missing:
        lines.append(f"The source declares {plural(missing, 'frame')} more than it holds.")
    return lines


def _finished(record: Record) -> str | None:
    finished: Any = record["run"].get("finished")
    return finished if isinstance(finished, str) else None


def _broken(folder: Path, stamp: str, problem: str) -> ExamFacts:
    return ExamFacts(
        exam=folder.name,
        folder=folder,
        stamp=stamp,
        readable=False,
        complete=False,
        problems=(problem,),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
