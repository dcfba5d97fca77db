"""Labelled frames of exams, scored with many settings of Algorithm 1 without screening.

Robustness studies and parameter searches use it. Every segment is decoded once for all settings.
Workers store the scores block by block, so a killed run continues.
"""

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.errors import FileError, FrameError, OccupiedError, file_errors
from capsieve.evaluation.scores import frame_keys
from capsieve.evaluation.settings import LabelledRunSettings
from capsieve.frame_table import (
    NORMAL,
    OTHER,
    POLYP,
    UNLABELLED,
    Coded,
    FrameColumns,
    LabelledFrames,
    Mask,
)
from capsieve.frames import pixel_hash
from capsieve.labels import LabelProblem, LabelSet, Splits, match
from capsieve.paper.many_settings import analyze_each
from capsieve.parameters import Parameters
from capsieve.screening.executors import Executor, choose_executor
from capsieve.screening.plan import differences
from capsieve.screening.segment import FieldsOfView
from capsieve.screening.settings import Progress
from capsieve.screening.survey import Head, field_of_view_records, survey_exams
from capsieve.sources.base import Place, Segment, SourceFrame, open_source
from capsieve.store.record import RECORD, FieldOfViewRecord
from capsieve.store.segments import Segments, locked
from capsieve.user_files import PathLike

if TYPE_CHECKING:
    from capsieve.screening.settings import Listener

ExamPaths = PathLike | Sequence[PathLike]

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
    inputs: ExamPaths,
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
        every, paths = _all_frames(surveys)
        matched = match(frame_keys(every, paths), labels, splits)
        normal = matched.labels.truth == NORMAL
        if settings.normals is not None:
            normal = draw_normals(normal, count=settings.normals, seed=settings.seed)
        chosen = np.flatnonzero((matched.labels.truth == POLYP) | normal)
        if not len(chosen):
            raise FileError(
                f"no frame of the exams is labelled polyp or normal in "
                f"{labels.path or 'the labels'}; give the labels of these exams"
            )
        frames = LabelledFrames.of(every, matched.labels).take(chosen)
        if check is not None:
            check(frames)
        plan = _plan(surveys, frames, parameters, settings)
        with _opened(out, plan, overwrite=settings.overwrite) as store:
            scores, hashes, problems = _score(
                executor, surveys, chosen, parameters, store, progress
            )
    counts = {"polyp": POLYP, "normal": NORMAL, "other": OTHER, "unlabelled": UNLABELLED}
    numbers = {name: int((matched.labels.truth == code).sum()) for name, code in counts.items()}
    return LabelledRun(
        frames=replace(frames, score=scores[:, 0].astype(np.float64)),
        scores=scores,
        pixel_hash=hashes,
        counts={"found": len(every)} | numbers,
        unscored=tuple((_frame_name(frames, row), problems[row]) for row in sorted(problems)),
        exams=tuple(surveys),
        failed=tuple(sorted(failed.items())),
        fields_of_view={
            exam: field_of_view_records(heads, settings.field_of_view)
            for exam, heads in surveys.items()
        },
        problems=(*labels.problems, *matched.problems),
    )


def _all_frames(surveys: Mapping[str, Sequence[Head]]) -> tuple[FrameColumns, pa.Array]:
    """Return all frames of the exams, and the path of the image of each; null for videos."""
    files: list[str | None] = []
    paths: list[str | None] = []
    keys: list[tuple[int, int, int]] = []
    for exam, heads in enumerate(surveys.values()):
        for head in heads:
            source, root = open_source(head.place), PurePath(head.place.path).as_posix()
            names = [f.file for s in head.survey.segments for f in source.expected(s)]
            files += names
            paths += [name and f"{root}/{name}" for name in names]
            keys += [(exam, head.place.head, frame) for frame in range(len(names))]
    code, number, frame = np.array(keys, np.int64).reshape(-1, 3).T
    exams = Coded(tuple(surveys), code.astype(np.int32))
    frames = FrameColumns.of_keys(exams, number.astype(np.int16), frame)
    if any(files):
        frames = replace(frames, file=np.array(files, object))
    return frames, pa.array(paths, pa.string())


def draw_normals(normal: Mask, *, count: int, seed: int) -> Mask:
    """Return which normal frames are drawn: `count` of all, each with the same chance."""
    rows = np.flatnonzero(normal)
    drawn = np.zeros(len(normal), np.bool_)
    drawn[np.random.default_rng(seed).permutation(rows)[:count]] = True
    return drawn


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
    segments = list(_segments(surveys, chosen))
    size = max(1, _BLOCK_ANALYSES // len(parameters))
    total, done, resumed = Counter[str](), Counter[str](), Counter[str]()
    for segment in segments:
        total[segment.exam] += len(segment.rows)
    exams = list(total)

    def report(exam: str) -> None:
        if progress is not None:
            number = exams.index(exam) + 1
            progress(Progress(exam, number, len(exams), done[exam], total[exam], resumed[exam]))

    def take(exam: str, rows: Sequence[int], values: Sequence[_Scores | str]) -> None:
        for row, value in zip(rows, values, strict=True):
            if isinstance(value, str):
                problems[row] = value
            else:
                score, hashes[row] = value
                scores[row] = np.where(score > 0, score, -np.inf)  # 0: a rule rejected the frame
        done[exam] += len(values)

    tasks: list[_SegmentFrames] = []
    for segment in segments:
        missing: list[slice] = []
        for block in _block_slices(len(segment.rows), size):
            rows = segment.rows[block]
            if store is not None and store.has(0, rows[0]):
                take(segment.exam, rows, _read_block(store, rows[0]))
                resumed[segment.exam] += len(rows)
            else:
                missing.append(block)
        if missing:
            tasks.append(segment.select(missing))
    for exam in exams:
        if resumed[exam] or exam == exams[0]:
            report(exam)
    for outcome in executor.run(partial(_score_segment, tuple(parameters), store, size), tasks):
        task, values = outcome.task, outcome.result
        if values is None:  # the next run tries again
            values = [f"not analysed: {outcome.error}"] * len(task.rows)
        take(task.exam, task.rows, values)
        report(task.exam)
    return scores, hashes, problems


@dataclass(frozen=True, slots=True)
class _SegmentFrames:
    """Frames of a segment: their positions in it, and their rows among the chosen frames."""

    exam: str
    place: Place
    segment: Segment
    fields: FieldsOfView = field(hash=False)
    positions: tuple[int, ...]
    rows: tuple[int, ...]

    def __str__(self) -> str:
        return f"segment {self.segment.number} of head {self.place.head} of {self.exam}"

    def select(self, blocks: Sequence[slice]) -> "_SegmentFrames":
        """Return the frames of some blocks."""
        positions, rows = (
            tuple(value for block in blocks for value in values[block])
            for values in (self.positions, self.rows)
        )
        return replace(self, positions=positions, rows=rows)


def _segments(
    surveys: Mapping[str, Sequence[Head]], chosen: NDArray[np.intp]
) -> Iterator[_SegmentFrames]:
    """Yield the segments that contain chosen frames."""
    first = 0
    for exam, heads in surveys.items():
        for head in heads:
            source = open_source(head.place)
            for segment in head.survey.segments:
                count = sum(1 for _ in source.expected(segment))
                low, high = np.searchsorted(chosen, [first, first + count]).tolist()
                if low < high:
                    positions = tuple((chosen[low:high] - first).tolist())
                    rows = tuple(range(low, high))
                    yield _SegmentFrames(exam, head.place, segment, head.fields, positions, rows)
                first += count


def _block_slices(count: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _score_segment(
    parameters: Sequence[Parameters], store: Segments | None, size: int, task: _SegmentFrames
) -> list[_Scores | str]:
    """Return for each frame its score with every setting and its hash, or why it has none.

    The segment is decoded once. Each block is stored, under the row of its first frame, as soon as
    it is scored.
    """
    frames = _decoded(task)
    values: list[_Scores | str] = []
    for block in _block_slices(len(task.rows), size):
        scored = [
            _score_frame(frame, parameters, task.fields)
            for frame in islice(frames, block.stop - block.start)
        ]
        if store is not None:
            store.add(0, task.rows[block.start], _block_content(scored))
        values += scored
    return values


def _decoded(task: _SegmentFrames) -> Iterator[SourceFrame]:
    frames = enumerate(open_source(task.place).frames(task.segment))
    for position in task.positions:
        decoded = next((frame for number, frame in frames if number == position), None)
        yield decoded or SourceFrame(None, problem="the source ends before this frame")


def _score_frame(
    frame: SourceFrame, parameters: Sequence[Parameters], fields: FieldsOfView
) -> _Scores | str:
    if frame.pixels is None:
        return f"undecodable: {frame.problem}"
    try:
        results = analyze_each(frame.pixels, parameters, fields.get(frame.pixels.shape[:2]))
    except FrameError as error:
        return f"cannot be analysed: {error}"
    scores = np.array([result.score for result in results], np.float32)
    return scores, pixel_hash(frame.pixels)


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
