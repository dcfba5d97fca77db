"""Scores of frames, before labels: results of ``capsieve screen``, or a table of any program.

A table (SCORES.csv, a data frame, a dict of arrays) has the columns exam and frame, or file, and
score; and if known head, time_s, source, row, col and leak (a leak that was allowed when the frame
was scored). Any finite number is a score, and higher means polyp; an empty cell is a frame that was
not scored.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.detectors import same_scores
from capsieve.errors import FileError
from capsieve.frame_table import FlagRule, Floats, FrameColumns, Integers, Mask
from capsieve.labels.columns import (
    code_range,
    coded,
    column_names,
    compute,
    number_column,
    text_codes,
    text_column,
    tidy_paths,
    whole_column,
    whole_numbers,
)
from capsieve.labels.label_set import LabelSet
from capsieve.labels.tables import RawTable, as_table, read_table
from capsieve.phash import BITS, PixelHashes
from capsieve.store.choice import Choice, stored_choice
from capsieve.store.exam import Exam, exam_folders, unfinished_exams
from capsieve.store.frame_columns import COLUMNS, frame_columns
from capsieve.store.record import RECORD
from capsieve.user_files import PathLike

Scores = PathLike | Mapping[str, Any] | Any
"""OUT, OUT/EXAM, a table of scores, a data frame or a dict of arrays."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredFrames:
    """Scored frames without labels.

    Attributes
    ----------
    name
        The path, or "scores" for values in memory.
    frames
        The frames with their scores.
    path
        Known part of the path of each frame's image, or null.
    source
        Device or data set per frame, or None.
    leak
        For each frame the kinds of leaks that were allowed when it was scored, or null; or None.
    pixel_hash, hashes
        Frame hashes (null if a frame was not decoded), and hashes of the images to find leaks; None
        if the images are unknown.
    detector, parameters
        Detector and parameters as in exam.json; {} for scores of other programs.
    rules
        The rule that flagged each exam; () for scores of other programs.
    choice
        What calibration frames chose for these results, with the hashes of these frames; or None.
    folders
        Folders of the exams, in the order of ``frames.exam.names``; () for scores of other
        programs.
    numbered
        Whether the scores have frame numbers, or only files.
    models
        Paths at which the detector's model file may be.
    warnings
        Sentences.
    """

    name: str
    frames: FrameColumns
    path: pa.Array
    source: pa.Array | None
    pixel_hash: pa.Array | None = None
    hashes: PixelHashes | None = None
    detector: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rules: tuple[FlagRule, ...] = ()
    choice: Choice | None = None
    folders: tuple[Path, ...] = ()
    numbered: bool = True
    models: tuple[str, ...] = ()
    leak: pa.Array | None = None
    warnings: tuple[str, ...] = ()


def read_scores(results: Scores, *, first_frame: int = 0) -> ScoredFrames:
    """Read scores without labels.

    Parameters
    ----------
    results
        Results of ``capsieve screen``, or a table of scores.
    first_frame
        Number of the first frame of an exam in a table; it is subtracted.

    Raises
    ------
    FileError
        The results are missing, damaged or unfinished, or a cell of the table is wrong or missing.
    """
    if not isinstance(results, str | os.PathLike):
        return _read_table(RawTable(as_table(results, "scores"), "the scores"), first_frame)
    path = Path(results)
    if path.is_dir():
        return _read_exams(path)
    raw = read_table(path)
    if raw.problems:
        problem = raw.problems[0]
        example = f" ({problem.examples[0]})" if problem.examples else ""
        raise FileError(f"{path}: {problem.what}{example}; correct the table")
    return _read_table(raw, first_frame)


def frame_keys(frames: FrameColumns, path: pa.Array) -> pa.Table:
    """Return keys, paths and sizes (if known) of frames, to match them with labels and outlines."""
    sizes = {"rows": frames.rows, "cols": frames.cols}
    return pa.table(
        {
            "exam": pa.array(frames.exam.names, pa.string()).take(pa.array(frames.exam.code)),
            "head": pa.array(frames.head),
            "frame": pa.array(frames.frame),
            "path": path,
            **{
                name: pa.array(each, pa.int64()) for name, each in sizes.items() if each is not None
            },
        }
    )


def numbering_warnings(scored: ScoredFrames, labels: LabelSet) -> tuple[str, ...]:
    """Return a warning if scores and labels seem to number the first frame differently.

    Each score would be compared with the label of the next frame. In every exam the first number is
    1 on one side, and the other side has one that is lower, or ends before.
    """
    if not scored.numbered:
        return ()
    frames, names = scored.frames, pa.array(scored.frames.exam.names, pa.string())
    exam = compute.fill_null(compute.index_in(labels.table["exam"], value_set=names), -1).to_numpy()
    number = compute.fill_null(labels.table["frame"], -1).to_numpy()
    if len(names) == 1:
        exam = np.where(labels.table["exam"].is_null().to_numpy(), 0, exam)
    named = (exam >= 0) & (number >= 0) & labels.table["file"].is_null().to_numpy()
    low, high = code_range(frames.exam.code, frames.frame, len(names))
    label_low, label_high = code_range(exam[named], number[named], len(names))
    both = (high >= 0) & (label_high >= 0)
    if not both.any():
        return ()
    low, high, label_low, label_high = (v[both] for v in (low, high, label_low, label_high))
    scores_from_1 = (low == 1) & (label_high < high)
    labels_from_1 = (low == 0) & (label_low >= 1) & (label_high <= high + 1)
    shown = (
        f"exam {np.array(scored.frames.exam.names)[both][0]}: scores {low[0]} to {high[0]}, labels "
        f"{label_low[0]} to {label_high[0]}"
    )
    if scores_from_1.all() and (label_low != 1).any():
        advice = "If so, give --first-frame 1 (first_frame=1)."
        from_1, from_0 = "scores", "labels"
    elif labels_from_1.all() and (label_high == high + 1).any():
        advice = "If so, subtract 1 from the column frame of the labels."
        from_1, from_0 = "labels", "scores"
    else:
        return ()
    return (
        f"The {from_1} seem to number frames from 1, and the {from_0} from 0 ({shown}): each score "
        f"is compared with the label of another frame. {advice}",
    )


# Results of capsieve screen.

_PHASHES = ("phash", "field_phash")
_LARGEST = {"head": 99, "frame": 10**12}
_SHOWN = 5


def _read_exams(out: Path) -> ScoredFrames:
    """Read results of one detector with one set of parameters."""
    exams = [Exam(folder) for folder in exam_folders(out)]
    _check_exams(exams, out)
    tables = [exam.columns(*COLUMNS, "pixel_hash", *_PHASHES) for exam in exams]
    table = pa.concat_tables(tables)
    pixel_hash = whole_column(table["pixel_hash"])
    names = [exam.record["exam"] for exam in exams]
    record = exams[0].record
    return ScoredFrames(
        name=str(out),
        frames=frame_columns(dict(zip(names, tables, strict=True))),
        path=pa.concat_arrays([_paths(*each) for each in zip(exams, tables, strict=True)]),
        source=None,
        pixel_hash=pixel_hash,
        hashes=_hashes(pixel_hash, [whole_column(table[name]) for name in _PHASHES]),
        detector=record["detector"],
        parameters=record["parameters"],
        rules=tuple(exam.rule for exam in exams),
        choice=stored_choice((exam.folder, exam.record) for exam in exams),
        folders=tuple(exam.folder for exam in exams),
        models=_model_places(exams, out),
        warnings=_warnings(exams, out),
    )


def _check_exams(exams: Sequence[Exam], out: Path) -> None:
    first, names = exams[0].record, set()
    for exam in exams:
        record = exam.record
        exam.check_tables()
        if record["exam"] in names:
            raise FileError(
                f"two exams in {out} are named {record['exam']!r}; evaluate them separately"
            )
        names.add(record["exam"])
        different = [
            *(["detectors"] if not same_scores(record["detector"], first["detector"]) else []),
            *(["parameters"] if record["parameters"] != first["parameters"] else []),
        ]
        if different:
            raise FileError(
                f"the exams {first['exam']} and {record['exam']} in {out} were screened with "
                f"different {different[0]}; evaluate them separately"
            )


def _paths(exam: Exam, table: pa.Table) -> pa.Array:
    """Return the path of the image of each frame; null for videos."""
    roots = {
        source["head"]: Path(source["path"]).as_posix()
        if source["kind"] == "folder"
        else exam.record["exam"]
        for source in exam.record["sources"]
    }
    root = pa.array([roots[head] for head in sorted(roots)])
    of_head = root.take(pa.array(np.searchsorted(sorted(roots), table["head"].to_numpy())))
    return compute.binary_join_element_wise(of_head, whole_column(table["file"]), "/")


def _hashes(pixel_hash: pa.Array, columns: Sequence[pa.Array]) -> PixelHashes:
    codes, _ = text_codes(pixel_hash)
    phash = np.zeros((len(pixel_hash), len(columns), BITS // 8), np.uint8)
    for kind, column in enumerate(columns):
        known = column.drop_null()
        if len(known):
            content = np.frombuffer(known.buffers()[1], np.uint8)  # no nulls: rows without gaps
            first = known.offset * (BITS // 8)
            rows = content[first : first + known.nbytes].reshape(-1, BITS // 8)
            phash[column.is_valid().to_numpy(zero_copy_only=False), kind] = rows
    return PixelHashes(codes, phash)


def _model_places(exams: Sequence[Exam], out: Path) -> tuple[str, ...]:
    """Return where the model file may be: where it was, next to the results, or here."""
    name = str(exams[0].record["detector"].get("name"))
    was = (str(exam.record["run"].get("model", "")) for exam in exams)
    nearby = (str(folder / name) for folder in (*out.absolute().parents[:2], Path.cwd()))
    return tuple(dict.fromkeys(path for path in (*was, *nearby) if path))


def _warnings(exams: Sequence[Exam], out: Path) -> tuple[str, ...]:
    versions: dict[str, list[str]] = {}
    for exam in exams:
        version = str(exam.record["detector"].get("scoring", "unknown"))
        versions.setdefault(version, []).append(exam.record["exam"])
    unfinished = [folder.name for folder in unfinished_exams(out)]
    tables = sorted((table.parent for table in out.glob("*/frames.parquet")), key=os.fspath)
    lost = [folder.name for folder in tables if not (folder / RECORD).is_file()]
    named = {
        "Not all frames of these exams could be screened": [
            exam.record["exam"] for exam in exams if not exam.record["complete"]
        ],
        "Screening of these exams is unfinished; they are left out": unfinished,
        f"These exams have no {RECORD}; they are left out": [
            name for name in lost if name not in unfinished
        ],
        "The exams were scored by different versions of the detector, so their scores are not "
        "comparable; screen those of the older version again with --overwrite": [
            f"version {version} has {', '.join(names[:_SHOWN])}"
            for version, names in versions.items()
            if len(versions) > 1
        ],
    }
    return tuple(
        f"{message}: {', '.join(names[:_SHOWN])}{' and others' if len(names) > _SHOWN else ''}."
        for message, names in named.items()
        if names
    )


# Scores of any program.


_COLUMNS = (
    *("exam", "head", "frame", "file", "score"),
    *("time_s", "source", "row", "col", "radius", "leak"),
)


def _read_table(raw: RawTable, first_frame: int) -> ScoredFrames:
    table, name = raw.table, raw.path
    names, count = column_names(table.column_names, _COLUMNS), table.num_rows
    if "score" not in names or not ({"exam", "frame"} <= names.keys() or "file" in names):
        raise FileError(
            f"{name} is not a table of scores: it needs the columns exam and frame (or file) and "
            f"score, and has {', '.join(table.column_names[:10]) or 'none'}"
        )
    if not count:
        raise FileError(f"{name} has no rows")

    def wrong(rows: Mask, message: str) -> None:
        if rows.any():
            raise FileError(f"{name}, {raw.name_rows([int(np.argmax(rows))])[0]}: {message}")

    def cells(column: str, read: Callable[..., Any]) -> Any:
        try:
            return read(table[names[column]], name=names[column])
        except FileError as error:
            raise FileError(f"{name}: {error}") from None

    def text(column: str) -> pa.Array:
        return cells(column, text_column) if column in names else pa.nulls(count, pa.string())

    def number(column: str) -> Floats:
        if column not in names:
            return np.full(count, np.nan)
        values = cells(column, number_column)
        infinite = np.isinf(values)
        cell = str(table[names[column]][int(np.argmax(infinite))].as_py())[:40]
        advice = "write it with a decimal point, and leave the cell empty if there is none"
        wrong(infinite, f"{column} is {cell!r}, not a finite number; {advice}")
        return values

    def whole(column: str) -> Integers:
        values, other = whole_numbers(text(column), largest=_LARGEST[column])
        wrong(other, f"{column} must be a whole number from 0 to {_LARGEST[column]:,}")
        return values

    file = tidy_paths(text("file"))
    exam = text("exam") if "exam" in names else _folders(file)
    head, frame = np.maximum(whole("head"), 0), whole("frame")
    wrong((frame >= 0) & (frame < first_frame), f"frames are numbered from {first_frame}")
    frame = np.where(frame < 0, frame, frame - first_frame)
    wrong(_nulls(exam), "the exam is missing")
    wrong((frame < 0) & _nulls(file), "the frame or file is missing")
    exams = coded(exam, in_order=True)
    code = exams.code
    wrong(_repeated(code, head, frame, file), "this frame has another row; keep one per frame")
    given, frame = frame, _numbered(code, head, frame)
    order = np.lexsort((frame, head, code))
    path = compute.binary_join_element_wise(exam, file, "/") if "exam" in names else file

    def position(column: str) -> Floats | None:
        return number(column)[order] if column in names else None

    return ScoredFrames(
        name=name,
        frames=replace(
            FrameColumns.of_keys(exams.take(order), head[order].astype(np.int16), frame[order]),
            file=None if _nulls(file).all() else _objects(file)[order],
            time=number("time_s")[order],
            score=number("score")[order],
            row=position("row"),
            col=position("col"),
            radius=position("radius"),
        ),
        path=path.take(pa.array(order)),
        source=text("source").take(pa.array(order)) if "source" in names else None,
        leak=text("leak").take(pa.array(order)) if "leak" in names else None,
        numbered=bool((given == frame).all()),
    )


def _folders(file: pa.Array) -> pa.Array:
    """Return the folder that each file is in, as its exam."""
    names = (None if path is None else PurePosixPath(path).parent.name for path in file.to_pylist())
    return pa.array(["." if name == "" else name for name in names], pa.string())


def _repeated(code: NDArray[np.int32], head: Integers, frame: Integers, file: pa.Array) -> Mask:
    """Return rows that name the same frame as an earlier one: by its file if there is one."""
    key, _ = text_codes(file)
    identity = np.stack([code, head, np.where(key < 0, frame, -1), key])
    _, first = np.unique(identity, axis=1, return_index=True)
    repeated = np.ones(len(code), bool)
    repeated[first] = False
    return repeated


def _numbered(code: NDArray[np.int32], head: Integers, frame: Integers) -> Integers:
    """Return frame numbers; if files lack some, all are numbered in the order of the table."""
    given = np.unique(np.stack([code, head, frame]), axis=1).shape[1]
    if (frame >= 0).all() and given == len(code):
        return frame
    last = np.where(frame < 0, np.iinfo(np.int64).max, frame)
    order = np.lexsort((last, head, code))  # stable
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(code[order]) != 0) | (np.diff(head[order]) != 0)
    start = np.flatnonzero(new)[np.cumsum(new) - 1]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order)) - start
    return numbers


def _objects(values: pa.Array) -> NDArray[np.object_]:
    return values.to_numpy(zero_copy_only=False)


def _nulls(values: pa.Array) -> Mask:
    return values.is_null().to_numpy(zero_copy_only=False)
