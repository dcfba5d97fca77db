"""Out-of-fold scores as results, so that evaluation and comparison work on them as on any others.

What a fit has learned from says nothing about it. Here every frame has the score of the fit that
never saw its fold, beside the record that says so.
"""

import shutil
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.engine.training_frames import TrainingFrames
from capsieve.errors import FileError
from capsieve.statistics.flags import flagged_at
from capsieve.store.reader import read_frames
from capsieve.store.record import RECORD, Record, read_record, write_record
from capsieve.store.schema import FRAMES, SEGMENT
from capsieve.store.tables import first_pass, write_tables
from capsieve.store.tally import SCORE_REJECTIONS, total

__all__ = ["write_out_of_fold"]

_NO_SCORE = "no out-of-fold score: the frame has no label or is in no fold"
_OF_THE_RESULT = ("row", "col", "radius", "midpass_max", "threshold")
_TABLES = ("frames.parquet", "features.parquet", "events.parquet")


def write_out_of_fold(
    frames: TrainingFrames,
    probability: NDArray[np.float64],
    folder: Path,
    *,
    threshold: float,
    identity: Mapping[str, Any],
) -> None:
    """Write one folder per exam: frames.parquet, features.parquet, events.parquet, exam.json.

    Parameters
    ----------
    frames, probability
        The examples, and the out-of-fold probability of each.
    folder
        For the exams' folders; what an earlier run wrote there is replaced.
    threshold
        Frames with at least this probability are flagged.
    identity
        Of the detector, for the records.
    """
    score = frames.spread(probability)
    judged = frames.judged
    try:
        shutil.rmtree(folder, ignore_errors=True)
        for code, screened in enumerate(frames.read.matched.folders):
            exam = folder / screened.name
            exam.mkdir(parents=True)
            _write_exam(screened, exam, score[judged.exam == code], threshold, dict(identity))
    except OSError as error:
        raise FileError(f"cannot write {folder}: {error.strerror or error}") from error


def _write_exam(
    screened: Path,
    folder: Path,
    score: NDArray[np.float64],
    threshold: float,
    identity: dict[str, Any],
) -> None:
    record = read_record(screened)
    table = read_frames(screened, [name for name in FRAMES.names if name in SEGMENT.names])
    table = _with_scores(table, score, threshold)
    heads = np.asarray(read_frames(screened, ["head"])["head"])
    segments = {int(head): 1 for head in np.unique(heads)}

    def rows(head: int, number: int, columns: list[str] | None) -> pa.Table:
        chosen = table.filter(pa.array(heads == head))
        return chosen if columns is None else chosen.select(columns)

    known = first_pass(segments, rows, rejections=SCORE_REJECTIONS)
    write_tables(folder, record["exam"], segments, rows, known, pictures=0)
    ledgers = {}
    for head in segments:
        events = [event for event in known.events if event.members[0].head == head]
        ledgers[head] = known.tallies[head].ledger(
            declared=record["heads"][str(head)]["declared"],
            repeats=sum(len(event.duplicates) for event in events),
            events=len(events),
        )
    whole = total(ledgers.values())
    told = [problem for problem in record["problems"] if not problem["frames"]]
    problems = [*told, *(stretch for head in segments for stretch in known.tallies[head].stretches)]
    new: Record = {
        **record,
        "complete": not problems and whole["missing"] == 0,
        "ledger": whole,
        "heads": {str(head): ledger for head, ledger in ledgers.items()},
        "problems": problems,
        "warnings": [],
        "detector": identity,
        "tables": {name: _sha256(folder / name) for name in _TABLES},
        "identity": {**record["identity"], "detector": identity},
    }
    write_record(new, folder)
    assert (folder / RECORD).is_file()


def _with_scores(table: pa.Table, score: NDArray[np.float64], threshold: float) -> pa.Table:
    """Return rows of :data:`~capsieve.store.schema.SEGMENT` with other scores."""
    there = np.isfinite(score)
    flagged = flagged_at(score, threshold)
    label = np.where(flagged, "polyp", "normal").astype(object)
    reason = np.where(flagged, "polyp", "score-low").astype(object)
    label[~there] = reason[~there] = None
    problem = np.asarray(table["problem"].to_pylist(), dtype=object)
    had_score = np.asarray(table["label"].is_valid())
    problem[~there & had_score] = _NO_SCORE
    new = {
        "label": pa.array(label.tolist(), pa.string()),
        "reason": pa.array(reason.tolist(), pa.string()),
        "score": pa.array(score, pa.float64(), mask=~there),
        "problem": pa.array(problem.tolist(), pa.string()),
        # The paper's balls are not what these fits look at.
        "features": pa.array([[] for _ in range(len(score))], SEGMENT.field("features").type),
    }
    columns = []
    for field in SEGMENT:
        if field.name in new:
            columns.append(new[field.name])
        elif field.name in table.column_names and field.name not in _OF_THE_RESULT:
            columns.append(table[field.name])
        else:
            columns.append(pa.nulls(len(score), field.type))
    return pa.table(columns, schema=SEGMENT)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
