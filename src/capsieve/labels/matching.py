"""Which label belongs to which frame, and what frames are grouped by."""

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.labels.label_set import (
    EXAMPLES,
    LabelProblem,
    LabelSet,
    Problems,
    coded,
    compute,
    joint_codes,
    tidy_paths,
)
from capsieve.labels.splits import KINDS, Splits, group_rows
from capsieve.statistics.frames import NORMAL, OTHER, POLYP, UNLABELLED, Coded, LabelledFrames

__all__ = [
    "PLACE_PROBLEMS",
    "FrameKeys",
    "LabelRows",
    "Matched",
    "Places",
    "Why",
    "find_frames",
    "match",
]

_TRUTH = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}
_KEYS = ["exam", "head", "frame", "file"]

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LabelRows:
    """Counts of the rows of the labels, per screened exam and last for rows of no screened exam.

    rows = first + repeated + contradicting + without_frame.

    Attributes
    ----------
    exams
        Names of the screened exams, in the order of the frames.
    rows
        All rows.
    first
        Rows that give a frame its label.
    repeated
        Rows that repeat the label of the same frame.
    contradicting
        Rows of frames that have no label because their rows contradict each other.
    without_frame
        Rows that fit no frame, or several.
    """

    exams: tuple[str, ...]
    rows: Codes
    first: Codes
    repeated: Codes
    contradicting: Codes
    without_frame: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Labels of frames.

    Attributes
    ----------
    truth, polyp, patient, unit, group, group_kind, source, finding, part, polyp_word
        As in :class:`~capsieve.statistics.frames.LabelledFrames`.
    problems
        Of the matching, then of the split ("split: ..."); not those of the labels.
    contradicted
        Frames that have no label because their rows contradict each other.
    in_two_parts
        Rows of the frames that the split puts into two parts, which is a leak. Their part is -1.
    rows
        Counts of the labels' rows that add up.
    """

    truth: NDArray[np.int8]
    polyp: Coded
    patient: Coded
    unit: Coded
    group: Coded
    group_kind: str
    source: Coded
    finding: Coded
    part: Coded
    polyp_word: str
    problems: tuple[LabelProblem, ...]
    contradicted: NDArray[np.bool_]
    in_two_parts: Codes
    rows: LabelRows

    def columns(self) -> dict[str, Any]:
        """Return the fields of LabelledFrames that come from labels, by name."""
        wanted = {entry.name for entry in fields(LabelledFrames)}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name in wanted}


def match(frames: pa.Table, labels: LabelSet, splits: Splits | None = None) -> Matched:
    """Find the frame of every row of labels; see :func:`find_frames`.

    Frames without a label get the patient, the reading unit and the source that all labelled frames
    of their screened exam have in common, if they do.

    Parameters
    ----------
    frames
        The columns exam, head, frame and path (of the image with its folders, null for videos),
        sorted by exam, head and frame.
    labels
        From :func:`~capsieve.labels.read_labels`.
    splits
        It gives the part of each frame, and its groups replace blocks that would be cut here.

    Raises
    ------
    FileError
        Rows have a frame number and no exam, and there are several exams.
    """
    known = FrameKeys(frames)
    table = labels.table
    places = find_frames(known, table, what=labels.path, unique_names=labels.unique_names)
    groups = group_rows(labels)
    group_names = [f"{k} {n}" for k, n in zip(groups.kinds, groups.names, strict=True)]
    words = coded(table["label"])
    truth = np.array([*(_TRUTH[word] for word in words.names), UNLABELLED], np.int32)[words.code]
    named = {name: coded(table[name]) for name in ("polyp", "patient", "source", "finding")}
    named["unit"] = _units(labels, named["patient"])
    codes = {name: column.code for name, column in named.items()}
    agreed = _per_frame(places.row, {**codes, "truth": truth, "group": groups.code}, len(known))
    told, contradicted = agreed.told, agreed.contradicted
    value = agreed.value
    frame_truth = np.where(told & ~contradicted, value["truth"], UNLABELLED).astype(np.int8)
    value["polyp"][frame_truth != POLYP] = -1
    value["finding"][contradicted] = -1
    for name in ("patient", "unit", "source"):
        value[name] = _filled(known.exam, value[name], told)
    problems = Problems()
    _note_keys(problems, table, places)
    _note_frames(problems, known, table, agreed, frame_truth)
    parts = _Parts(known, splits, labels, places, frame_truth)
    cut = np.append(groups.cut, False)[value["group"]]
    group, kind = _frame_groups(
        known,
        labelled=frame_truth >= 0,
        names=[*group_names, *(f"block {name}" for name in parts.blocks)],
        code=np.where(cut & (parts.block >= 0), parts.block + len(group_names), value["group"]),
        patient=Coded(named["patient"].names, value["patient"]),
        unit=Coded(named["unit"].names, value["unit"]) if labels.names_exams else None,
    )
    return Matched(
        truth=frame_truth,
        group=group,
        group_kind=kind,
        part=parts.part,
        polyp_word=labels.polyp_word,
        problems=(*problems.result(), *parts.problems),
        contradicted=contradicted,
        in_two_parts=parts.in_two,
        rows=_count_rows(known, places, agreed),
        **{name: Coded(column.names, value[name]) for name, column in named.items()},
    )


class FrameKeys:
    """Frames as rows of labels name them: by exam, head and number, and by the path of an image."""

    def __init__(self, frames: pa.Table) -> None:
        encoded = _whole(compute.fill_null(frames["exam"], "")).dictionary_encode()
        self.exams = tuple(encoded.dictionary.to_pylist())
        self.exam = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        self.head, self.frame = (
            compute.fill_null(frames[name], 0).to_numpy().astype(np.int64)
            for name in ("head", "frame")
        )
        self.path = tidy_paths(_whole(frames["path"]))
        has_path = _valid(self.path)
        self.has_files = np.zeros(len(self.exams), np.bool_)
        self.has_files[self.exam[has_path]] = True
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
    """The result for a row that names a frame."""

    FOUND = 0
    BY_NAME = 1  # found by the file name alone; the exam is not a screened one
    BY_FOLDER = 2  # found by file and folder; the folders above differ
    NO_EXAM = 3
    NO_FRAME = 4
    NO_FILE = 5
    AMBIGUOUS = 6
    TWO_HEADS = 7
    NO_NUMBER = 8
    SURPASSED = 9


PLACE_PROBLEMS = {
    Why.NO_EXAM: "the exam is not among the results",
    Why.BY_NAME: "the frame was found by its file name alone, because the exam of the row is not a "
    "screened exam",
    Why.BY_FOLDER: "file and folder agree with the frame, but the folders above differ",
    Why.NO_FRAME: "the exam has no such frame; frames are numbered from 0",
    Why.NO_FILE: "no screened frame has this file",
    Why.AMBIGUOUS: "several frames fit the row, or several rows fit the frame",
    Why.TWO_HEADS: "the exam has two heads, and the row names none",
    Why.NO_NUMBER: "the row names no frame number, and the exam is a video",
    Why.SURPASSED: "another row fits the frame better",
}


class Places(NamedTuple):
    """The frames of rows.

    Attributes
    ----------
    row
        Row in the table of frames; -1 if there is none.
    why
        A :class:`Why` per row.
    exam
        The exam in which the row was found, or that it names; -1 if it is not a screened one.
    """

    row: Codes
    why: NDArray[np.int8]
    exam: Codes


def find_frames(
    known: FrameKeys, keys: pa.Table, *, what: str, unique_names: bool = False
) -> Places:
    """Find the frames that rows name by exam, head and frame, or by file.

    If a row has both, the file counts, unless its exam was screened as a video. A path fits a frame
    if it is an ending of the frame's path, component by component (a bare file name is one), or if
    file and folder agree. Of several frames that fit, the one counts that agrees in most
    components; if several agree in as many, the row is ambiguous.

    The exam of a row need not be a screened exam. If it is one, only its frames are searched. If it
    is not, but other rows name screened exams, a bare file name does not fit a frame: image 1 of
    another exam is another frame. If rows with different keys fit a frame only by file and folder,
    or by file name and another exam, none of them counts, and a row that fits fully wins.

    Parameters
    ----------
    known
        All frames.
    keys
        The columns exam, head, frame and file.
    what
        For messages: where the rows were read.
    unique_names
        See :class:`~capsieve.labels.LabelSet`: the name of a file is enough for rows with an exam,
        and of several copies the best or else the first one counts.

    Raises
    ------
    FileError
        Rows have a frame number and no exam, and there are several exams.
    """
    exam = compute.index_in(_whole(keys["exam"]), value_set=pa.array(known.exams, pa.string()))
    exam = exam.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    named, has_file = _valid(keys["exam"]), _valid(keys["file"])
    files = np.append(known.has_files, known.has_files.any())  # the last one is for exam -1
    by_file = has_file & files[exam]
    by_number = ~by_file & _valid(keys["frame"])
    if len(known.exams) == 1:
        exam[by_number & ~named] = 0
    elif (count := int((by_number & ~named).sum())) > 0:
        raise FileError(
            f"{what} has {count} rows with a frame number and no exam, and there are "
            f"{len(known.exams)} exams; add the column exam"
        )
    row = np.full(len(keys), -1, np.int64)
    why = np.full(len(keys), Why.NO_NUMBER, np.int8)
    why[~by_number & ~by_file & named & (exam < 0)] = Why.NO_EXAM
    _find_numbers(known, keys, exam, np.flatnonzero(by_number), row, why)
    _find_files(known, keys, exam, np.flatnonzero(by_file), unique_names, row, why)
    _settle_weak(keys, row, why)
    exam[row >= 0] = known.exam[row[row >= 0]]
    return Places(row, why, exam)


def _find_numbers(
    known: FrameKeys,
    keys: pa.Table,
    exam: Codes,
    rows: Codes,
    row: Codes,
    why: NDArray[np.int8],
) -> None:
    if not len(rows):
        return
    wanted = exam[rows]
    frame = _numbers(keys["frame"])[rows]
    head = _numbers(keys["head"])[rows]
    without_head = head < 0
    head = np.where(without_head, np.append(known.only_head, -1)[wanted], head)
    numbers = np.unique(known.frame)
    heads = int(known.head.max(initial=0)) + 1
    place = np.minimum(np.searchsorted(numbers, frame), max(len(numbers) - 1, 0))
    possible = (wanted >= 0) & (head >= 0) & (head < heads)
    possible &= (numbers[place] == frame) if len(numbers) else False
    key = (known.exam * heads + known.head) * max(len(numbers), 1)
    key += np.searchsorted(numbers, known.frame)
    order = np.argsort(key, kind="stable")
    asked = (wanted * heads + head) * max(len(numbers), 1) + place
    spot = np.minimum(np.searchsorted(key, asked, sorter=order), max(len(key) - 1, 0))
    found = np.full(len(rows), -1, np.int64)
    if len(key):
        same = possible & (key[order[spot]] == asked)
        found[same] = order[spot[same]]
    row[rows] = found
    why[rows] = np.select(
        [found >= 0, wanted < 0, without_head & (head < 0)],
        [Why.FOUND, Why.NO_EXAM, Why.TWO_HEADS],
        Why.NO_FRAME,
    )


def _find_files(
    known: FrameKeys,
    keys: pa.Table,
    exam: Codes,
    rows: Codes,
    unique_names: bool,
    row: Codes,
    why: NDArray[np.int8],
) -> None:
    if not len(rows):
        return
    path = tidy_paths(_whole(keys["file"]).take(pa.array(rows)))
    scope, named = exam[rows], _valid(keys["exam"])[rows]
    unique = named if unique_names else np.zeros(len(rows), np.bool_)
    found, depth, several = _by_path(known, path, scope, unique)
    length = _components(path)
    # The exam is not a screened one, and no folder agrees: does the path name the exam?
    elsewhere = np.flatnonzero((found >= 0) & named & (scope < 0) & (depth == 1) & ~unique)
    exams = keys["exam"].take(pa.array(rows[elsewhere])).to_pylist()
    paths = known.path.take(pa.array(found[elsewhere])).to_pylist()
    stray = np.zeros(len(rows), np.bool_)
    stray[elsewhere] = [name not in file for name, file in zip(exams, paths, strict=True)]
    if (exam >= 0).any():  # names of exams are those of screened exams
        found[stray] = -1
        why_stray = Why.NO_EXAM
    else:
        why_stray = Why.BY_NAME
    row[rows] = found
    hit, whole = found >= 0, unique | (depth == length)
    why[rows] = np.select(
        [stray, hit & whole, hit, several, named & (scope < 0)],
        [why_stray, Why.FOUND, Why.BY_FOLDER, Why.AMBIGUOUS, Why.NO_EXAM],
        Why.NO_FILE,
    )


def _by_path(
    known: FrameKeys, path: pa.Array, scope: Codes, unique: NDArray[np.bool_]
) -> tuple[Codes, Codes, NDArray[np.bool_]]:
    """Return the frame of each path, the number of equal last components, and which are tied."""
    files = np.flatnonzero(_valid(known.path))
    whole = known.path.take(pa.array(files))
    longest, length = _components(whole), _components(path)
    found, agreed = np.full(len(path), -1, np.int64), np.zeros(len(path), np.int64)
    several = np.zeros(len(path), np.bool_)
    pending = np.ones(len(path), np.bool_)
    for depth in range(int(min(longest.max(initial=0), length.max(initial=0))), 0, -1):
        allowed = (length >= depth) & ((depth > 1) | (length == 1) | unique)
        for scoped in (False, True):
            asked = np.flatnonzero(pending & allowed & ((scope >= 0) == scoped))
            there = np.flatnonzero(longest >= depth)
            if not len(asked) or not len(there):
                continue
            endings = pa.concat_arrays([_ending(whole, there, depth), _ending(path, asked, depth)])
            code = _codes(endings)
            left, right = code[: len(there)], code[len(there) :]
            if scoped:
                exams = len(known.exams)
                left = left * exams + known.exam[files[there]]
                right = right * exams + scope[asked]
            values, first, counts = np.unique(left, return_index=True, return_counts=True)
            spot = np.minimum(np.searchsorted(values, right), len(values) - 1)
            fits = values[spot] == right
            one = fits & ((counts[spot] == 1) | unique[asked])
            found[asked[one]] = files[there[first[spot[one]]]]
            agreed[asked[one]] = depth
            several[asked[fits & ~one]] = True
            pending[asked[fits]] = False
    return found, agreed, several


def _settle_weak(keys: pa.Table, row: Codes, why: NDArray[np.int8]) -> None:
    """Let no frame be claimed by a weak match if another row has a better or an equal claim."""
    weak = np.flatnonzero((why == Why.BY_NAME) | (why == Why.BY_FOLDER))
    if not len(weak):
        return
    surpassed = np.isin(row[weak], row[why == Why.FOUND])
    why[weak[surpassed]] = Why.SURPASSED
    left = weak[~surpassed]
    chosen = pa.array(left)
    exam, file = (_codes(_whole(keys[name]).take(chosen)) for name in ("exam", "file"))
    _, first = np.unique(joint_codes(row[left], exam, file), return_index=True)
    frames, counts = np.unique(row[left][first], return_counts=True)
    why[left[np.isin(row[left], frames[counts > 1])]] = Why.AMBIGUOUS
    row[why >= Why.NO_EXAM] = -1


class _PerFrame(NamedTuple):
    """Rows brought together by frame.

    `value` has what the rows of a frame say, -1 if nothing or different things, `differs` where
    they say different things, `told` whether any row names the frame, `contradicted` whether they
    say different labels or patients, `repeated` the rows after the first that do not.
    """

    value: dict[str, NDArray[np.int32]]
    differs: dict[str, NDArray[np.bool_]]
    told: NDArray[np.bool_]
    contradicted: NDArray[np.bool_]
    repeated: Codes


def _per_frame(row: Codes, columns: dict[str, NDArray[Any]], frames: int) -> _PerFrame:
    used = np.flatnonzero(row >= 0)
    order = used[np.argsort(row[used], kind="stable")]
    place, starts = np.unique(row[order], return_index=True)
    value: dict[str, NDArray[np.int32]] = {}
    differs: dict[str, NDArray[np.bool_]] = {}
    for name, code in columns.items():
        value[name] = np.full(frames, -1, np.int32)
        differs[name] = np.zeros(frames, np.bool_)
        if not len(order):
            continue
        said = code[order].astype(np.int32)
        high = np.maximum.reduceat(said, starts)
        low = np.minimum.reduceat(np.where(said < 0, np.iinfo(np.int32).max, said), starts)
        several = (high >= 0) & (low != high)
        value[name][place] = np.where(several, -1, high)
        differs[name][place] = several
    told = np.zeros(frames, np.bool_)
    told[place] = True
    contradicted = differs["truth"] | differs["patient"]
    again = np.delete(order, starts)
    return _PerFrame(value, differs, told, contradicted, again[~contradicted[row[again]]])


def _units(labels: LabelSet, patient: Coded) -> Coded:
    """Return what a reader reads as one: the named exam, else the patient."""
    if not labels.names_exams:
        return Coded(tuple(f"patient {name}" for name in patient.names), patient.code)
    exam = coded(labels.table["exam"])
    alone = (exam.code < 0) & (patient.code >= 0)
    used, dense = np.unique(patient.code[alone], return_inverse=True)
    code = exam.code.copy()
    code[alone] = len(exam.names) + dense
    return Coded((*exam.names, *(f"patient {patient.names[n]}" for n in used)), code)


def _filled(exam: Codes, code: NDArray[np.int32], told: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Fill in what all labelled frames of a screened exam have in common; nothing if one differs.

    A folder with frames of many patients is screened as if it were an exam.
    """
    count = int(exam.max(initial=-1)) + 1
    low = np.full(count, np.iinfo(np.int32).max, np.int32)
    high = np.full(count, -1, np.int32)
    np.minimum.at(low, exam[told], code[told])
    np.maximum.at(high, exam[told], code[told])
    return np.where(told, code, np.where(low == high, high, -1)[exam]).astype(np.int32)


def _frame_groups(
    known: FrameKeys,
    *,
    labelled: NDArray[np.bool_],
    names: list[str],
    code: NDArray[Any],
    patient: Coded,
    unit: Coded | None,
) -> tuple[Coded, str]:
    """Return the group of each frame, and the kinds of those of labelled frames.

    Frames without a group in the labels are with their patient or exam if that is known, and else
    with the other such frames of their screened exam.
    """
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    group = np.append([number[name] for name in names], -1).astype(np.int64)[code]

    def fill(kind: str, column: Coded) -> None:
        mapped = [number.setdefault(f"{kind}{name}", len(number)) for name in column.names]
        missing = (group < 0) & (column.code >= 0)
        group[missing] = np.array([*mapped, -1])[column.code[missing]]

    fill("patient ", patient)
    if unit is not None:
        fill("exam ", unit)
    fill("exam ", Coded(known.exams, known.exam.astype(np.int32)))
    used, dense = np.unique(group, return_inverse=True)
    every = list(number)
    chosen = tuple(every[place] for place in used)
    seen = np.unique(dense[labelled]) if labelled.any() else range(len(chosen))
    kinds = {chosen[place].partition(" ")[0] for place in seen}
    kind = " or ".join(kind for kind in KINDS if kind in kinds)
    return Coded(chosen, dense.astype(np.int32)), kind


class _Parts:
    """The parts of a split, frame by frame; without a split every frame is in none."""

    def __init__(
        self,
        known: FrameKeys,
        splits: Splits | None,
        labels: LabelSet,
        places: Places,
        truth: NDArray[np.int8],
    ) -> None:
        code = np.full(len(known), -1, np.int32)
        self.part = Coded((), code)
        self.blocks: tuple[str, ...] = ()
        self.block = code
        self.in_two = np.empty(0, np.int64)
        self.problems: tuple[LabelProblem, ...] = ()
        if splits is None:
            return
        table = splits.table
        if not table.select(_KEYS).equals(labels.table.select(_KEYS)):
            places = find_frames(known, table, what=splits.path, unique_names=labels.unique_names)
        part, group = coded(table["part"]), coded(table["group"])
        is_block = compute.equal(compute.fill_null(table["kind"], ""), "block").to_numpy()
        found = np.flatnonzero(places.row >= 0)
        rows = places.row[found]
        code[rows] = part.code[found]  # the last row wins; if that matters, it is in two parts
        self.in_two = np.unique(rows[code[rows] != part.code[found]])
        code[self.in_two] = -1
        self.part = Coded(part.names, code)
        self.blocks = group.names
        self.block = np.full(len(known), -1, np.int32)
        self.block[rows] = np.where(is_block[found], group.code[found], -1)
        listed = np.zeros(len(known), np.bool_)
        listed[rows] = True
        problems = Problems()
        _note_keys(problems, table, places)
        for what, chosen, used in (
            ("the frame is in two parts, and counts in none", self.in_two, False),
            ("the labelled frame is in no part", np.flatnonzero((truth >= 0) & ~listed), False),
            ("the frame has no label", np.flatnonzero(listed & (truth < 0)), True),
        ):
            _note_rows(problems, known, what, chosen, used=used)
        self.problems = (
            *splits.problems,
            *(
                LabelProblem(f"split: {one.what}", one.rows, one.examples, one.used)
                for one in problems.result()
            ),
        )


def _note_keys(problems: Problems, keys: pa.Table, places: Places) -> None:
    """Add what is wrong with the keys of rows."""
    for why, what in PLACE_PROBLEMS.items():
        if why == Why.NO_EXAM:
            continue  # counted by exam below
        rows = np.flatnonzero(places.why == why)
        used = why in (Why.BY_NAME, Why.BY_FOLDER)
        problems.add(what, *_row_names(keys, rows), rows=len(rows), used=used)
    elsewhere = keys["exam"].take(pa.array(np.flatnonzero(places.why == Why.NO_EXAM)))
    counts = [
        (f"{entry['values']}: {_count(entry['counts'], 'row')}", entry["counts"])
        for entry in elsewhere.value_counts().to_pylist()
    ]
    _note_exams(problems, PLACE_PROBLEMS[Why.NO_EXAM], counts)


def _note_frames(
    problems: Problems,
    known: FrameKeys,
    keys: pa.Table,
    agreed: _PerFrame,
    truth: NDArray[np.int8],
) -> None:
    """Add what is wrong with the labels of frames."""
    contradicted, repeated = agreed.contradicted, agreed.repeated
    details = agreed.differs["polyp"] | agreed.differs["group"] | agreed.differs["finding"]
    silent = np.ones(len(known.exams), np.bool_)
    silent[known.exam[agreed.told]] = False
    bare = (truth == UNLABELLED) & ~silent[known.exam] & ~contradicted
    note = "the frame has two labels or patients that contradict each other"
    _note_rows(problems, known, note, np.flatnonzero(contradicted))
    note = "the frame has one label, but polyps, groups or findings that differ and are left out"
    _note_rows(problems, known, note, np.flatnonzero(details & ~contradicted), used=True)
    note = "the row repeats the label of another row for the same frame"
    problems.add(note, *_row_names(keys, repeated), rows=len(repeated), used=True)
    _note_rows(problems, known, "the frame has no label", np.flatnonzero(bare))
    sizes = np.bincount(known.exam, minlength=len(known.exams))
    exams = [
        (f"{known.exams[exam]}: {_count(int(sizes[exam]), 'frame')}", int(sizes[exam]))
        for exam in np.flatnonzero(silent)
    ]
    _note_exams(problems, "no frame of the exam has a label", exams)


def _note_rows(
    problems: Problems, known: FrameKeys, what: str, rows: Codes, *, used: bool = False
) -> None:
    examples = [known.name(row) for row in rows[:EXAMPLES].tolist()]
    problems.add(what, *examples, rows=len(rows), used=used)


def _note_exams(problems: Problems, what: str, exams: list[tuple[str, int]]) -> None:
    """Add a problem of whole exams: the first ones by name, and the number of the others."""
    examples = [text for text, _ in exams]
    if len(examples) > EXAMPLES:
        examples[EXAMPLES - 1 :] = [f"and {len(examples) - EXAMPLES + 1} more exams"]
    problems.add(what, *examples, rows=sum(count for _, count in exams))


def _row_names(keys: pa.Table, rows: Codes) -> list[str]:
    names: list[str] = []
    for row in keys.select(_KEYS).take(pa.array(rows[:EXAMPLES])).to_pylist():
        parts = [] if row["exam"] is None else [row["exam"]]
        if row["file"] is not None:
            parts.append(f"file {row['file']}")
        else:
            parts += [f"{name} {row[name]}" for name in ("head", "frame") if row[name] is not None]
        names.append(" ".join(parts))
    return names


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _count_rows(known: FrameKeys, places: Places, agreed: _PerFrame) -> LabelRows:
    size = len(known.exams) + 1
    found = places.row >= 0
    contrary = np.zeros(len(found), np.bool_)
    contrary[found] = agreed.contradicted[places.row[found]]
    repeated = np.zeros(len(found), np.bool_)
    repeated[agreed.repeated] = True

    def per_exam(chosen: NDArray[np.bool_]) -> Codes:
        return np.bincount(places.exam[chosen] % size, minlength=size).astype(np.int64)

    return LabelRows(
        exams=known.exams,
        rows=per_exam(np.ones(len(found), np.bool_)),
        first=per_exam(found & ~repeated & ~contrary),
        repeated=per_exam(repeated),
        contradicting=per_exam(contrary),
        without_frame=per_exam(~found),
    )


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _valid(column: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(_whole(column).is_valid().to_numpy(zero_copy_only=False), np.bool_)


def _numbers(column: pa.ChunkedArray) -> Codes:
    return compute.fill_null(column, -1).to_numpy().astype(np.int64)


def _codes(texts: pa.Array) -> Codes:
    indices = texts.dictionary_encode().indices.fill_null(-1)
    return indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _components(path: pa.Array) -> Codes:
    slashes = compute.count_substring(path, "/").fill_null(0)
    return slashes.to_numpy(zero_copy_only=False).astype(np.int64) + 1


def _ending(path: pa.Array, rows: Codes, depth: int) -> pa.Array:
    """Return the last components of paths that have at least as many."""
    chosen = path.take(pa.array(rows))
    if (_components(chosen) == depth).all():
        return chosen
    pattern = rf"(?s)^.*?((?:[^/]*/){{{depth - 1}}}[^/]*)$"
    return compute.replace_substring_regex(chosen, pattern=pattern, replacement=r"\1")
