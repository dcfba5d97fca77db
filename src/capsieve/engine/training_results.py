"""Out-of-fold scores as results that are evaluated and compared like any others.

Every frame has the score of the model that was fitted without its fold.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.engine.training_frames import TrainingFrames
from capsieve.errors import file_errors
from capsieve.screening.finish import flag_exam
from capsieve.screening.flags import FlagRule
from capsieve.store.exam import Exam
from capsieve.store.record import Record, write_record
from capsieve.store.schema import FEATURES, THUMBNAILS
from capsieve.store.tables import frame_counts, problem_records, with_columns, write_tables

__all__ = ["write_out_of_fold"]

_NO_SCORE = "no out-of-fold score: the frame has no label or is in no fold"
_OF_THE_DETECTOR = ("row", "col", "radius", "midpass_max", "segmentation_threshold")


def write_out_of_fold(
    frames: TrainingFrames,
    probability: NDArray[np.float64],
    folder: Path,
    *,
    threshold: float,
    identity: Mapping[str, Any],
) -> None:
    """Write one folder per exam with the tables and the record.

    Parameters
    ----------
    frames, probability
        The examples, and the out-of-fold probability of each.
    folder
        For the exams' folders; results of an earlier run are replaced.
    threshold
        Frames with at least this probability are flagged.
    identity
        Of the detector, for the records.
    """
    score = frames.spread(probability)
    judged = frames.judged
    with file_errors("write", folder):
        shutil.rmtree(folder, ignore_errors=True)
        for code, screened in enumerate(frames.read.matched.folders):
            target = folder / screened.name
            target.mkdir(parents=True)
            scores = score[judged.exam == code]
            _write_exam(Exam(screened), target, scores, threshold, dict(identity))


def _write_exam(
    screened: Exam,
    folder: Path,
    score: NDArray[np.float64],
    threshold: float,
    identity: dict[str, Any],
) -> None:
    record = screened.record
    flagged = flag_exam(
        _with_scores(screened.columns(), score),
        FlagRule("threshold", threshold),
        detector=str(identity.get("name")),
        score_threshold=threshold,
    )
    declared = {head: record["heads"][str(head)]["declared"] for head in screened.heads}
    total, heads = frame_counts(flagged.frames, declared, ("score-low",))
    of_the_source = [problem for problem in record["problems"] if not problem["frames"]]
    problems = [*of_the_source, *problem_records(flagged.frames)]
    tables = {
        "frames": flagged.frames,
        "features": FEATURES.empty_table(),  # the paper's balls are not what these models use
        "events": flagged.events,
        "packets": screened.columns(table="packets"),
        "thumbnails": THUMBNAILS.empty_table(),
    }
    new: Record = {
        **record,
        "complete": not problems and total["missing"] == 0,
        "frame_counts": total,
        "heads": heads,
        "problems": problems,
        "warnings": [],
        "flagging": flagged.flagging,
        "detector": identity,
        "tables": write_tables(folder, record["exam"], tables),
        "identity": {**record["identity"], "detector": identity},
    }
    write_record(new, folder)


def _with_scores(frames: pa.Table, score: NDArray[np.float64]) -> pa.Table:
    """Return the frames with other scores, without what belongs to the earlier detector."""
    known = np.isfinite(score)
    problem = np.array(frames["problem"].to_pylist(), object)
    problem[~known & frames["score"].is_valid().to_numpy()] = _NO_SCORE
    return with_columns(
        frames,
        score=pa.array(score, mask=~known),
        reason=pa.array(["score-low"] * len(score), mask=~known),
        problem=problem.tolist(),
        **{name: pa.nulls(len(score), frames.schema.field(name).type) for name in _OF_THE_DETECTOR},
    )
