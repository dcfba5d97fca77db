"""The screened exams: what was found in each, and what is wrong with damaged ones.

The list of a thousand exams is asked for often. Each exam is read once, and again if its record has
changed. Exams that are screened while the server runs appear.
"""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from capsieve.decisions.exam import screening_of
from capsieve.decisions.model import UnreachableError, stored_text
from capsieve.errors import FileError
from capsieve.names import natural_key
from capsieve.report.text import count, plain, plural
from capsieve.report.words import flagging_words, out_of_range
from capsieve.store.record import RECORD, Record, read_record
from capsieve.store.segments import unfinished

_ADVICE = "screen the exam again, with --overwrite"


@dataclass(frozen=True, slots=True)
class ExamFacts:
    """What is known of an exam without its decisions.

    Attributes
    ----------
    exam
        The name of its folder.
    folder
        Its folder. Requests never name a path: they name an exam, which is looked up.
    stamp
        Changes when the record is written.
    screening
        Changes when the exam is screened again with other results.
    readable
        Whether it can be opened; `problems` say why not.
    problems
        One message each.
    frames_by_head, events, flagged, to_read, without_picture
        Numbers of frames and events.
    duration_s
        From the first frame to the last; None if times are unknown.
    out_of_range, flagging
        How the exam differs from the detector's data; and the rule of the flags.
    """

    exam: str
    folder: Path
    stamp: str
    readable: bool
    complete: bool
    problems: tuple[str, ...]
    frames_by_head: Mapping[int, int] = field(default_factory=dict)
    events: int = 0
    flagged: int = 0
    to_read: int = 0
    without_picture: int = 0
    duration_s: float | None = None
    screened_at: str | None = None
    screening: str = ""
    out_of_range: tuple[str, ...] = ()
    flagging: str = ""

    @property
    def frames(self) -> int:
        """The frames of all heads."""
        return sum(self.frames_by_head.values())


class Catalogue:
    """Looks exams up. Threads may share it.

    Parameters
    ----------
    out
        The folder of ``capsieve screen -o``.
    only
        The name of the one exam that is shown; None for all.
    """

    def __init__(self, out: Path, *, only: str | None = None) -> None:
        self.out = out
        self._only = only
        self._known: dict[str, ExamFacts] = {}
        self._listing = threading.Lock()  # two threads need not read a thousand exams

    def exams(self) -> list[ExamFacts]:
        """Return all exams, in natural order of their names.

        Raises
        ------
        UnreachableError
            The folder of results cannot be read now.
        """
        with self._listing:
            found = [self._facts(folder) for folder in self._folders()]
            exams = [facts for facts in found if facts is not None]
            self._known = {facts.exam: facts for facts in exams}
        return sorted(exams, key=lambda facts: natural_key(facts.exam))

    def find(self, exam: str) -> ExamFacts | None:
        """Return an exam by its name; None if there is none of that name.

        Raises
        ------
        UnreachableError
            The folder of results cannot be read now.
        """
        # The name is compared with what the folder holds, and never becomes a path.
        known = self._known.get(exam)
        if known is not None and (facts := self._facts(known.folder)) is not None:
            return facts
        folder = next((each for each in self._folders() if each.name == exam), None)
        return None if folder is None else self._facts(folder)

    def _folders(self) -> list[Path]:
        try:
            with os.scandir(self.out) as entries:
                return [
                    Path(entry.path)
                    for entry in entries
                    if not entry.name.startswith(".")
                    and self._only in (None, entry.name)
                    and entry.is_dir()
                ]
        except OSError as error:  # a disk that is not mounted, a folder that was moved
            raise UnreachableError(
                f"the folder of the results cannot be read now ({error.strerror}); bring it back, "
                "and nothing is lost"
            ) from error

    def _facts(self, folder: Path) -> ExamFacts | None:
        """Return what is known of a folder; None if it is not an exam."""
        stamp = _stamp(folder)
        if stamp is None:
            return None
        known = self._known.get(folder.name)
        # What could not be read is read again: a disk can come back with the same stamp.
        if known is None or not known.readable or known.stamp != stamp:
            known = self._known[folder.name] = _read(folder, stamp)
        return known


def _stamp(folder: Path) -> str | None:
    """Return a text that changes when the exam does; None if there is no exam."""
    try:
        found = os.stat(folder / RECORD)
        return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"
    except FileNotFoundError:
        return "unfinished" if unfinished(folder) else None
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _read(folder: Path, stamp: str) -> ExamFacts:
    """Read an exam; the list shows what is wrong with it next to the others."""
    name = stored_text(folder.name)
    if name != folder.name:
        problem = "The name of its folder is not valid UTF-8: rename the folder."
    elif stamp == "unfinished":
        problem = (
            "Its screening is not finished: it appears here when it is, or run the same capsieve "
            "screen again."
        )
    else:
        try:
            return _facts_of(folder, stamp, read_record(folder))
        except FileError as error:
            problem = _sentence(plain(error).replace(f"{folder}/", ""))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            cause = f"{type(error).__name__}: {plain(error)}"
            problem = f"Its record cannot be read ({cause}); {_ADVICE}."
    return ExamFacts(name, folder, stamp, readable=False, complete=False, problems=(problem,))


def _facts_of(folder: Path, stamp: str, record: Record) -> ExamFacts:
    counts = record["frame_counts"]
    rows, duration = _footer(folder / "frames.parquet")
    if rows != counts["found"]:
        raise FileError(
            f"frames.parquet has {count(rows)} frames and {RECORD} {count(counts['found'])}; "
            f"{_ADVICE}"
        )
    finished = record["run"].get("finished")
    return ExamFacts(
        exam=folder.name,
        folder=folder,
        stamp=stamp,
        readable=True,
        complete=bool(record["complete"]),
        problems=tuple(_problems(record)),
        frames_by_head={int(head): each["found"] for head, each in sorted(record["heads"].items())},
        events=counts["events"],
        flagged=counts["flagged"],
        to_read=counts["to_read"],
        without_picture=counts["found"] - counts["decoded"],
        duration_s=duration,
        screened_at=finished if isinstance(finished, str) else None,
        screening=screening_of(record),
        out_of_range=tuple(map(plain, out_of_range(record))),
        flagging=flagging_words(record["flagging"]),
    )


def _footer(path: Path) -> tuple[int, float | None]:
    """Return how many frames a table has, and the time that they span, from its footer alone."""
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            footer = file.metadata
            column = file.schema_arrow.get_field_index("time_s")
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"cannot read {path.name} ({error}); {_ADVICE}") from error
    # Nested columns come after this one: its index in the footer is that in the schema.
    parts = [footer.row_group(group).column(column) for group in range(footer.num_row_groups)]
    known = [part.statistics for part in parts if part.statistics and part.statistics.has_min_max]
    if column < 0 or not known:
        return footer.num_rows, None
    first, last = min(each.min for each in known), max(each.max for each in known)
    return footer.num_rows, float(last - first)


def _problems(record: Record) -> list[str]:
    """Return what was wrong with the exam's frames, one message for each kind."""
    found: dict[str, int] = {}
    for problem in record["problems"]:
        found[problem["what"]] = found.get(problem["what"], 0) + problem["frames"]
    lines = [
        _sentence(f"{plain(what)}: {plural(frames, 'frame')}" if frames else plain(what))
        for what, frames in found.items()
    ]
    missing = record["frame_counts"]["missing"]
    if missing:
        lines.append(f"The source declares {plural(missing, 'frame')} more than it holds.")
    return lines


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
