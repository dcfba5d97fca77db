"""Labels of screened frames: truth, polyps, patients, units, groups and parts of a split."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
from capsieve.labels.label_set import EXAMPLES, LabelProblem, LabelSet, Problems
from capsieve.labels.splits import Splits

_TRUTH = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}


class LabelRows(NamedTuple):
    """Counts of the rows of the labels, per screened exam and last for rows of no screened exam.

    rows = first + repeated + contradicting + without_frame.

    Attributes
    ----------
    rows, first
        All rows, and those that give a frame its label.
    repeated, contradicting
        Rows that label a frame again, and rows of frames that have no label because their rows
        contradict each other.
    without_frame
        Rows that fit no frame, or several.
    """

    rows: Integers
    first: Integers
    repeated: Integers
    contradicting: Integers
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
    contradicted
        Frames that have no label because their rows contradict each other.
    in_two_parts
        Rows of the frames that the split puts into two parts, which is a leak. Their part is -1.
    rows
        Counts of the labels' rows that add up.
    """

    labels: LabelColumns
    problems: tuple[LabelProblem, ...]
    contradicted: Mask
    in_two_parts: Integers
    rows: LabelRows


def match(frames: pa.Table, labels: LabelSet, splits: Splits | None = None) -> Matched:
    """Find the frame of every row of labels; see :func:`~capsieve.labels.keys.find_frames`.

    Frames without a label get the patient, the reading unit and the source that all labelled frames
    of their screened exam have in common, if they do.

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
        Rows have a frame number and no exam, and there are several exams.
    """
    known, table = FrameKeys(frames), labels.table
    matches = find_frames(known, table, read_from=labels.path, unique_names=labels.unique_names)
    groups = group_rows(labels)
    names = {name: coded(table[name]) for name in ("polyp", "patient", "source", "finding")}
    exam = [("", coded(table["exam"]))] if labels.names_exams else []
    names["unit"] = _first_known(*exam, ("patient ", names["patient"]))
    words = coded(table["label"])
    codes = {name: column.code for name, column in names.items()}
    codes["truth"] = np.array([*(_TRUTH[w] for w in words.names), UNLABELLED], np.int32)[words.code]
    united = _per_frame(matches.row, {**codes, "group": groups.code}, len(known))
    value, labelled = united.value, united.named & ~united.contradicted
    truth = np.where(labelled, value["truth"], UNLABELLED).astype(np.int8)
    value["polyp"][truth != POLYP] = -1
    value["finding"][united.contradicted] = -1
    for name in ("patient", "unit", "source"):
        value[name] = _filled(known.exam, value[name], united.named)
    columns = {name: Coded(column.names, value[name]) for name, column in names.items()}
    parts = _parts(known, splits, labels, matches, truth)
    # Blocks of the split replace blocks that were cut.
    cut = np.append(groups.cut, False)[value["group"]] & (parts.block.code >= 0)
    own = tuple(f"{kind} {name}" for kind, name in zip(groups.kinds, groups.names, strict=True))
    group = _first_known(
        ("", Coded(own, np.where(cut, -1, value["group"]))),
        ("block ", Coded(parts.block.names, np.where(cut, parts.block.code, -1))),
        ("patient ", columns["patient"]),  # of frames without a label, as all that follow
        ("exam ", columns["unit"]),
        ("exam ", Coded(known.exams, known.exam.astype(np.int32))),
    )
    seen = np.unique(group.code[labelled] if labelled.any() else group.code)
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
        problems=(*_frame_problems(known, table, matches, united), *parts.problems),
        contradicted=united.contradicted,
        in_two_parts=parts.in_two,
        rows=_count_rows(known, matches, united),
    )


class _PerFrame(NamedTuple):
    """Rows brought together by frame.

    `value` has the common value of the rows of a frame, -1 if they have none or different ones,
    `differs` where these differ, `named` the frames that any row names, `contradicted` those with
    different labels or patients, and `repeated` the rows after the first of the other frames.
    """

    value: dict[str, NDArray[np.int32]]
    differs: dict[str, Mask]
    named: Mask
    contradicted: Mask
    repeated: Integers


def _per_frame(row: Integers, columns: dict[str, NDArray[Any]], frames: int) -> _PerFrame:
    used = np.flatnonzero(row >= 0)
    value: dict[str, NDArray[np.int32]] = {}
    differs: dict[str, Mask] = {}
    for name, code in columns.items():
        given = used[code[used] >= 0]
        low, high = code_range(row[given], code[given], frames)
        differs[name] = low < high
        value[name] = np.where(low < high, -1, high).astype(np.int32)
    named = np.zeros(frames, np.bool_)
    named[row[used]] = True
    contradicted = differs["truth"] | differs["patient"]
    again = np.delete(used, np.unique(row[used], return_index=True)[1])
    return _PerFrame(value, differs, named, contradicted, again[~contradicted[row[again]]])


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
        names: list[str] = []
        for row in self.table.select(KEYS).take(pa.array(rows[:EXAMPLES])).to_pylist():
            shown = ["file"] if row["file"] is not None else ["head", "frame"]
            parts = [f"{name} {row[name]}" for name in shown if row[name] is not None]
            names.append(" ".join([row["exam"] or "", *parts]).strip())
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


def _frame_problems(
    known: FrameKeys, table: pa.Table, matches: Matches, united: _PerFrame
) -> Problems:
    """Return the problems of rows, of frames with several rows, and of frames without a label."""
    notes, contradicted = _Notes(known, table), united.contradicted
    notes.keys(matches)
    message = "the frame has two labels or patients that contradict each other"
    notes.frames(message, contradicted)
    details = united.differs["polyp"] | united.differs["group"] | united.differs["finding"]
    message = "the frame has one label, but polyps, groups or findings that differ and are left out"
    notes.frames(message, details & ~contradicted, used=True)
    notes.rows("the row labels the same frame as another row", united.repeated, used=True)
    unlabelled_exams = np.ones(len(known.exams), np.bool_)
    unlabelled_exams[known.exam[united.named]] = False
    notes.frames("the frame has no label", ~united.named & ~unlabelled_exams[known.exam])
    exams = (known.exams[exam] for exam in known.exam[unlabelled_exams[known.exam]])
    notes.exams("no frame of the exam has a label", "frame", exams)
    return notes.problems


def _count_rows(known: FrameKeys, matches: Matches, united: _PerFrame) -> LabelRows:
    there, size = matches.row >= 0, len(known.exams) + 1
    contrary = there & np.append(united.contradicted, False)[matches.row]
    repeated = np.isin(np.arange(len(there)), united.repeated)
    masks = (there | True, there & ~repeated & ~contrary, repeated, contrary, ~there)
    counts = (np.bincount(matches.exam[mask] % size, minlength=size) for mask in masks)
    return LabelRows(*counts)
