"""What ``capsieve calibrate`` or ``capsieve search`` chose, and its calibration frames.

Metrics on these frames are optimistic, so their frame hashes accompany the choice: in a
text file next to the TOML file of the parameters, which names it in a table::

    [calibration]
    chosen = "R_P = 41"
    scores = false
    detector = "paper"
    frames = 240
    file = "calibrated.frames.txt"
    sha256 = "..."

A threshold of another detector, or a share to read, is in the entries `rule` and `value`, and
`model` is the SHA-256 of a model file. Results that are screened with the choice contain the hashes
again, so that the evaluation recognises the frames after both were moved.
"""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal, NotRequired

from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, ParameterError
from capsieve.frame_table import FlagRule
from capsieve.store.record import CalibrationRecord, Record
from capsieve.store.schema import SCREEN_AGAIN
from capsieve.user_files import open_file, read_text

STORED_HASHES = "calibration.frames.txt"
"""The file of the hashes in the folder of an exam."""

_HEAD = "capsieve frame hashes, schema "
_SCHEMA = 1
_LARGEST_HASHES = 2**32  # bytes
_AGAIN = "run capsieve calibrate or capsieve search again"


class _Table(TypedDict):
    chosen: str
    scores: bool
    detector: str
    model: NotRequired[str]
    rule: NotRequired[Literal["threshold", "share"]]
    value: NotRequired[float]
    frames: int
    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """A chosen threshold, share to read, or set of parameters.

    Attributes
    ----------
    chosen
        As text: "R_P = 41".
    scores
        Whether the scores depend on it, as on parameters, or only the flags.
    detector, model
        Name of the detector, and the SHA-256 of its model file or "".
    rule
        The chosen rule if it is not among the parameters of the paper's detector; else None.
    hashes
        Frame hashes of the calibration frames.
    """

    chosen: str
    hashes: frozenset[str]
    scores: bool = False
    detector: str = "paper"
    model: str = ""
    rule: FlagRule | None = None

    @cached_property
    def content(self) -> bytes:
        """The file of the hashes."""
        return "\n".join([f"{_HEAD}{_SCHEMA}", *sorted(self.hashes), ""]).encode()

    @property
    def sha256(self) -> str:
        """SHA-256 of the file of the hashes."""
        return sha256(self.content).hexdigest()


def hashes_file(path: Path) -> Path:
    """Return the file of the hashes for a file of parameters."""
    return path.with_suffix(".frames.txt")


def write_choice(path: Path, choice: Choice, parameters: str) -> None:
    """Write the hashes next to `path`, and then the TOML text of the parameters with the table."""
    beside = hashes_file(path)
    values = {
        "chosen": choice.chosen,
        "scores": choice.scores,
        "detector": choice.detector,
        "model": choice.model or None,
        "rule": choice.rule and choice.rule.kind,
        "value": choice.rule and float(choice.rule.value),
        "frames": len(choice.hashes),
        "file": beside.name,
        "sha256": choice.sha256,
    }
    table = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
        if value is not None
    ]
    text = "\n".join([parameters, "# The calibration frames.", "[calibration]", *table, ""])
    for file, content in ((beside, choice.content), (path, text.encode())):
        with atomic_write(file) as temporary:
            temporary.write_bytes(content)


def read_choice(path: Path) -> Choice:
    """Read the table of a TOML file, and the hashes next to it.

    Raises
    ------
    FileError
        The table is not valid, or the file of the hashes is missing, changed or of another schema.
    """
    from pydantic import TypeAdapter, ValidationError  # here, because the import is slow

    content = tomllib.loads(read_text(path)).get("calibration")
    try:
        table = TypeAdapter(_Table).validate_python(content, strict=True, extra="forbid")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(["calibration", *map(str, first["loc"])])
        message = first["msg"][:1].lower() + first["msg"][1:]
        raise FileError(f"{path}: {field}: {message}; {_AGAIN}") from None
    rule = None
    try:
        if "rule" in table and "value" in table:
            rule = FlagRule(table["rule"], table["value"])
    except ParameterError as error:
        raise FileError(f"{path}: calibration.value: {error.args[1]}; {_AGAIN}") from None
    name = table["file"]
    if Path(name).name != name:
        raise FileError(f"{path}: calibration.file: {name!r} is not the name of a file; {_AGAIN}")
    beside = path.with_name(name)
    if not beside.is_file():
        raise FileError(
            f"{beside} is missing: it names the calibration frames of {table['chosen']}, and "
            f"capsieve evaluate needs it to recognise them; copy it next to {path}, or {_AGAIN}"
        )
    return Choice(
        chosen=table["chosen"],
        scores=table["scores"],
        hashes=_read_hashes(beside, table["sha256"], f"restore it, or {_AGAIN}"),
        detector=table["detector"],
        model=table.get("model", ""),
        rule=rule,
    )


def store_choice(folder: Path, choice: Choice) -> CalibrationRecord:
    """Write the hashes into the folder of an exam; return the entry of its record."""
    with atomic_write(folder / STORED_HASHES) as temporary:
        temporary.write_bytes(choice.content)
    return CalibrationRecord(
        chosen=choice.chosen,
        scores=choice.scores,
        frames=len(choice.hashes),
        sha256=choice.sha256,
    )


def stored_choice(exams: Iterable[tuple[Path, Record]]) -> Choice | None:
    """Return what was chosen for the exams in these folders, with the hashes of all; or None.

    Raises
    ------
    FileError
        The hashes of an exam are missing or damaged.
    """
    chosen: dict[str, None] = {}
    hashes: dict[str, frozenset[str]] = {}
    scores = False
    for folder, record in exams:
        entry = record.get("calibration")
        if entry is not None:
            chosen[entry["chosen"]] = None
            scores |= entry["scores"]
            if entry["sha256"] not in hashes:
                path, digest = folder / STORED_HASHES, entry["sha256"]
                hashes[digest] = _read_hashes(path, digest, SCREEN_AGAIN)
    if not chosen:
        return None
    every = frozenset().union(*hashes.values())
    return Choice(chosen=" and ".join(chosen), scores=scores, hashes=every)


def _read_hashes(path: Path, digest: str, advice: str) -> frozenset[str]:
    with open_file(path, largest=_LARGEST_HASHES, advice=advice) as file:
        content = file.read(_LARGEST_HASHES)
    if sha256(content).hexdigest() != digest:
        raise FileError(f"{path} has changed since it was written; {advice}")
    head, *hashes = content.decode().splitlines()
    if head != f"{_HEAD}{_SCHEMA}":
        raise FileError(
            f"{path} starts with {head[:60]!r}, this version of capsieve reads "
            f"{_HEAD + str(_SCHEMA)!r}; {advice}"
        )
    return frozenset(hashes)
