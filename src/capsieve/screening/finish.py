"""From scored frames to the results of an exam: flags, events, thumbnails, record and report."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from capsieve.detector import Detector
from capsieve.detectors import parameters_of
from capsieve.names import split_head
from capsieve.screening.flags import FlaggedExam, rejections
from capsieve.screening.range_check import (
    compare_range,
    measured_columns,
    measures,
    range_warnings,
    usual_diameters,
)
from capsieve.screening.settings import FieldChoice
from capsieve.screening.survey import Head, field_of_view_records, versions
from capsieve.screening.thumbnails import Thumbnails
from capsieve.sources.discovery import ExamInput
from capsieve.store.choice import Choice, store_choice
from capsieve.store.record import (
    ProblemRecord,
    Record,
    SourceRecord,
    write_record,
)
from capsieve.store.schema import SCHEMA, THUMBNAILS
from capsieve.store.segments import REPORT, replace_results
from capsieve.store.tables import (
    frame_counts,
    problem_records,
    write_tables,
)

_MOST_IN_REPORT = 1200  # thumbnails, which are inside the HTML file


def base_record(
    exam: ExamInput,
    heads: Sequence[Head],
    frames: pa.Table,
    detector: Detector,
    field_of_view: FieldChoice,
    identity: dict[str, Any],
) -> dict[str, Any]:
    """Return the entries of the record that do not depend on the rule, except `run`."""
    fields = field_of_view_records(heads, field_of_view)
    measured = measures(measured_columns(frames), usual_diameters(fields))
    warning = {"input_warning": exam.warning} if exam.warning else {}
    of_sources = [problem for head in heads for problem in _source_problems(head)]
    return {
        "schema": SCHEMA,
        "exam": exam.name,
        "problems": [*of_sources, *problem_records(frames)],
        "range": compare_range(measured, detector.reference),
        "detector": identity["detector"],
        "parameters": parameters_of(detector).to_dict(),
        "value_names": list(detector.value_names),
        "versions": versions(),
        "sources": [_source_record(head) for head in heads],
        "fields_of_view": fields,
        "settings": identity["settings"] | warning,
        "identity": identity,
    }


def _source_problems(head: Head) -> Iterator[ProblemRecord]:
    for problem in head.survey.problems:
        yield ProblemRecord(
            what=problem.what,
            head=head.place.head,
            frames=0,
            first_frame=None,
            last_frame=None,
            first_time_s=problem.time,
            last_time_s=problem.time,
            file=None,
        )


def _source_record(head: Head) -> SourceRecord:
    place, survey = head.place, head.survey
    return SourceRecord(
        head=place.head,
        kind=place.kind,
        path=place.path,
        relative="",  # set when it is written
        stream=place.stream,
        names=place.names,
        sha256=survey.sha256,
        stamp=head.stamp,
        bytes=survey.size,
        declared=survey.declared,
        description=survey.description,
    )


def write_results(
    folder: Path,
    base: Mapping[str, Any],
    flagged: FlaggedExam,
    thumbnails: Thumbnails,
    problem: str,
    tables: Mapping[str, pa.Table],
    *,
    choice: Choice | None = None,
) -> Record:
    """Write tables, record and report, and replace the earlier results of the exam.

    Parameters
    ----------
    folder
        The exam's folder, locked.
    base
        The entries of the record that do not depend on the rule.
    flagged, thumbnails, problem
        The flagged frames, thumbnails of those to read, and why some are missing.
    tables
        The tables "features" and "packets".
    choice
        What calibration frames chose for this run.
    """
    from capsieve.report import page
    from capsieve.report.exam import exam_report

    given: list[SourceRecord] = base["sources"]
    sources = [source.copy() for source in given]
    for source in sources:
        source["relative"] = os.path.relpath(source["path"], folder)
    total, heads = frame_counts(
        flagged.frames,
        flagged.to_read,
        {source["head"]: source["declared"] for source in sources},
        rejections(base["detector"], flagged.rule),
    )
    complete = not base["problems"] and total["missing"] == 0
    record = cast("Record", dict(base))
    record.update(
        sources=sources,
        complete=complete,
        frame_counts=total,
        heads=heads,
        flagging=flagged.flagging,
        warnings=[
            *range_warnings(base["range"], measures(measured_columns(flagged.frames), [])),
            *_source_warnings(sources),
            *_batch_warnings(record["run"]),
            *_list_warnings(flagged, base["settings"], complete=complete),
        ],
    )
    missing = sum(key not in thumbnails for key in flagged.shown)
    if missing:
        frames, reason = f"{missing} of {len(flagged.shown)} frames", " ".join(problem.split())
        record["warnings"].append(f"The thumbnails of {frames} to read are missing: {reason}")
    rows = [
        {"head": head, "frame": frame, "thumbnail": thumbnail, "evidence": evidence}
        for (head, frame), (thumbnail, evidence) in sorted(thumbnails.items())
    ]
    tables = {
        **tables,
        "frames": flagged.frames,
        "events": flagged.events,
        "thumbnails": pa.Table.from_pylist(rows, THUMBNAILS),
    }
    with replace_results(folder) as staged:
        record["tables"] = write_tables(staged, base["exam"], tables)
        if choice is not None:
            record["calibration"] = store_choice(staged, choice)
        write_record(record, staged)
        shown = {
            key: thumbnails[key] for key in flagged.shown[:_MOST_IN_REPORT] if key in thumbnails
        }
        report = exam_report(
            record,
            tables,
            to_read=flagged.to_read,
            home=folder,
            thumbnails={key: small for key, (small, _) in shown.items()},
            evidence={key: drawn for key, (_, drawn) in shown.items() if drawn is not None},
        )
        page.write(report, staged / REPORT)
    return record


def _list_warnings(
    flagged: FlaggedExam, settings: Mapping[str, Any], *, complete: bool
) -> Iterator[str]:
    if not flagged.rule.is_list:
        return
    yield from flagged.warnings()
    if not complete:
        yield "The exam is not complete: the reading list has only frames that could be scored."
    if "input_warning" in settings:
        yield f"{settings['input_warning']}."


def _batch_warnings(run: Mapping[str, Any]) -> Iterator[str]:
    if "batch_error" in run:
        yield (
            f"The detector's score_batch failed ({run['batch_error']}), so "
            f"{run['frames_scored_alone']:,} frames were scored one by one, which takes longer."
        )


def _source_warnings(sources: Sequence[SourceRecord]) -> Iterator[str]:
    for source in sources:
        path = Path(source["path"])
        if "warning" in source["description"]:
            yield f"{path.name}: {source['description']['warning']}."
        stem = path.name if source["kind"] == "folder" else path.stem
        heads = [split_head(name)[1] for name in (stem, source["names"].rstrip("/"))]
        if len(sources) == 1 and heads != [None, None]:
            yield (
                f"{path.name} seems to be one of two heads, and the other was not given: its "
                "frames are not screened."
            )
