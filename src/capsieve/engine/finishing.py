"""From screened segments to the finished files of an exam."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from capsieve.atomic_write import sync
from capsieve.detector import Detector
from capsieve.engine.identity import versions
from capsieve.engine.range_check import compare, measures_of
from capsieve.engine.segment_work import row_of_lost
from capsieve.engine.standard_input import STANDARD_INPUT, is_spooled
from capsieve.errors import FileError
from capsieve.sources.source import Source, Survey
from capsieve.store.record import (
    RECORD,
    Ledger,
    Record,
    SourceRecord,
    Stretch,
    ViewRecord,
    write_record,
)
from capsieve.store.schema import SCHEMA, SEGMENT
from capsieve.store.shown_evidence import best_evidence
from capsieve.store.tables import FirstPass, first_pass, write_tables
from capsieve.store.tally import PAPER_REJECTIONS, SCORE_REJECTIONS, total
from capsieve.store.unfinished import Unfinished

__all__ = ["FILES", "TABLES", "finish", "intact"]

TABLES = ("frames.parquet", "features.parquet", "events.parquet")

FILES = (*TABLES, "report.html", RECORD)
"""What a finished exam's folder holds; the record comes last and says that the others are whole."""

_MOST_PICTURES = 1200
_MOST_EVIDENCE = 200  # best frames of events; a page shows no more of them large


def finish(
    folder: Path,
    exam: str,
    heads: Sequence[tuple[Source, Survey]],
    *,
    lost: Mapping[tuple[int, int], str],
    identity: dict[str, Any],
    detector: Detector,
    views: list[ViewRecord],
    run: dict[str, Any],
) -> Record:
    """Write tables, record and report, and put them in their place.

    Parameters
    ----------
    folder
        The exam's folder, with its unfinished work.
    exam
        Its name.
    heads
        Its sources.
    lost
        Segments, by head and number, that could not be screened, and why.
    identity, detector, views, run
        For the record.
    """
    from capsieve.report.exam_report import write_exam_report

    unfinished = Unfinished(folder)
    surveys = {source.place.head: survey for source, survey in heads}
    sources = {source.place.head: source for source, _ in heads}

    def rows(head: int, number: int, columns: list[str] | None) -> pa.Table:
        if (head, number) not in lost:
            return unfinished.rows(head, number, columns)
        expected = sources[head].expected(surveys[head].segments[number])
        table = pa.Table.from_pylist(
            [row_of_lost(frame, lost[head, number]) for frame in expected], SEGMENT
        )
        return table if columns is None else table.select(columns)

    segments = {head: len(survey.segments) for head, survey in surveys.items()}
    staging = unfinished.folder / "finished"
    try:
        staging.mkdir(exist_ok=True)
        paper = detector.name == "paper"
        rejections = PAPER_REJECTIONS if paper else SCORE_REJECTIONS
        known = first_pass(segments, rows, rejections=rejections)
        thumbnails = write_tables(staging, exam, segments, rows, known, pictures=_MOST_PICTURES)
        evidence = {} if paper else best_evidence(segments, rows, known, most=_MOST_EVIDENCE)
        record = _record(folder, staging, exam, heads, known, identity, detector, views, run)
        write_record(record, staging)
        write_exam_report(
            staging,
            thumbnails,
            home=folder,
            evidence=evidence,
        )
        _move(staging, folder)
    except OSError as error:
        raise FileError(
            f"cannot write the results into {folder}: {error.strerror or error}; the same "
            "command goes on from here"
        ) from error
    if not lost:  # those may yet be screened
        unfinished.remove()
    return record


def _move(staging: Path, folder: Path) -> None:
    for name in FILES:
        sync(staging / name)
    for name in FILES:
        (staging / name).replace(folder / name)
    sync(folder)


def _record(
    folder: Path,
    staging: Path,
    exam: str,
    heads: Sequence[tuple[Source, Survey]],
    known: FirstPass,
    identity: dict[str, Any],
    detector: Detector,
    views: list[ViewRecord],
    run: dict[str, Any],
) -> Record:
    ledgers = {source.place.head: _ledger(source, survey, known) for source, survey in heads}
    whole = total(ledgers.values())
    problems = _problems(heads, known)
    measures = measures_of(known.measured, views)
    comparison = compare(measures, detector.reference)
    warnings = [entry["warning"] for entry in comparison["measures"].values() if entry["warning"]]
    brightness = measures["brightness"]
    if len(brightness) and np.median(brightness) < 1:  # 8-bit values in 16-bit files end here
        warnings.append(
            "The images are nearly black. If they are 16-bit files with 8-bit values, convert them "
            "to 8 bits."
        )
    finished = datetime.now(UTC)
    seconds = (finished - run["started"]).total_seconds()
    return Record(
        schema=SCHEMA,
        exam=exam,
        complete=not problems and whole["missing"] == 0,
        ledger=whole,
        heads={str(head): ledger for head, ledger in ledgers.items()},
        problems=problems,
        range=comparison,
        warnings=warnings,
        detector=detector.identity,
        parameters=_parameters(detector),
        value_names=list(detector.value_names),
        versions=versions(),
        sources=[_source_record(folder, source, survey) for source, survey in heads],
        views=views,
        tables={name: _sha256(staging / name) for name in TABLES},
        settings=identity["settings"],
        identity=identity,
        run=run
        | {
            "started": run["started"].isoformat(timespec="seconds"),
            "finished": finished.isoformat(timespec="seconds"),
            "seconds": round(seconds, 1),
        },
    )


def _parameters(detector: Detector) -> dict[str, Any]:
    """Return the parameters; of the paper's detector those that it reads."""
    if detector.name == "paper":
        return detector.identity["parameters"]
    return detector.parameters.to_dict()


def intact(folder: Path, record: Record) -> bool:
    """Tell whether an exam's tables are those that its record vouches for."""
    try:
        return all(_sha256(folder / name) == sha for name, sha in record["tables"].items())
    except OSError:
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _ledger(source: Source, survey: Survey, known: FirstPass) -> Ledger:
    head = source.place.head
    events = [event for event in known.events if event.members[0].head == head]
    return known.tallies[head].ledger(
        declared=survey.declared,
        repeats=sum(len(event.duplicates) for event in events),
        events=len(events),
    )


def _problems(heads: Sequence[tuple[Source, Survey]], known: FirstPass) -> list[Stretch]:
    """What was found while reading, and the stretches of frames with problems."""
    found: list[Stretch] = []
    for source, survey in heads:
        head = source.place.head
        for problem in survey.problems:
            found.append(
                Stretch(
                    what=problem.what,
                    head=head,
                    frames=0,
                    first_frame=None,
                    last_frame=None,
                    first_time_s=problem.time,
                    last_time_s=problem.time,
                    file=problem.file,
                )
            )
        found += known.tallies[head].stretches
    return found


def _source_record(folder: Path, source: Source, survey: Survey) -> SourceRecord:
    place = source.place
    gone = is_spooled(place.path)
    return SourceRecord(
        head=place.head,
        kind=place.kind,
        path=STANDARD_INPUT if gone else place.path,
        relative="" if gone else os.path.relpath(place.path, folder),
        stream=place.stream,
        names=place.names,
        sha256=survey.sha256,
        bytes=survey.size,
        declared=survey.declared,
        description=survey.description,
    )
