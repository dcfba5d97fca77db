"""From rows of any format to one row per frame: the checks that all label formats share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from capsieve.errors import FileError
from capsieve.labels.columns import text_column, tidy_paths, whole_numbers
from capsieve.labels.label_set import (
    EXAMPLES,
    LABELS,
    WORDS,
    LabelProblem,
    LabelSet,
    NameRows,
    Problems,
)
from capsieve.statistics.frames import split_findings

_TWO_PATIENTS = "statistics over patients would be wrong; correct the labels first"
_LONGEST_NAME = 60  # an unclosed quotation mark makes a name of half the file


def settle(
    columns: Mapping[str, Any],
    *,
    name_rows: NameRows,
    problems: Sequence[LabelProblem] = (),
    warnings: Sequence[str] = (),
    **about: Any,
) -> LabelSet:
    """Check the rows of a source and keep one row per frame.

    Every row that is not used is counted in exactly one problem: the first that applies. Columns
    are some of :data:`~capsieve.labels.LABELS`, most often texts, and `reader`, if the source names
    who labelled a frame. `about` has further fields of the set: label_format, path and so on.

    Raises
    ------
    FileError
        An exam, a frame or a polyp has two patients, a frame has two labels that are not from the
        same reader, or a column contains neither texts nor numbers.
    """
    try:
        text = {name: text_column(column, name=name) for name, column in columns.items()}
        if "file" in text:
            text["file"] = tidy_paths(text["file"])
        empty = [None] * len(next(iter(columns.values())))
        names = (*LABELS.names, "reader")
        cells = {name: text[name].to_pylist() if name in text else [*empty] for name in names}
        rows = Rows(cells, name_rows)
        _check_cells(rows, text)
        check_labels(rows, rows.of_equal_keys())
        _check_polyps(rows)
        _check_patients(rows)
        lost = unite(rows, rows.of_equal_keys(), LABELS.names)
        _qualify_polyps(rows)
    except FileError as error:
        raise FileError(f"{about['path']}: {error}") from None
    cautions = list(warnings)
    if lost:
        names = ", ".join(map(repr, lost[:EXAMPLES])) + ", ..." * (len(lost) > EXAMPLES)
        cautions.append(f"polyps that share all frames with other polyps are not counted: {names}")
    used = pa.array(rows.used, pa.int64())
    cells = [pa.array(rows.cells[field.name], field.type).take(used) for field in LABELS]
    table = pa.table(cells, schema=LABELS)
    unknown = [table[name].is_null().to_numpy() for name in ("patient", "block", "exam")]
    if alone := int(np.logical_and.reduce(unknown).sum()):
        cautions.append(
            f"{alone:,} rows name no patient, block or exam; blocks of consecutive frames replace "
            "them"
        )
    every_problem = (*problems, *rows.problems)
    return LabelSet(table, every_problem, warnings=tuple(cautions), **about)


class Rows:
    """Cells of rows by column, None if empty; the rows in use; and problems so far."""

    def __init__(self, cells: dict[str, list[Any]], name_rows: NameRows) -> None:
        self.cells = cells
        self.name_rows = name_rows
        self.used = list(range(len(cells["label"])))
        self.problems = Problems()

    def frame_name(self, row: int) -> str:
        """Name the frame of a row."""
        if (file := self.cells["file"][row]) is not None:
            return f"file {file!r}"
        cells = {name: self.cells[name][row] for name in ("exam", "head", "frame")}
        named = [f"{name} {cell}" for name, cell in cells.items() if cell is not None]
        return ", ".join(named) or "nothing"

    def note(
        self,
        rows: Sequence[int],
        message: str,
        describe: Callable[[int], str] | None = None,
        *,
        used: bool = False,
    ) -> None:
        """Count rows and name the first few."""
        texts = map(describe or self.frame_name, rows[:EXAMPLES])
        named = zip(self.name_rows(rows[:EXAMPLES]), texts, strict=True)
        examples = [f"{where}: {text}" for where, text in named]
        self.problems.add(message, *examples, rows=len(rows), used=used)

    def drop(
        self, wrong: Collection[int], message: str, describe: Callable[[int], str] | None = None
    ) -> None:
        """Stop using rows; those that are not in use already are not counted again."""
        wrong = set(wrong)
        self.note([row for row in self.used if row in wrong], message, describe)
        self.used = [row for row in self.used if row not in wrong]

    def of_equal_keys(self) -> list[list[int]]:
        """Return the rows in use of each frame that has several.

        A frame is the file within its exam; without a file, exam, head and number. A row without a
        head means the only head, which is head 0.
        """
        exams, heads, frames, files = (
            self.cells[name] for name in ("exam", "head", "frame", "file")
        )
        first: dict[tuple[Any, ...], int] = {}
        rows_of_frame: dict[int, list[int]] = {}
        for row in self.used:
            file = files[row]
            key = (exams[row], file) if file else (exams[row], heads[row] or 0, frames[row])
            earlier = first.setdefault(key, row)
            if earlier != row:
                rows_of_frame.setdefault(earlier, [earlier]).append(row)
        return [rows_of_frame[earlier] for earlier in sorted(rows_of_frame)]


def _check_cells(rows: Rows, columns: Mapping[str, pa.StringArray]) -> None:
    """Read numbers and labels; drop rows if they are wrong or missing."""
    cells = rows.cells
    for name, largest in (("frame", 10**18), ("head", 32_767)):
        if name in columns:
            texts = cells[name]
            values, wrong = whole_numbers(columns[name], largest=largest)
            cells[name] = [None if value < 0 else value for value in values.tolist()]
            message = f"the {name} is not a whole number from 0"
            rows.drop(wrong.nonzero()[0].tolist(), message, lambda row: f"{name} {texts[row]!r}")  # noqa: B023
    nameless = [row for row in rows.used if cells["file"][row] is cells["frame"][row] is None]
    rows.drop(nameless, "the row names neither a file nor a frame")
    texts = cells["label"]
    rows.drop([row for row in rows.used if texts[row] is None], "the label is empty")
    label = cells["label"] = [text and text.lower() for text in texts]
    unknown = [row for row in rows.used if label[row] not in WORDS]
    message = f"the label is not one of {', '.join(WORDS)}"
    rows.drop(unknown, message, lambda row: f"label {texts[row]!r}")


def check_labels(rows: Rows, frames: Sequence[list[int]]) -> None:
    """Stop if two of the rows of a frame have different labels.

    Leaving out frames on which readers disagree would leave out the difficult ones, and every
    metric would be too good. One reader with two labels for a frame made a slip: it is dropped.
    """
    label, reader = rows.cells["label"], rows.cells["reader"]
    several: list[int] = []
    disagree: list[tuple[int, int]] = []
    for frame in frames:
        if len({label[row] for row in frame}) > 1:
            several += frame
            distinct = {(label[row], reader[row]): row for row in reversed(frame)}.values()
            apart = (
                (a, b)
                for a, b in combinations(sorted(distinct), 2)
                if label[a] != label[b] and (reader[a] is None or reader[a] != reader[b])
            )
            disagree += [pair] if (pair := next(apart, None)) else []
    if disagree:
        named = zip(disagree[0], rows.name_rows(disagree[0]), strict=True)
        first, second = (
            f"{reader[row] or 'a row without a reader'} says {label[row]} ({where})"
            for row, where in named
        )
        count = "a frame" if len(disagree) == 1 else f"{len(disagree):,} frames"
        raise FileError(
            f"readers disagree on {count}: for {rows.frame_name(disagree[0][0])}, {first} and "
            f"{second}; agree on a consensus, or keep the rows of one reader"
        )
    rows.drop(
        several,
        "the frame has two different labels",
        lambda row: f"{rows.frame_name(row)} is {label[row]}",
    )


def _check_polyps(rows: Rows) -> None:
    """Drop rows that name a polyp on a frame without one."""
    label, polyp = rows.cells["label"], rows.cells["polyp"]
    rows.drop(
        [row for row in rows.used if polyp[row] is not None and label[row] != "polyp"],
        "a polyp is named on a frame that is not labelled polyp",
        lambda row: f"polyp {polyp[row]!r}, label {label[row]!r}",
    )


def _check_patients(rows: Rows) -> None:
    """Stop if an exam has two patients; fill in the patient of an exam."""
    exam, patient = rows.cells["exam"], rows.cells["patient"]
    first: dict[str, int] = {}  # row of each exam
    for row in rows.used:
        if exam[row] is not None and patient[row] is not None:
            earlier = first.setdefault(exam[row], row)
            if patient[earlier] != patient[row]:
                _refuse_patients(rows, f"exam {_short(exam[row])}", earlier, row)
    filled = [row for row in rows.used if patient[row] is None and exam[row] in first]
    for row in filled:
        patient[row] = patient[first[exam[row]]]
    rows.note(
        filled,
        "the row names no patient; the patient that other rows of its exam name is used",
        lambda row: f"{rows.frame_name(row)}, patient {patient[row]!r}",
        used=True,
    )


def _refuse_patients(rows: Rows, name: str, *pair: int) -> None:
    named = zip(pair, rows.name_rows(pair), strict=True)
    first, second = (f"{_short(rows.cells['patient'][row])} ({where})" for row, where in named)
    raise FileError(f"{name} has the patients {first} and {second}: {_TWO_PATIENTS}")


def _short(name: str) -> str:
    return repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}..."


def unite(rows: Rows, frames: Sequence[list[int]], names: Sequence[str]) -> list[str]:
    """Make one row of the rows of each frame; return the polyps that are left without a frame.

    Their labels are equal by now. In the columns `names`, a value that only one row has counts,
    findings are joined, and values that differ are left out.
    """
    cells = {name: rows.cells[name] for name in names}
    exam = rows.cells["exam"]
    notes: dict[str, list[int]] = {}
    before = {(cells["polyp"][row], exam[row]) for row in rows.used}
    united: set[int] = set()
    for frame in frames:
        first, *others = frame
        contents = {row: [column[row] for column in cells.values()] for row in frame}
        differ: set[str] = set()
        for name, column in cells.items():
            named = [row for row in frame if column[row] is not None]
            values = list(dict.fromkeys(column[row] for row in named))
            if len(values) < 2:
                column[first] = values[0] if values else None
            elif name == "patient":
                two = next(row for row in named if column[row] != values[0])
                nameless = "" if exam[first] else " of an exam without a name"
                _refuse_patients(rows, rows.frame_name(first) + nameless, named[0], two)
            elif name == "finding":
                words = [word for value in values for word in split_findings(value)]
                column[first] = ";".join(dict.fromkeys(words))
            else:
                differ.add(name)
                column[first] = None
        for row in others:
            if contents[row] == contents[first]:
                message = "the row is there more than once; it counts once"
            elif "polyp" in differ:
                message = "the frame shows more than one polyp; it counts for none of them"
            else:
                message = "the frame is labelled more than once; " + (
                    "details that differ are left out" if differ else "its rows are joined"
                )
            notes.setdefault(message, []).append(row)
        united.update(others)
    for message, noted in notes.items():
        rows.note(sorted(noted), message, used=True)
    rows.used = [row for row in rows.used if row not in united]
    after = {(cells["polyp"][row], exam[row]) for row in rows.used}
    return sorted({polyp for polyp, _ in before - after if polyp is not None})


def _qualify_polyps(rows: Rows) -> None:
    """Write the exam of each polyp before its name: "exam-3/1".

    A name that starts with its exam or patient stays. Without an exam the patient precedes it;
    without either, the name stays.
    """
    polyp, exam, patient = (rows.cells[name] for name in ("polyp", "exam", "patient"))
    shown = [row for row in rows.used if polyp[row] is not None]
    owned = {
        row
        for row in shown
        if any(owner and polyp[row].startswith(f"{owner}/") for owner in (exam[row], patient[row]))
    }
    whole: dict[str, int] = {}  # names that start with their owner, with a row
    for row in sorted(owned):
        whole.setdefault(polyp[row], row)
    for row in shown:
        owner, first = exam[row] or patient[row], whole.get(polyp[row])
        if first is None:
            polyp[row] = f"{owner}/{polyp[row]}" if owner else polyp[row]
        elif row not in owned and (patient[row] is None or patient[row] != patient[first]):
            first_row, second_row = rows.name_rows([first, row])
            raise FileError(
                f"polyp {polyp[row]!r} has frames of two patients ({first_row} and {second_row}): "
                f"{_TWO_PATIENTS}"
            )
