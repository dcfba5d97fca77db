"""Labels of screened frames: truth, polyps, patients, units, groups and parts of a split."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_table import (
    NORMAL,
    OTHER,
    POLYP,
    UNLABELLED,
    Coded,
    Integers,
    LabelColumns,
    Mask,
)
from capsieve.labels.columns import code_range, coded, compute
from capsieve.labels.groups import KINDS, group_rows
from capsieve.labels.keys import KEY_PROBLEMS, KEYS, FrameKeys, Matches, Why, find_frames
from capsieve.labels.label_set import EXAMPLES, LABELS, LabelProblem, LabelSet, Problems
from capsieve.labels.settle import Rows, check_labels, unite
from capsieve.labels.splits import Splits

_TRUTH = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}


class LabelRows(NamedTuple):
    """Counts of the rows of the labels, per screened exam and last for rows of no screened exam.

    rows = first + repeated + without_frame.

    Attributes
    ----------
    rows, first
        All rows, and those that give a frame its label.
    repeated
        Rows that label a frame again.
    without_frame
        Rows that fit no frame, or several.
    """

    rows: Integers
    first: Integers
    repeated: Integers
    without_frame: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Labels of frames.

    Attributes
    ----------
    labels
        One per frame.
    problems
        Problems of the matching, then of the split ("split: ..."); not those of the labels.
    in_two_parts
        Rows of the frames that the split puts into two parts, which is a leak. Their part is -1.
    rows
        Counts of the labels' rows that add up.
    """

    labels: LabelColumns
    problems: tuple[LabelProblem, ...]
    in_two_parts: Integers
    rows: LabelRows


def match(frames: pa.Table, labels: LabelSet, splits: Splits | None = None) -> Matched:
    """Find the frame of every row of labels; see :func:`~capsieve.labels.keys.find_frames`.

    Rows of one frame become one row by the rules by which labels are read. Frames without a label
    get the patient, the reading unit and the source that all labelled frames of their screened exam
    have in common, if they do.

    Parameters
    ----------
    frames
        The columns exam, head, frame and path (of the image with its folders, null for videos),
        sorted by exam, head and frame.
    labels
        Labels from :func:`~capsieve.labels.read_labels`.
    splits
        It gives the part of each frame, and its blocks replace those that would be cut here.

    Raises
    ------
    FileError
        Rows have a frame number and no exam, and there are several exams; or two rows of a frame
        have different labels or patients.
    """
    known, table = FrameKeys(frames), labels.table
    matches = find_frames(known, table, read_from=labels.path, unique_names=labels.unique_names)
    united, row, united_problems = _one_row_per_frame(known, labels, matches.row)
    groups = group_rows(united)
    names = {name: coded(united.table[name]) for name in ("polyp", "patient", "source", "finding")}
    exam = [("", coded(united.table["exam"]))] if labels.names_exams else []
    names["unit"] = _first_known(*exam, ("patient ", names["patient"]))
    words = coded(united.table["label"])
    there, named = row >= 0, np.zeros(len(known), np.bool_)
    named[row[there]] = True

    def of_frames(code: NDArray[np.integer]) -> NDArray[np.int32]:
        column = np.full(len(known), -1, np.int32)
        column[row[there]] = code[there]
        return column

    value = {name: of_frames(column.code) for name, column in names.items()}
    own_group = of_frames(groups.code)
    truth = np.array([*(_TRUTH[w] for w in words.names), UNLABELLED], np.int8)[
        of_frames(words.code)
    ]
    for name in ("patient", "unit", "source"):
        value[name] = _filled(known.exam, value[name], named)
    columns = {name: Coded(column.names, value[name]) for name, column in names.items()}
    parts = _parts(known, splits, labels, matches, truth)
    # Blocks of the split replace blocks that were cut.
    cut = np.append(groups.cut, False)[own_group] & (parts.block.code >= 0)
    own = tuple(f"{kind} {name}" for kind, name in zip(groups.kinds, groups.names, strict=True))
    group = _first_known(
        ("", Coded(own, np.where(cut, -1, own_group))),
        ("block ", Coded(parts.block.names, np.where(cut, parts.block.code, -1))),
        ("patient ", columns["patient"]),  # of frames without a label, as all that follow
        ("exam ", columns["unit"]),
        ("exam ", Coded(known.exams, known.exam.astype(np.int32))),
    )
    seen = np.unique(group.code[named] if named.any() else group.code)
    kinds = {group.names[code].partition(" ")[0] for code in seen}
    return Matched(
        labels=LabelColumns(
            truth=truth,
            polyp=columns["polyp"],
            patient=columns["patient"],
            unit=columns["unit"],
            group=group,
            group_kind=" or ".join(kind for kind in KINDS if kind in kinds),
            source=columns["source"],
            finding=columns["finding"],
            part=parts.part,
            polyp_word=labels.polyp_word,
        ),
        problems=(
            *_frame_problems(known, table, matches, named, united_problems),
            *parts.problems,
        ),
        in_two_parts=parts.in_two,
        rows=_count_rows(known, matches),
    )


def _one_row_per_frame(
    known: FrameKeys, labels: LabelSet, row: Integers
) -> tuple[LabelSet, Integers, tuple[LabelProblem, ...]]:
    """Unite rows of one frame with different keys; return labels, their frames, and problems."""
    frame, count = np.unique(row[row >= 0], return_counts=True)
    if (count < 2).all():
        return labels, row, ()
    of_several = np.flatnonzero(np.isin(row, frame[count > 1]))
    of_several = of_several[np.argsort(row[of_several], kind="stable")]
    starts = np.flatnonzero(np.diff(row[of_several])) + 1
    several = [rows.tolist() for rows in np.split(of_several, starts)]
    cells = {name: labels.table[name].to_pylist() for name in LABELS.names}
    for column in (cells[name] for name in KEYS):  # rows name their frame in different ways
        for same in several:
            given = [column[row] for row in same if column[row] is not None]
            column[same[0]] = given[0] if given else None
    rows = Rows(
        cells | {"reader": [None] * len(row)},
        lambda numbers: _row_names(labels.table, np.array(numbers, np.int64)),
    )
    try:
        check_labels(rows, several)
        unite(rows, several, [name for name in LABELS.names if name not in KEYS])
    except FileError as error:
        raise FileError(f"{labels.path}: {error}") from None
    kept = pa.array(rows.used, pa.int64())
    columns = [pa.array(rows.cells[field.name], field.type).take(kept) for field in LABELS]
    table = pa.table(columns, schema=LABELS)
    return replace(labels, table=table), row[rows.used], tuple(rows.problems)


def _first_known(*columns: tuple[str, Coded]) -> Coded:
    """Return of each row the first name that is known, with the prefix of its column."""
    number: dict[str, int] = {}
    code = np.full(len(columns[0][1].code), -1, np.int64)
    for prefix, column in columns:
        numbers = [number.setdefault(prefix + name, len(number)) for name in column.names]
        code = np.where(code < 0, np.array([*numbers, -1])[column.code], code)
    used = np.unique(code[code >= 0])
    names = list(number)
    dense = np.where(code < 0, -1, np.searchsorted(used, code)).astype(np.int32)
    return Coded(tuple(names[name_number] for name_number in used), dense)


def _filled(exam: Integers, code: NDArray[np.int32], named: Mask) -> NDArray[np.int32]:
    """Fill in the value that all labelled frames of a screened exam have in common.

    A folder with frames of many patients is screened as if it were an exam.
    """
    low, high = code_range(exam[named], code[named], int(exam.max(initial=-1)) + 1)
    return np.where(named, code, np.where(low == high, high, -1)[exam]).astype(np.int32)


class _Parts(NamedTuple):
    """The part and the block of each frame in a split, frames in two parts, and problems."""

    part: Coded
    block: Coded
    in_two: Integers
    problems: tuple[LabelProblem, ...]


def _parts(
    known: FrameKeys,
    splits: Splits | None,
    labels: LabelSet,
    matches: Matches,
    truth: NDArray[np.int8],
) -> _Parts:
    code, block = np.full(len(known), -1, np.int32), np.full(len(known), -1, np.int32)
    if splits is None:
        return _Parts(Coded((), code), Coded((), block), np.empty(0, np.int64), ())
    table = splits.table
    if not table.select(KEYS).equals(labels.table.select(KEYS)):
        matches = find_frames(known, table, read_from=splits.path, unique_names=labels.unique_names)
    part, group = coded(table["part"]), coded(table["group"])
    is_block = compute.equal(compute.fill_null(table["kind"], ""), "block").to_numpy()
    matched_rows = np.flatnonzero(matches.row >= 0)
    rows = matches.row[matched_rows]
    code[rows] = part.code[matched_rows]  # the last row wins; if that matters, it is in two parts
    in_two, listed = np.zeros(len(known), np.bool_), np.zeros(len(known), np.bool_)
    in_two[rows[code[rows] != part.code[matched_rows]]] = True
    listed[rows] = True
    code[in_two] = -1
    block[rows] = np.where(is_block[matched_rows], group.code[matched_rows], -1)
    notes = _Notes(known, table)
    notes.keys(matches)
    notes.frames("the frame is in two parts, and counts in none", in_two)
    notes.frames("the labelled frame is in no part", (truth >= 0) & ~listed)
    notes.frames("the frame has no label", listed & (truth < 0), used=True)
    of_split = (replace(problem, what=f"split: {problem.what}") for problem in notes.problems)
    problems = (*splits.problems, *of_split)
    part, group = Coded(part.names, code), Coded(group.names, block)
    return _Parts(part, group, np.flatnonzero(in_two), problems)


class _Notes:
    """Problems of rows and of frames, with the first few by name."""

    def __init__(self, known: FrameKeys, table: pa.Table) -> None:
        self.known = known
        self.table = table
        self.problems = Problems()

    def rows(self, message: str, rows: Integers, *, used: bool) -> None:
        """Count rows of the table."""
        names = _row_names(self.table, rows[:EXAMPLES])
        self.problems.add(message, *names, rows=len(rows), used=used)

    def frames(self, message: str, chosen: Mask, *, used: bool = False) -> None:
        """Count frames."""
        rows = np.flatnonzero(chosen).tolist()
        names = [self.known.name(row) for row in rows[:EXAMPLES]]
        self.problems.add(message, *names, rows=len(rows), used=used)

    def exams(self, message: str, noun: str, exams: Iterable[str]) -> None:
        """Count rows or frames by their exams."""
        counts = Counter(exams)
        names = [f"{exam}: {count} {noun}{'s' * (count != 1)}" for exam, count in counts.items()]
        if len(names) > EXAMPLES:
            names[EXAMPLES - 1 :] = [f"and {len(names) - EXAMPLES + 1} more exams"]
        self.problems.add(message, *names, rows=counts.total())

    def keys(self, matches: Matches) -> None:
        """Count rows that name no frame, or name it in an unusual way."""
        for why, message in KEY_PROBLEMS.items():
            rows = np.flatnonzero(matches.why == why)
            if why == Why.NO_EXAM:
                self.exams(message, "row", self.table["exam"].take(pa.array(rows)).to_pylist())
            else:
                self.rows(message, rows, used=why < Why.NO_EXAM)


def _row_names(table: pa.Table, rows: Integers) -> list[str]:
    """Name rows by the columns that name their frames."""
    names: list[str] = []
    for row in table.select(KEYS).take(pa.array(rows)).to_pylist():
        shown = ["file"] if row["file"] is not None else ["head", "frame"]
        parts = [f"{name} {row[name]}" for name in shown if row[name] is not None]
        names.append(" ".join([row["exam"] or "", *parts]).strip())
    return names


def _frame_problems(
    known: FrameKeys,
    table: pa.Table,
    matches: Matches,
    named: Mask,
    united: tuple[LabelProblem, ...],
) -> tuple[LabelProblem, ...]:
    """Return the problems of rows, of frames with several rows, and of frames without a label."""
    of_rows, of_frames = _Notes(known, table), _Notes(known, table)
    of_rows.keys(matches)
    unlabelled_exams = np.ones(len(known.exams), np.bool_)
    unlabelled_exams[known.exam[named]] = False
    of_frames.frames("the frame has no label", ~named & ~unlabelled_exams[known.exam])
    exams = (known.exams[exam] for exam in known.exam[unlabelled_exams[known.exam]])
    of_frames.exams("no frame of the exam has a label", "frame", exams)
    return (*of_rows.problems, *united, *of_frames.problems)


def _count_rows(known: FrameKeys, matches: Matches) -> LabelRows:
    there, size = matches.row >= 0, len(known.exams) + 1
    first = np.zeros(len(there), np.bool_)
    used = np.flatnonzero(there)
    first[used[np.unique(matches.row[used], return_index=True)[1]]] = True
    masks = (there | True, first, there & ~first, ~there)
    counts = (np.bincount(matches.exam[mask] % size, minlength=size) for mask in masks)
    return LabelRows(*counts)
