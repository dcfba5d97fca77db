"""What was not clear when labels and frames were brought together: counted and named."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.statistics.judged import UNLABELLED
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.matching.keys import Places, Why
from capsieve.statistics.matching.per_frame import FrameLabels
from capsieve.statistics.matching.screened import Screened

__all__ = ["EXAMPLES", "frame_problems", "key_problems", "name_frames", "problem"]

EXAMPLES = 5
"""How many examples a problem names."""

_WORDS = {
    Why.BY_NAME_ALONE: "the frame was found by the name of its file alone: the row's folder or "
    "exam is not the screened exam's",
    Why.NO_FRAME: "the exam has no such frame; they are numbered from 0",
    Why.NO_FILE: "no screened frame has this file",
    Why.AMBIGUOUS: "several frames fit the file, or several rows the frame, equally well",
    Why.TWO_HEADS: "the exam has two heads and the row names none",
    Why.NO_NUMBER: "the row names no frame number, and the exam's frames are not files",
    Why.SURPASSED: "only the file's name fits, and another row names the frame with its folder or "
    "exam",
}


def problem(
    what: str, chosen: NDArray[np.integer], names: Sequence[str], *, used: bool = False
) -> tuple[LabelProblem, ...]:
    """Return a problem of so many rows, or none where there are none."""
    return (LabelProblem(what, len(chosen), tuple(names), used),) if len(chosen) else ()


def key_problems(keys: pa.Table, places: Places) -> tuple[LabelProblem, ...]:
    """Return what is wrong with the keys of rows: frames, files and exams that are not there."""
    found: list[LabelProblem] = []
    for why, what in _WORDS.items():
        chosen = np.flatnonzero(places.why == why)
        names = _name_rows(keys, chosen[:EXAMPLES])
        found += problem(what, chosen, names, used=why == Why.BY_NAME_ALONE)
    elsewhere = np.flatnonzero(places.why == Why.NO_EXAM)
    counts = keys["exam"].take(pa.array(elsewhere)).value_counts().to_pylist()
    names = [f"{entry['values']}: {_counted(entry['counts'], 'row')}" for entry in counts]
    found += problem("the exam is not among the results", elsewhere, _some(names, "exams"))
    return tuple(found)


def frame_problems(
    screened: Screened, labels: FrameLabels, keys: pa.Table
) -> tuple[LabelProblem, ...]:
    """Return what is wrong with the labels of frames: contradictions, repetitions, none at all."""
    contradicted, unsure = np.flatnonzero(labels.contradicted), np.flatnonzero(labels.unsure)
    exams = np.arange(len(screened.exams))
    silent = ~np.isin(exams, screened.exam[labels.named])
    without = labels.truth == UNLABELLED
    single = np.flatnonzero(without & ~silent[screened.exam] & ~labels.contradicted)
    sizes = np.bincount(screened.exam, minlength=len(exams))
    names = [f"{screened.exams[e]}: {_counted(int(sizes[e]), 'frame')}" for e in exams[silent]]
    whole = np.flatnonzero(silent[screened.exam])
    return (
        *problem(
            "the frame has two labels or patients that contradict each other",
            contradicted,
            name_frames(screened, contradicted[:EXAMPLES]),
        ),
        *problem(
            "the frame has one label and different polyps, blocks or findings, which are left out",
            unsure,
            name_frames(screened, unsure[:EXAMPLES]),
            used=True,
        ),
        *problem(
            "the row repeats the label of another row for the same frame",
            labels.repeated,
            _name_rows(keys, labels.repeated[:EXAMPLES]),
            used=True,
        ),
        *problem("the frame has no label", single, name_frames(screened, single[:EXAMPLES])),
        *problem("no frame of the exam has a label", whole, _some(names, "exams")),
    )


def name_frames(screened: Screened, chosen: NDArray[np.integer]) -> list[str]:
    """Name frames as a person would."""
    head, frame = screened.columns["head"], screened.columns["frame"]
    names: list[str] = []
    for place in chosen.tolist():
        exam = screened.exams[screened.exam[place]]
        file = screened.file[place].as_py()
        camera = f" head {head[place]}" if len(screened.heads[screened.exam[place]]) > 1 else ""
        names.append(f"{exam}/{file}" if file else f"{exam}{camera} frame {frame[place]}")
    return names


def _name_rows(keys: pa.Table, chosen: NDArray[np.integer]) -> list[str]:
    columns = ["exam", "head", "frame", "file"]
    names: list[str] = []
    for row in keys.select(columns).take(pa.array(chosen)).to_pylist():
        parts = [f"{row['exam']}"] if row["exam"] is not None else []
        if row["file"] is not None:
            parts.append(f"file {row['file']}")
        else:
            parts += [f"{name} {row[name]}" for name in ("head", "frame") if row[name] is not None]
        names.append(" ".join(parts) or "a row without exam, frame and file")
    return names


def _some(names: Sequence[str], noun: str) -> list[str]:
    """The first names, and how many more there are: whole exams are never left unmentioned."""
    more = len(names) - EXAMPLES
    return [*names[:EXAMPLES], *([f"and {more} more {noun}"] if more > 0 else [])]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
