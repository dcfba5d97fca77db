"""From scored frames to the results of an exam: flags, events, thumbnails, record and report."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.detector import Detector
from capsieve.screening.flags import FlagRule, find_near_duplicates, flag_frames
from capsieve.screening.plan import Head, field_of_view_records, versions
from capsieve.screening.range_check import MEASURED, compare, measures, range_warnings
from capsieve.screening.settings import FieldChoice
from capsieve.screening.thumbnails import Shown, Thumbnails
from capsieve.sources.base import split_head
from capsieve.sources.discovery import ExamInput
from capsieve.store.choice import Choice, store_choice
from capsieve.store.record import (
    FieldOfViewRecord,
    Flagging,
    ProblemRecord,
    Record,
    SourceRecord,
    write_record,
)
from capsieve.store.schema import SCHEMA, THUMBNAILS
from capsieve.store.segments import replace_results
from capsieve.store.tables import (
    frame_counts,
    group_events,
    near_duplicates,
    problem_records,
    with_columns,
    write_tables,
)

__all__ = [
    "FlaggedExam",
    "base_record",
    "flag_exam",
    "measured_columns",
    "usual_diameters",
    "write_results",
]

_PAPER_RULES = ("texture-low", "texture-high", "no-feature")  # R_max = 0: never flagged
_MOST_EVIDENCE = 200  # best frames of events
_MOST_IN_REPORT = 1200  # thumbnails, which are inside the HTML file


@dataclass(frozen=True, slots=True, eq=False)
class FlaggedExam:
    """The tables that depend on the rule."""

    frames: pa.Table  # with the columns FRAMES
    events: pa.Table  # with the columns EVENTS
    flagging: Flagging  # for the record
    too_long: bool  # whether the reading list is longer than the exam
    shown: list[Shown]  # frames to read: best frames of the events first, then the others
    explained: list[Shown]  # those of them that get an evidence map


def flag_exam(
    frames: pa.Table, rule: FlagRule, *, detector: str, score_threshold: float | None
) -> FlaggedExam:
    """Flag the frames of a whole exam and group them into events.

    Parameters
    ----------
    frames
        With the columns FRAMES; flags, events and reasons of an earlier rule are replaced.
    rule
        Threshold or reading list.
    detector, score_threshold
        Name and threshold of the detector.
    """
    scores = frames["score"].to_numpy().astype(np.float64)
    reasons = np.array(frames["reason"].to_pylist(), object)
    rejected = np.isin(reasons, _PAPER_RULES)
    candidates = ~np.isnan(scores) & ~rejected
    duplicate_of, duplicate_row = _near_duplicates(frames)
    flags = flag_frames(scores, rejected, duplicate_row, rule)
    by_radius = detector == "paper" and rule.rule == "threshold"
    reasons[candidates] = "radius-low" if by_radius else "score-low"
    reasons[flags.flagged] = "polyp"
    frames = with_columns(
        frames,
        duplicate_of=pa.array(duplicate_of, mask=duplicate_of < 0),
        flagged=flags.flagged,
        reason=reasons.tolist(),
    )
    frames, events = group_events(frames)
    above = None
    if score_threshold is not None and not np.isnan(scores).all():
        reached = candidates & (np.nan_to_num(scores, nan=-np.inf) >= score_threshold)
        above = float(reached.sum() / np.count_nonzero(~np.isnan(scores)))
    flagging = Flagging(
        rule=rule.rule,
        value=float(rule.value),
        frames=flags.listed,
        last_score=flags.last_score,
        score_threshold=None if score_threshold is None else float(score_threshold),
        share_above_threshold=above,
    )
    best = [(row["head"], row["best_frame"]) for row in events.to_pylist()]
    keys = frames.select(["event", "head", "frame"])
    to_read = keys.filter(pa.array(flags.flagged & ~near_duplicates(frames)))
    others = [(row["head"], row["frame"]) for row in to_read.sort_by("event").to_pylist()]
    shown = list(dict.fromkeys([*best, *others]))
    return FlaggedExam(frames, events, flagging, flags.too_long, shown, best[:_MOST_EVIDENCE])


def _near_duplicates(frames: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the earlier near-identical frame of each frame, by number in its head and by row."""
    heads = frames["head"].to_numpy()
    numbers, rows = (np.full(len(heads), -1, np.int64) for _ in range(2))
    for head in np.unique(heads):
        first, end = np.searchsorted(heads, [head, head + 1])
        found = find_near_duplicates(frames["phash"].slice(first, end - first).to_pylist())
        numbers[first:end] = found
        rows[first:end] = np.where(found < 0, -1, found + first)
    return numbers, rows


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
        "range": compare(measured, detector.reference),
        "detector": identity["detector"],
        "parameters": detector.parameters.to_dict(),
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
    from capsieve.report.exam_report import write_exam_report

    sources: list[Any] = base["sources"]
    for source in sources:
        source["relative"] = os.path.relpath(source["path"], folder)
    rule = FlagRule(flagged.flagging["rule"], flagged.flagging["value"])
    total, heads = frame_counts(
        flagged.frames,
        {source["head"]: source["declared"] for source in sources},
        _rejections(base["detector"], rule),
    )
    complete = not base["problems"] and total["missing"] == 0
    record = cast("Record", dict(base))
    record.update(
        complete=complete,
        frame_counts=total,
        heads=heads,
        flagging=flagged.flagging,
        warnings=[
            *range_warnings(base["range"], measures(measured_columns(flagged.frames), [])),
            *_source_warnings(sources),
            *_rule_warnings(rule, flagged, base["settings"], complete=complete),
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
    with replace_results(folder) as staged:
        record["tables"] = write_tables(
            staged,
            base["exam"],
            {
                **tables,
                "frames": flagged.frames,
                "events": flagged.events,
                "thumbnails": pa.Table.from_pylist(rows, THUMBNAILS),
            },
        )
        if choice is not None:
            record["calibration"] = store_choice(staged, choice)
        write_record(record, staged)
        shown = {
            key: thumbnails[key] for key in flagged.shown[:_MOST_IN_REPORT] if key in thumbnails
        }
        write_exam_report(
            staged,
            {key: small for key, (small, _) in shown.items()},
            home=folder,
            evidence={key: drawn for key, (_, drawn) in shown.items() if drawn is not None},
        )
    return record


def measured_columns(frames: pa.Table) -> dict[str, NDArray[np.float64]]:
    """Return the columns MEASURED of the scored frames."""
    return {name: frames[name].drop_null().to_numpy().astype(np.float64) for name in MEASURED}


def usual_diameters(fields: Sequence[FieldOfViewRecord]) -> list[float]:
    """Return the diameter of each head's field of view for its most frequent size of frames."""
    first: dict[int, float] = {}
    for entry in fields:
        first.setdefault(entry["head"], 2 * entry["radius"])
    return list(first.values())


def _rejections(detector: Mapping[str, Any], rule: FlagRule) -> tuple[str, ...]:
    """Return the reasons that are counted even if no frame has them."""
    if detector.get("name") != "paper":
        return ("score-low",)
    return (*_PAPER_RULES, "radius-low" if rule.rule == "threshold" else "score-low")


def _rule_warnings(
    rule: FlagRule, flagged: FlaggedExam, settings: Mapping[str, Any], *, complete: bool
) -> Iterator[str]:
    if rule.rule == "threshold":
        return
    if flagged.too_long:
        yield (
            f"The reading list ({rule}) is longer than the number of frames that can be listed, "
            f"{flagged.flagging['frames']}: all of them are flagged."
        )
    if not complete:
        yield "The exam is not complete: the reading list has only frames that could be scored."
    if "input_warning" in settings:
        yield f"{settings['input_warning']}."


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
