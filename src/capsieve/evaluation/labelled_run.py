"""Labelled frames of exams, scored with many settings of Algorithm 1 without screening.

Robustness studies and parameter searches use it. Every frame is decoded once for all settings, and
the scores are stored block by block, so that a killed run continues.
"""

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.errors import FileError, FrameError, OccupiedError, file_errors
from capsieve.evaluation.settings import LabelledRunSettings
from capsieve.frame_table import (
    NORMAL,
    OTHER,
    POLYP,
    UNLABELLED,
    Coded,
    FrameColumns,
    LabelledFrames,
)
from capsieve.frames import FieldOfView, pixel_hash
from capsieve.labels import LabelProblem, LabelSet, Matched, Splits, match
from capsieve.paper.many_settings import analyze_each
from capsieve.parameters import Parameters
from capsieve.screening.executors import Executor, choose_executor
from capsieve.screening.plan import differences
from capsieve.screening.segment import SegmentTask, map_frames
from capsieve.screening.settings import Progress
from capsieve.screening.survey import Head, field_of_view_records, survey_exams
from capsieve.sources.base import SourceFrame, open_source
from capsieve.store.record import RECORD, FieldOfViewRecord
from capsieve.store.segments import Segments, locked

if TYPE_CHECKING:
    from capsieve.screening.settings import Listener

__all__ = ["Inputs", "LabelledRun", "draw_normals", "score_labelled_frames", "stored_scores"]

Inputs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_BLOCK = pa.schema(
    [("problem", pa.string()), ("scores", pa.list_(pa.float32())), ("pixel_hash", pa.string())]
)
_Scores: TypeAlias = tuple[NDArray[np.float32], str]  # of a frame with all settings, and its hash
_BLOCK_ANALYSES = 4096  # frames times settings of a block: about ten seconds of one core


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRun:
    """Labelled frames and their scores."""

    frames: (
        LabelledFrames  # polyp frames and the chosen normal ones, with the first setting's score
    )
    scores: NDArray[np.float32]  # x settings; NaN: not analysed, -inf: rejected by the setting
    pixel_hash: NDArray[np.object_]  # None: not analysed
    counts: dict[str, int]  # of all frames: found, polyp, normal, other, unlabelled
    unscored: tuple[tuple[str, str], ...]  # frames that could not be analysed, with the reason
    exams: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]  # exams that could not be read, with the reason
    fields_of_view: dict[str, list[FieldOfViewRecord]]  # by exam
    problems: tuple[LabelProblem, ...]  # of the labels and of matching

    @property
    def complete(self) -> bool:
        """Whether every exam was read and every chosen frame was analysed."""
        return not self.failed and not self.unscored

    def content(self) -> dict[str, Any]:
        """Return exams, counts and problems as plain values, for JSON files."""
        analysed = int((self.frames.truth == NORMAL).sum())
        return {
            "exams": list(self.exams),
            "failed": dict(self.failed),
            "fields_of_view": self.fields_of_view,
            "frames": self.counts | {"normal_analysed": analysed, "unscored": len(self.unscored)},
            "unscored": dict(self.unscored),
            "group_kind": self.frames.group_kind,
            "polyp_word": self.frames.polyp_word,
            "problems": [asdict(problem) for problem in self.problems],
        }


def score_labelled_frames(
    inputs: Inputs,
    labels: LabelSet,
    parameters: Sequence[Parameters],
    out: Path | None = None,
    *,
    settings: LabelledRunSettings,
    splits: Splits | None = None,
    check: Callable[[LabelledFrames], None] | None = None,
    progress: "Listener | None" = None,
) -> LabelledRun:
    """Score the labelled frames of exams with each of many settings.

    `check` is called with the chosen frames before any of them is analysed; it may raise an error.
    The scores are stored in `out`, block by block, so the next call continues; None stores nothing.

    Raises
    ------
    FileError
        No exam can be read, or no frame is labelled polyp or normal.
    OccupiedError
        `out` contains scores of other frames, labels or settings.
    """
    with choose_executor(workers=settings.workers) as executor:
        paths = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
        surveys, failed = survey_exams(
            executor,
            [os.fspath(path) for path in paths],
            settings.field_of_view,
            full_names=settings.full_names,
        )
        table = _frame_table(surveys)
        matched = match(table, labels, splits)
        normal = matched.labels.truth == NORMAL
        if settings.normals is not None:
            normal = draw_normals(normal, count=settings.normals, seed=settings.seed)
        chosen = np.flatnonzero((matched.labels.truth == POLYP) | normal)
        if not len(chosen):
            raise FileError(
                f"no frame of the exams is labelled polyp or normal in "
                f"{labels.path or 'the labels'}; give the labels of these exams"
            )
        frames = _labelled_frames(table, matched).take(chosen)
        if check is not None:
            check(frames)
        plan = _plan(surveys, frames, parameters, settings)
        with _opened(out, plan, overwrite=settings.overwrite) as store:
            scores, hashes, problems = _score(
                executor, surveys, chosen, parameters, store, progress
            )
    counts = {"polyp": POLYP, "normal": NORMAL, "other": OTHER, "unlabelled": UNLABELLED}
    found = {name: int((matched.labels.truth == code).sum()) for name, code in counts.items()}
    return LabelledRun(
        frames=replace(frames, score=scores[:, 0].astype(np.float64)),
        scores=scores,
        pixel_hash=hashes,
        counts={"found": table.num_rows} | found,
        unscored=tuple((_frame_name(frames, row), problems[row]) for row in sorted(problems)),
        exams=tuple(surveys),
        failed=tuple(sorted(failed.items())),
        fields_of_view={
            exam: field_of_view_records(heads, settings.field_of_view)
            for exam, heads in surveys.items()
        },
        problems=(*labels.problems, *matched.problems),
    )


def _frame_table(surveys: Mapping[str, Sequence[Head]]) -> pa.Table:
    """Return the columns exam, head, frame, path and file of all frames."""
    parts: list[pa.Table] = []
    for exam, heads in surveys.items():
        for head in heads:
            source = open_source(head.place)
            files = [f.file for s in head.survey.segments for f in source.expected(s)]
            root = PurePath(head.place.path).as_posix()
            columns = {
                "exam": pa.array([exam] * len(files), pa.string()),
                "head": pa.array([head.place.head] * len(files), pa.int16()),
                "frame": pa.array(range(len(files)), pa.int64()),
                "path": pa.array([f and f"{root}/{f}" for f in files], pa.string()),
                "file": pa.array(files, pa.string()),
            }
            parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def draw_normals(normal: NDArray[np.bool_], *, count: int, seed: int) -> NDArray[np.bool_]:
    """Return which normal frames are drawn: `count` of all, each with the same chance."""
    rows = np.flatnonzero(normal)
    drawn = np.zeros(len(normal), np.bool_)
    drawn[np.random.default_rng(seed).permutation(rows)[:count]] = True
    return drawn


def _labelled_frames(table: pa.Table, matched: Matched) -> LabelledFrames:
    size = table.num_rows
    exam = table["exam"].combine_chunks().dictionary_encode()
    file = table["file"]
    columns = FrameColumns(
        exam=Coded(tuple(exam.dictionary.to_pylist()), exam.indices.to_numpy()),
        head=table["head"].to_numpy(),
        frame=table["frame"].to_numpy(),
        file=None if file.null_count == size else file.to_numpy(zero_copy_only=False),
        time=np.full(size, np.nan),
        decoded=np.ones(size, np.bool_),
        score=np.full(size, np.nan),
        reason=Coded.unknown(size),
        flagged=np.zeros(size, np.bool_),
        event=np.full(size, -1, np.int32),
        duplicate_of=np.full(size, -1, np.int64),
    )
    return LabelledFrames.of(columns, matched.labels)


def _frame_name(frames: LabelledFrames, row: int) -> str:
    if frames.file is not None and frames.file[row] is not None:
        return f"{frames.exam[row]}/{frames.file[row]}"
    head = f" of head {frames.head[row]}" if frames.head.any() else ""
    return f"{frames.exam[row]}, frame {frames.frame[row]}{head}"


def _plan(
    surveys: Mapping[str, Sequence[Head]],
    frames: LabelledFrames,
    parameters: Sequence[Parameters],
    settings: LabelledRunSettings,
) -> dict[str, Any]:
    """Return everything that determines the scores, as plain values."""
    view = settings.field_of_view
    names = [frames.exam[row] for row in range(len(frames))]
    keys = list(zip(names, frames.head.tolist(), frames.frame.tolist(), strict=True))
    return {
        "capsieve": __version__,
        "inputs": {
            f"{exam}, head {head.place.head}": head.survey.sha256
            for exam, heads in surveys.items()
            for head in heads
        },
        "labels": _digest([keys, frames.truth.tolist()]),
        "normals": settings.normals,
        "seed": settings.seed,
        "field of view": view if isinstance(view, str) else asdict(view),
        "parameters": _digest([each.to_dict() for each in parameters]),
    }


def _digest(content: Any) -> str:
    return sha256(json.dumps(content).encode()).hexdigest()[:16]


@contextmanager
def _opened(
    out: Path | None, plan: dict[str, Any], *, overwrite: bool
) -> Iterator[Segments | None]:
    """Lock the folder and yield the stored blocks of this plan; None without a folder."""
    if out is None:
        yield None
        return
    if (out / RECORD).exists():
        raise FileError(f"{out} is the folder of a screened exam; give another folder")
    with file_errors("create", out):
        out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        store = stored_scores(out)
        if overwrite:
            store.remove()
        there = store.plan()
        if there is not None and there != plan:
            shown = "; ".join(differences(there, plan)[:3])
            raise OccupiedError(
                f"{out} contains scores of another run ({shown}); start again with --overwrite, "
                "or choose another folder"
            )
        store.begin(plan)
        yield store


def stored_scores(out: Path) -> Segments:
    """Return the blocks of scores in a folder."""
    return Segments(out, _BLOCK, "scores")


def _score(
    executor: Executor,
    surveys: Mapping[str, Sequence[Head]],
    chosen: NDArray[np.intp],
    parameters: Sequence[Parameters],
    store: Segments | None,
    progress: "Listener | None",
) -> tuple[NDArray[np.float32], NDArray[np.object_], dict[int, str]]:
    """Return scores and frame hashes of the chosen frames, and why some have none."""
    scores = np.full((len(chosen), len(parameters)), np.nan, np.float32)
    hashes = np.full(len(chosen), None, object)
    problems: dict[int, str] = {}
    function = partial(_score_frames, tuple(parameters))
    blocks = dict(_blocks(surveys, chosen, function, max(1, _BLOCK_ANALYSES // len(parameters))))
    total, done, resumed = Counter[str](), Counter[str](), Counter[str]()
    for task, rows in blocks.items():
        total[task.exam] += len(rows)
    exams = list(total)

    def report(exam: str) -> None:
        if progress is not None:
            number = exams.index(exam) + 1
            progress(Progress(exam, number, len(exams), done[exam], total[exam], resumed[exam]))

    def take(task: SegmentTask[Any], values: Sequence[_Scores | str]) -> None:
        for row, value in zip(blocks[task], values, strict=True):
            if isinstance(value, str):
                problems[row] = value
            else:
                found, hashes[row] = value
                scores[row] = np.where(found > 0, found, -np.inf)  # 0: a rule rejected the frame
        done[task.exam] += len(values)

    waiting: dict[SegmentTask[Any], int] = {}
    for number, (task, rows) in enumerate(blocks.items()):
        if store is not None and store.has(0, number):
            take(task, _read_block(store, number))
            resumed[task.exam] += len(rows)
        else:
            waiting[task] = number
    for exam in exams:
        if resumed[exam] or exam == exams[0]:
            report(exam)
    for outcome in executor.run(map_frames, list(waiting)):
        task, values = outcome.task, outcome.result
        if values is None:  # not stored, so that the next run tries again
            values = [f"not analysed: {outcome.error}"] * len(blocks[task])
        elif store is not None:
            store.add(0, waiting[task], _block_content(values))
        take(task, values)
        report(task.exam)
    return scores, hashes, problems


def _blocks(
    surveys: Mapping[str, Sequence[Head]],
    chosen: NDArray[np.intp],
    function: Callable[..., list[Any]],
    size: int,
) -> Iterator[tuple[SegmentTask[Any], list[int]]]:
    """Yield tasks of at most `size` frames, each with the rows of its frames among the chosen."""
    first = 0
    for exam, heads in surveys.items():
        for head in heads:
            source = open_source(head.place)
            for segment in head.survey.segments:
                count = sum(1 for _ in source.expected(segment))
                low, high = np.searchsorted(chosen, [first, first + count])
                for start in range(low, high, size):
                    rows = list(range(start, min(start + size, high)))
                    wanted = tuple((chosen[rows] - first).tolist())
                    task = SegmentTask(exam, head.place, segment, head.fields, function, wanted)
                    yield task, rows
                first += count


def _score_frames(
    parameters: Sequence[Parameters],
    frames: Sequence[SourceFrame],
    fields: Sequence[FieldOfView | None],
) -> list[_Scores | str]:
    """Return for each frame its score with every setting and its hash, or why it has none."""
    values: list[_Scores | str] = []
    for frame, field_of_view in zip(frames, fields, strict=True):
        if frame.pixels is None:
            values.append(f"undecodable: {frame.problem}")
            continue
        try:
            results = analyze_each(frame.pixels, parameters, field_of_view)
        except FrameError as error:
            values.append(f"cannot be analysed: {error}")
        else:
            scores = np.array([result.score for result in results], np.float32)
            values.append((scores, pixel_hash(frame.pixels)))
    return values


def _block_content(values: Sequence[_Scores | str]) -> bytes:
    columns = [
        pa.array([v if isinstance(v, str) else None for v in values], pa.string()),
        pa.array([None if isinstance(v, str) else v[0] for v in values], pa.list_(pa.float32())),
        pa.array([None if isinstance(v, str) else v[1] for v in values], pa.string()),
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=_BLOCK), buffer, compression="zstd")
    return buffer.getvalue()


def _read_block(store: Segments, number: int) -> list[_Scores | str]:
    return [
        row["problem"] or (np.array(row["scores"], np.float32), row["pixel_hash"])
        for row in store.rows(0, number).to_pylist()
    ]
