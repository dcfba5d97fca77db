"""exam.json: the record of a screened exam, and its ledger that adds up."""

import json
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError
from capsieve.store.schema import SCHEMA

__all__ = [
    "RECORD",
    "Ledger",
    "Record",
    "SourceRecord",
    "ViewRecord",
    "read_record",
    "write_record",
]

RECORD = "exam.json"


class Ledger(TypedDict):
    """Counts of frames that add up.

    found = decoded + undecodable + unscreened; decoded = unscorable + scored; scored = flagged +
    the sum of rejected; flagged = to_read + repeats.
    """

    declared: int | None  # by the container; never believed
    missing: int  # declared but not there
    found: int
    decoded: int
    undecodable: int
    unscreened: int  # their worker died again and again: nothing is known of them
    damaged: int  # of the decoded: the decoder had to fill in what was lost
    unscorable: int  # decoded, but no frame that the detector can take
    scored: int
    rejected: dict[str, int]  # by reason
    flagged: int
    repeats: int  # flagged, and nearly a copy of a flagged neighbour
    to_read: int
    events: int


class Stretch(TypedDict):
    """Something that is wrong, and where."""

    what: str
    head: int
    frames: int  # how many are concerned; 0 where it is not about frames
    first_frame: int | None
    last_frame: int | None
    first_time_s: float | None
    last_time_s: float | None
    file: str | None  # the first one, where frames are files


class SourceRecord(TypedDict):
    """Where a head's frames came from."""

    head: int
    kind: str
    path: str  # absolute
    relative: str  # from the exam's folder: a study that moves as a whole keeps together
    stream: int
    names: str
    sha256: str
    bytes: int
    declared: int | None
    description: dict[str, Any]


class ViewRecord(TypedDict):
    """The field of view of a head, for frames of one size."""

    head: int
    rows: int
    cols: int
    shape: str
    row: float
    col: float
    radius: float
    confidence: float
    found_by: str  # "search" or "choice"


class RangeMeasure(TypedDict):
    """How an exam compares with the range that the detector was calibrated on."""

    low: float  # the 1 % quantile of the reference; for the field of view with a slack below it
    high: float  # the 99 % quantile; for the field of view with a slack above it
    median: float | None  # of the exam
    below: float  # share of the exam's frames below low
    above: float  # share above high
    warning: str  # one sentence, or ""


class Record(TypedDict):
    """The whole of exam.json."""

    schema: int
    exam: str
    complete: bool
    ledger: Ledger
    heads: dict[str, Ledger]  # the same for each head
    problems: list[Stretch]
    range: dict[str, Any]  # {"reference": text, "measures": {name: RangeMeasure}}
    warnings: list[str]
    detector: dict[str, Any]  # name, version, parameters
    parameters: dict[str, Any]
    value_names: NotRequired[list[str]]  # of the column "values"; older records are without
    versions: dict[str, str]
    sources: list[SourceRecord]
    views: list[ViewRecord]
    tables: dict[str, str]  # the sha256 of each
    settings: dict[str, Any]
    identity: dict[str, Any]  # all that decides about the tables
    run: dict[str, Any]  # when, how fast, by how many; the only part that differs between runs


def write_record(record: Record, folder: Path) -> None:
    """Write exam.json into an exam's folder, whole or not at all."""
    with atomic_write(folder / RECORD) as temporary:
        temporary.write_text(
            json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )


def read_record(folder: Path) -> Record:
    """Read the record of an exam's folder.

    Raises
    ------
    FileError
        There is none, it is damaged, or of a schema that this version does not know.
    """
    path = folder / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(
            f"{folder} holds no screened exam: there is no {RECORD}; run capsieve screen first"
        ) from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise FileError(
            f"{path} is damaged ({error}); screen the exam again, with --fresh"
        ) from error
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        version = record.get("schema") if isinstance(record, dict) else None
        raise FileError(
            f"{path} has the schema {version!r}, and this version of capsieve knows {SCHEMA}; "
            "screen the exam again, with --fresh"
        )
    return record  # pyright: ignore[reportReturnType]
