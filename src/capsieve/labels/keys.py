"""The frames that rows of labels, splits and outlines name: by number, or by path."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_table import Integers, Mask
from capsieve.labels.columns import (
    compute,
    joint_codes,
    text_codes,
    tidy_paths,
    whole_column,
)

KEYS = ["exam", "head", "frame", "file"]
"""Columns that name a frame."""


class FrameKeys:
    """Frames by exam, head and number, and by the path of an image; see `match`."""

    def __init__(self, frames: pa.Table) -> None:
        self.exam, names = text_codes(compute.fill_null(frames["exam"], ""))
        self.exams = tuple(names.to_pylist())
        self.head, self.frame = _numbers(frames["head"]), _numbers(frames["frame"])
        self.path = tidy_paths(whole_column(frames["path"]).cast(pa.string()))
        self.has_files = np.zeros(len(self.exams), np.bool_)
        self.has_files[self.exam[_valid(self.path)]] = True
        low, high = np.full(len(self.exams), 2**16), np.full(len(self.exams), -1)
        np.minimum.at(low, self.exam, self.head)
        np.maximum.at(high, self.exam, self.head)
        self.only_head = np.where(low == high, low, -1)

    def __len__(self) -> int:
        return len(self.exam)

    def name(self, row: int) -> str:
        """Name a frame as a person would."""
        exam, path = self.exams[self.exam[row]], self.path[row].as_py()
        if path is not None:
            return f"{exam}/{path.rpartition('/')[2]}"
        head = f" head {self.head[row]}" if self.only_head[self.exam[row]] < 0 else ""
        return f"{exam}{head} frame {self.frame[row]}"


class Why(IntEnum):
    """The result for a row."""

    FOUND = 0
    BY_FILE = 1
    BY_FOLDER = 2
    NO_EXAM = 3  # from here on no frame was found
    NO_FRAME = 4
    NO_FILE = 5
    AMBIGUOUS = 6
    TWO_HEADS = 7
    NO_NUMBER = 8
    SURPASSED = 9


KEY_PROBLEMS = {
    Why.BY_FILE: "the frame was found by its file alone: the exam of the row is not a screened one",
    Why.BY_FOLDER: "file and folder agree with the frame, but the folders above differ",
    Why.NO_EXAM: "the exam is not among the results",
    Why.NO_FRAME: "the exam has no such frame; frames are numbered from 0",
    Why.NO_FILE: "no screened frame has this file",
    Why.AMBIGUOUS: "several frames fit the row, or several rows fit the frame",
    Why.TWO_HEADS: "the exam has two heads, and the row names none",
    Why.NO_NUMBER: "the row names no frame by its number, and the exam is a video without files",
    Why.SURPASSED: "another row fits the frame better",
}
"""Problems of rows; rows with the first two are used nevertheless."""


class Matches(NamedTuple):
    """The frames of rows."""

    row: Integers  # in the table of frames; -1 if there is none
    why: NDArray[np.int8]  # a Why
    exam: Integers  # of the frame, or else of the row; -1 if it was not screened


def find_frames(
    known: FrameKeys, keys: pa.Table, *, read_from: str, unique_names: bool = False
) -> Matches:
    """Find the frames that rows name by exam, head and frame, or by file.

    If a row has both, the file counts, unless its exam was screened as a video. A path fits a frame
    if it is an ending of the frame's path, component by component (a bare file name is one), or if
    file and folder agree. Of several frames that fit, the one counts that agrees in most
    components; if several agree in as many, the row is ambiguous.

    The exam of a row need not be a screened exam. If it is one, or a folder with the images of only
    one (such as KID of KID-images), only its frames are searched. If it is not, but other rows name
    screened exams, the path of the frame must name it: image 1 of another exam is another frame. If
    rows with different keys fit a frame only in part (by file and folder, or with another exam),
    none of them counts, and a row that fits fully wins.

    With `unique_names` (see :class:`~capsieve.labels.LabelSet`) the name of a file is enough for
    rows with an exam, and of several copies the best or else the first one counts. Messages name
    `read_from` as the file of the rows; it is an error if rows have a frame number and no
    exam, and there are several exams.
    """
    exams = pa.array(known.exams, pa.string())
    exam = _numbers(compute.index_in(whole_column(keys["exam"]), value_set=exams))
    named, has_file = _valid(keys["exam"]), _valid(keys["file"])
    files = np.append(known.has_files, known.has_files.any())  # the last one is for exam -1
    by_file = has_file & files[exam]
    by_number = ~by_file & _valid(keys["frame"])
    if len(known.exams) == 1:
        exam[by_number & ~named] = 0
    elif (count := int((by_number & ~named).sum())) > 0:
        raise FileError(
            f"{read_from} has {count} rows with a frame number and no exam, and there are "
            f"{len(known.exams)} exams; add the column exam"
        )
    row = np.full(len(keys), -1, np.int64)
    why = np.full(len(keys), Why.NO_NUMBER, np.int8)
    why[~by_number & ~by_file & named & (exam < 0)] = Why.NO_EXAM
    rows = np.flatnonzero(by_number)
    row[rows], why[rows] = _find_numbers(known, keys, exam, rows)
    rows = np.flatnonzero(by_file)
    row[rows], why[rows] = _find_files(known, keys, exam, rows, unique_names)
    _settle_weak(keys, row, why)
    exam[row >= 0] = known.exam[row[row >= 0]]
    return Matches(row, why, exam)


def _find_numbers(
    known: FrameKeys, keys: pa.Table, exam: Integers, rows: Integers
) -> tuple[Integers, NDArray[np.int_]]:
    wanted, given, frame = exam[rows], _numbers(keys["head"])[rows], _numbers(keys["frame"])[rows]
    head = np.where(given < 0, np.append(known.only_head, -1)[wanted], given)
    pairs = ((known.exam, wanted), (known.head, head), (known.frame, frame))
    code = joint_codes(*(np.concatenate(pair) for pair in pairs))
    row, count = _lookup(code[: len(known)], code[len(known) :])
    cases = [count > 0, wanted < 0, head < 0]
    why = np.select(cases, [Why.FOUND, Why.NO_EXAM, Why.TWO_HEADS], Why.NO_FRAME)
    return np.where(count > 0, row, -1), why


def _find_files(
    known: FrameKeys, keys: pa.Table, exam: Integers, rows: Integers, unique_names: bool
) -> tuple[Integers, NDArray[np.int_]]:
    path = tidy_paths(whole_column(keys["file"]).take(pa.array(rows)))
    scope, named = exam[rows], _valid(keys["exam"])[rows]
    unknown = named & (scope < 0)
    scope[unknown] = _owners(known, keys["exam"].take(pa.array(rows[unknown])))
    unique = named & unique_names
    row, depth, several = _by_path(known, path, scope, unique)
    # If the exam is not a screened one, the path of the frame should name it.
    elsewhere = np.flatnonzero((row >= 0) & named & (scope < 0) & ~unique)
    exams = keys["exam"].take(pa.array(rows[elsewhere])).to_pylist()
    paths = known.path.take(pa.array(row[elsewhere])).to_pylist()
    stray = np.zeros(len(rows), np.bool_)
    stray[elsewhere] = [not _names(file, exam) for file, exam in zip(paths, exams, strict=True)]
    names_screened = bool((exam >= 0).any())
    if names_screened:
        row[stray] = -1
    hit, whole = row >= 0, unique | (depth == _components(path))
    why = np.select(
        [stray, hit & whole, hit, several, named & (scope < 0)],
        [
            Why.NO_EXAM if names_screened else Why.BY_FILE,
            *(Why.FOUND, Why.BY_FOLDER, Why.AMBIGUOUS, Why.NO_EXAM),
        ],
        Why.NO_FILE,
    )
    return row, why


def _owners(known: FrameKeys, exam: pa.ChunkedArray) -> Integers:
    """Return for each name the exam with its images in a folder of this name, if it is only one."""
    code, names = text_codes(exam)
    files = np.flatnonzero(_valid(known.path))
    inside, first = np.unique(known.exam[files], return_index=True)
    folders = [path.split("/")[:-1] for path in known.path.take(pa.array(files[first])).to_pylist()]
    owner = np.full(len(names) + 1, -1, np.int64)
    for number, name in enumerate(names.to_pylist()):
        owners = [exam for exam, parts in zip(inside, folders, strict=True) if name in parts]
        owner[number] = owners[0] if len(owners) == 1 else -1
    return owner[code]


def _names(path: str, exam: str) -> bool:
    """Return whether a folder is the exam, or the file name starts with it: EXAM_12.jpg."""
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0]
    begins = stem.startswith(exam) and len(stem) > len(exam) and not stem[len(exam)].isalnum()
    return begins or exam in folders


def _by_path(
    known: FrameKeys, path: pa.Array, scope: Integers, unique: Mask
) -> tuple[Integers, Integers, Mask]:
    """Return the frame of each path, the number of equal last components, and which are tied."""
    files = np.flatnonzero(_valid(known.path))
    whole = known.path.take(pa.array(files))
    longest, length = _components(whole), _components(path)
    row, agreed = np.full(len(path), -1, np.int64), np.zeros(len(path), np.int64)
    several = np.zeros(len(path), np.bool_)
    pending = np.ones(len(path), np.bool_)
    for depth in range(int(min(longest.max(initial=0), length.max(initial=0))), 0, -1):
        allowed = (length >= depth) & ((depth > 1) | (length == 1) | unique)
        asked, there = np.flatnonzero(pending & allowed), np.flatnonzero(longest >= depth)
        if not len(asked):
            continue
        endings = pa.concat_arrays([_ending(whole, there, depth), _ending(path, asked, depth)])
        code, _ = text_codes(endings)
        # Every frame is there twice: for rows of any exam, and for rows of its own.
        any_exam, own = np.full(len(there), -1), known.exam[files[there]]
        left, right = code[: len(there)], code[len(there) :]
        joint = joint_codes(
            np.concatenate([left, left, right]), np.concatenate([any_exam, own, scope[asked]])
        )
        candidate, count = _lookup(joint[: 2 * len(there)], joint[2 * len(there) :])
        fits = count > 0
        unambiguous = (count == 1) | (fits & unique[asked])
        row[asked[unambiguous]] = files[there[candidate[unambiguous] % len(there)]]
        agreed[asked[unambiguous]] = depth
        several[asked[fits & ~unambiguous]] = True
        pending[asked[fits]] = False
    return row, agreed, several


def _settle_weak(keys: pa.Table, row: Integers, why: NDArray[np.int8]) -> None:
    """Let no frame be claimed by a weak match if another row has a better or an equal claim."""
    weak = np.flatnonzero((why == Why.BY_FILE) | (why == Why.BY_FOLDER))
    if not len(weak):
        return
    surpassed = np.isin(row[weak], row[why == Why.FOUND])
    why[weak[surpassed]] = Why.SURPASSED
    left = weak[~surpassed]
    chosen = pa.array(left)
    exam, file = (text_codes(keys[name].take(chosen))[0] for name in ("exam", "file"))
    _, first = np.unique(joint_codes(row[left], exam, file), return_index=True)
    frames, counts = np.unique(row[left][first], return_counts=True)
    why[left[np.isin(row[left], frames[counts > 1])]] = Why.AMBIGUOUS
    row[why >= Why.NO_EXAM] = -1


def _lookup(known: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """Return the first place of each wanted code among the known ones, and how often it occurs."""
    if not len(known):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.int64)
    values, first, counts = np.unique(known, return_index=True, return_counts=True)
    spot = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return first[spot], np.where(values[spot] == wanted, counts[spot], 0)


def _valid(column: pa.Array | pa.ChunkedArray) -> Mask:
    return np.asarray(whole_column(column).is_valid().to_numpy(zero_copy_only=False), np.bool_)


def _numbers(column: pa.Array | pa.ChunkedArray) -> Integers:
    column = whole_column(compute.fill_null(column, -1))
    return column.to_numpy(zero_copy_only=False).astype(np.int64)


def _components(path: pa.Array) -> Integers:
    slashes = compute.count_substring(path, "/").fill_null(0)
    return slashes.to_numpy(zero_copy_only=False).astype(np.int64) + 1


def _ending(path: pa.Array, rows: Integers, depth: int) -> pa.Array:
    """Return the last components of paths that have at least as many."""
    chosen = path.take(pa.array(rows))
    if (_components(chosen) == depth).all():
        return chosen
    pattern = rf"(?s)^.*?((?:[^/]*/){{{depth - 1}}}[^/]*)$"
    return compute.replace_substring_regex(chosen, pattern=pattern, replacement=r"\1")
