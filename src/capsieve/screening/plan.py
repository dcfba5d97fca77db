"""The plan of an exam: its identity, and the segments to score."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from capsieve._version import __version__
from capsieve.detector import Detector
from capsieve.detectors import NO_IDENTITY
from capsieve.errors import OccupiedError, ParameterError
from capsieve.frame_table import FlagRule
from capsieve.frames import FieldOfView
from capsieve.screening.segment import SegmentTask, score_frames
from capsieve.screening.settings import FieldChoice
from capsieve.screening.survey import Head
from capsieve.sources.base import Place, open_source
from capsieve.store.choice import Choice
from capsieve.store.record import RECORD, Record, SourceRecord, read_record
from capsieve.store.segments import Segments
from capsieve.store.tables import table_damage


def identity(
    detector: Detector, sources: Mapping[Place, str], field_of_view: FieldChoice
) -> dict[str, Any]:
    """Return everything that determines the scores of an exam, as plain values.

    `sources` has the SHA-256 of each source. The rule that flags frames does not belong to it: it
    uses the scores.

    Raises
    ------
    ParameterError
        The identity of the detector cannot be stored.
    """
    chosen: Any = field_of_view
    if isinstance(field_of_view, FieldOfView):
        chosen = asdict(field_of_view)
    try:  # as JSON returns it: with lists instead of tuples
        detected = json.loads(json.dumps(detector.identity, allow_nan=False))
    except (TypeError, ValueError) as error:
        message = f"its identity must consist of plain texts and finite numbers ({error})"
        raise ParameterError("detector", message) from error
    return {
        "detector": detected,
        "source": {
            f"head {place.head}": {
                "sha256": sha256,
                "kind": place.kind,
                "stream": place.stream,
                "names": place.names,
            }
            for place, sha256 in sources.items()
        },
        "settings": {"field_of_view": chosen},
    }


def finished_exam(
    folder: Path, places: Sequence[Place], detector: Detector, field_of_view: FieldChoice
) -> Record | None:
    """Return the record of a finished exam if its sources have not changed since, else None.

    Only sizes and modification times are compared: no source is read.

    Raises
    ------
    OccupiedError
        The results have other settings, or their tables are damaged.
    """
    if not (folder / RECORD).exists() or Segments(folder).plan() is not None:
        return None
    record = read_record(folder)
    _check_identity(folder, "results", detector.identity)
    known = {_place(source): source for source in record["sources"]}
    hashes = {place: known[place]["sha256"] if place in known else "" for place in places}
    wanted = identity(detector, hashes, field_of_view)
    for part in ("detector", "settings"):  # known before any source is read
        if record["identity"].get(part) != wanted[part]:
            _refuse(folder, "results", record["identity"], wanted)
    for place in places:
        if place not in known or open_source(place).stamp() != known[place]["stamp"]:
            return None
    return _checked(folder, record, wanted)


def _place(source: SourceRecord) -> Place:
    return Place(source["kind"], source["path"], source["head"], source["stream"], source["names"])


def check_folder(folder: Path, wanted: dict[str, Any]) -> Record | None:
    """Compare an identity with what a folder contains; return the record of a finished exam.

    Raises
    ------
    OccupiedError
        The folder contains results or unfinished work with other settings, or damaged tables.
    """
    segments = Segments(folder)
    record = read_record(folder) if (folder / RECORD).exists() else None
    if record is not None:
        _check_identity(folder, "results", wanted["detector"])
        _checked(folder, record, wanted)
        if not record["frame_counts"]["unscreened"]:
            segments.remove()
            return record
    begun = segments.plan()
    if begun is None:
        return record
    _check_identity(folder, "unfinished work", wanted["detector"])
    if begun != _with_version(wanted):
        _refuse(folder, "unfinished work", begun, _with_version(wanted))
    return None  # the rest is screened, also what workers could not screen before


def segment_tasks(
    exam: str, folder: Path, heads: Sequence[Head], detector: Detector, wanted: dict[str, Any]
) -> list[SegmentTask[dict[str, Any]]]:
    """Start or continue the work on an exam; return the segments that are not yet stored."""
    segments = Segments(folder)
    segments.begin(_with_version(wanted))
    function = partial(score_frames, detector)
    return [
        SegmentTask(exam, head.place, segment, head.fields, function)
        for head in heads
        for segment in head.survey.segments
        if not segments.has(head.place.head, segment.number)
    ]


def _with_version(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the identity of unfinished work: another version may compute other scores."""
    return wanted | {"capsieve": __version__}


def _checked(folder: Path, record: Record, wanted: dict[str, Any]) -> Record:
    if record["identity"] != wanted:
        _refuse(folder, "results", record["identity"], wanted)
    if damage := table_damage(folder, record["tables"]):
        raise OccupiedError(
            f"{damage}; start again with --overwrite, or choose another output folder"
        )
    return record


def _check_identity(folder: Path, content: str, detector: Mapping[str, Any]) -> None:
    """Raise OccupiedError if it is unknown whether this detector made the results."""
    if NO_IDENTITY.items() <= detector.items():
        raise OccupiedError(
            f"{folder} contains {content}, and the detector {detector['name']} has no `identity` "
            "that tells whether it made them; give it one (see docs/foreign-models.md), start "
            "again with --overwrite, or choose another output folder"
        )


def _refuse(
    folder: Path, content: str, stored: Mapping[str, Any], wanted: Mapping[str, Any]
) -> NoReturn:
    different = differences(stored, wanted)
    shown = "; ".join(different[:3]) + ("; and more" if len(different) > 3 else "")
    raise OccupiedError(
        f"{folder} contains {content} with other settings ({shown}); start again with --overwrite, "
        "or choose another output folder"
    )


def check_rule(folder: Path, record: Record, rule: FlagRule) -> None:
    """Raise OccupiedError if the frames of a finished exam were flagged by another rule."""
    used = FlagRule(record["flagging"]["rule"], record["flagging"]["value"])
    if used != rule:
        raise OccupiedError(
            f"{folder} is finished and was flagged with {used.option}; to change its flags, run "
            f"capsieve flag {shlex.quote(str(folder))} {rule.option}"
        )


def check_choice(folder: Path, record: Record, choice: Choice, file: Path) -> None:
    """Raise OccupiedError if a finished exam does not name the calibration frames.

    `file` is the file of the parameters, for the message.
    """
    there = record.get("calibration")
    if there is None or there["sha256"] != choice.sha256:
        raise OccupiedError(
            f"{folder} is finished, and its results do not name the calibration frames of "
            f"{choice.chosen}; to flag them with it, run capsieve flag {shlex.quote(str(folder))} "
            f"--parameters {shlex.quote(str(file))}"
        )


def differences(there: Mapping[str, Any], here: Mapping[str, Any], path: str = "") -> list[str]:
    """Return a text for each entry that differs: ``size_low: 1 there, 2 now``."""
    texts: list[str] = []
    for name in sorted(there.keys() | here.keys()):
        stored, wanted = there.get(name), here.get(name)
        if isinstance(stored, dict) and isinstance(wanted, dict):
            texts += differences(stored, wanted, f"{path}{name} ")
        elif stored != wanted:
            texts.append(f"{path}{name}: {_brief(stored)} there, {_brief(wanted)} now")
    return texts


def _brief(value: object) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:16]}..."
