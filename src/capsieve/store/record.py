"""exam.json: the record of a screened exam. It is validated when it is read."""

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from capsieve.atomic_write import write_json
from capsieve.errors import FileError, ParameterError, file_errors
from capsieve.frame_table import FlagRule
from capsieve.frames import ShapeName
from capsieve.parameters import Parameters
from capsieve.sources.base import Kind
from capsieve.store.schema import SCHEMA, SCREEN_AGAIN
from capsieve.user_files import read_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter

RECORD = "exam.json"

_NOT_A_NAME = re.compile(r"^\.|^$|[/\\\x00-\x1f]")


class FrameCounts(TypedDict):
    """Numbers of frames.

    found = decoded + undecodable + unscreened; decoded = unscorable + scored; scored = flagged +
    sum(rejected); flagged = to_read + near_duplicates.
    """

    declared: int | None  # by the container; not trusted
    missing: int  # declared but not found
    found: int
    decoded: int
    undecodable: int
    unscreened: int  # their worker failed repeatedly
    damaged: int  # scored, but the decoder replaced lost parts
    unscorable: int  # decoded, but the detector cannot score them
    scored: int
    rejected: dict[str, int]  # by reason
    flagged: int
    near_duplicates: int  # of a flagged frame of the same event
    to_read: int
    events: int


class ProblemRecord(TypedDict):
    """A fault of the source, or consecutive frames with the same problem."""

    what: str
    head: int
    frames: int  # 0 if it does not concern single frames
    first_frame: int | None
    last_frame: int | None
    first_time_s: float | None
    last_time_s: float | None
    file: str | None  # image sources: the first file


class SourceRecord(TypedDict):
    """The source of a head."""

    head: int
    kind: Kind
    path: str  # absolute
    relative: str  # from the exam's folder, for studies that are moved as a whole
    stream: int
    names: str
    sha256: str
    stamp: str  # see Source.stamp
    bytes: int
    declared: int | None
    description: dict[str, Any]


class FieldOfViewRecord(TypedDict):
    """The field of view of a head for frames of one size."""

    head: int
    rows: int
    cols: int
    shape: ShapeName
    row: float
    col: float
    radius: float
    confidence: float
    found_by: Literal["search", "choice"]


class RangeMeasure(TypedDict):
    """One measure of the exam compared with the range that the detector was tuned on."""

    low: float
    high: float
    median: float | None  # of the exam
    below: float  # fraction of the exam's frames below low
    above: float  # fraction above high
    warning: str  # a message, or ""


class RangeRecord(TypedDict):
    """The exam compared with the detector's reference."""

    reference: str
    measures: dict[str, RangeMeasure]


class Flagging(TypedDict):
    """The rule that flagged frames, and how the scores compare with the detector's threshold."""

    rule: Literal["threshold", "share", "count"]
    value: float
    frames: int  # on the reading list
    last_score: float | None  # lowest score on the list; None if the list is empty
    score_threshold: float | None  # of the detector
    share_above_threshold: float | None  # of the scored frames


class CalibrationRecord(TypedDict):
    """What calibration frames chose; their hashes are in a file next to the record."""

    chosen: str
    scores: bool  # whether the scores depend on it, or only the flags
    frames: int
    sha256: str  # of the file


class Record(TypedDict):
    """The content of exam.json."""

    schema: int
    exam: str
    complete: bool
    frame_counts: FrameCounts
    heads: dict[str, FrameCounts]  # by head
    problems: list[ProblemRecord]
    range: RangeRecord
    warnings: list[str]
    flagging: Flagging
    calibration: NotRequired[CalibrationRecord]  # see capsieve.store.choice
    detector: dict[str, Any]
    parameters: dict[str, Any]
    value_names: list[str]  # of the column "values"
    versions: dict[str, str]
    sources: list[SourceRecord]
    fields_of_view: list[FieldOfViewRecord]
    tables: dict[str, str]  # SHA-256 of each file
    settings: dict[str, Any]
    identity: dict[str, Any]  # everything that determines the scores
    run: dict[str, Any]  # date, speed, workers: the only part that differs between equal runs


def write_record(record: Record, folder: Path) -> None:
    """Write exam.json into a folder, complete or not at all."""
    write_json(record, folder / RECORD)


def read_record(folder: Path) -> Record:
    """Read and validate the record of an exam's folder.

    Raises
    ------
    FileError
        There is no record, it is damaged, has another schema version, or a field has a wrong
        type or value.
    """
    path = folder / RECORD
    with file_errors("read", path, SCREEN_AGAIN):
        if not path.exists():
            raise FileError(
                f"{folder} contains no screened exam: there is no {RECORD}; run capsieve screen "
                "first"
            )
        text = read_text(path)
    try:
        content = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is damaged ({error}); {SCREEN_AGAIN}") from error
    version = content.get("schema") if isinstance(content, dict) else None
    if version != SCHEMA:
        raise FileError(
            f"{path} has schema version {version!r}, this version of capsieve reads {SCHEMA}; "
            f"{SCREEN_AGAIN}"
        )
    return _validated(content, path)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _validated(content: dict[str, Any], path: Path) -> Record:
    from pydantic import ValidationError

    try:
        record = _validator().validate_python(content, strict=True, extra="forbid")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"]))
        message = first["msg"][0].lower() + first["msg"][1:]
        raise FileError(f"{path}: {field}: {message}; {SCREEN_AGAIN}") from None
    if _NOT_A_NAME.search(record["exam"]):
        raise FileError(
            f"{path}: exam: {record['exam']!r} is not a name of a folder; {SCREEN_AGAIN}"
        )
    try:
        Parameters.from_dict(record["parameters"])
    except ParameterError as error:
        raise FileError(f"{path}: parameters: {error}; {SCREEN_AGAIN}") from error
    try:
        FlagRule(record["flagging"]["rule"], record["flagging"]["value"])
    except ParameterError as error:
        raise FileError(f"{path}: flagging.value: {error.args[1]}; {SCREEN_AGAIN}") from error
    if "capsieve" not in record["versions"]:
        raise FileError(f"{path}: versions: capsieve is missing; {SCREEN_AGAIN}")
    if {str(source["head"]) for source in record["sources"]} != set(record["heads"]):
        raise FileError(f"{path}: heads and sources do not name the same heads; {SCREEN_AGAIN}")
    return record


@cache
def _validator() -> "TypeAdapter[Record]":
    from pydantic import TypeAdapter  # here, because the import is slow

    return TypeAdapter(Record)
