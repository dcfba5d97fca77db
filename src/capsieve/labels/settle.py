"""From rows of any format to one row per frame: the checks that all label formats share."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.labels.label_set import (
    EXAMPLES,
    LABELS,
    WORDS,
    Codes,
    LabelProblem,
    LabelSet,
    NameRows,
    Problems,
    clean_text,
    compute,
    joint_codes,
    text_codes,
    tidy_paths,
    whole_numbers,
)
from capsieve.statistics.frames import split_findings

__all__ = ["settle"]

_TWO_PATIENTS = "statistics over patients would be wrong; correct the labels first"
_LONGEST_NAME = 60  # an unclosed quotation mark makes a name of half the file

Describe = Callable[[int], str]


def settle(
    columns: Mapping[str, Any],
    *,
    name_rows: NameRows,
    problems: Sequence[LabelProblem] = (),
    warnings: Sequence[str] = (),
    **about: Any,
) -> LabelSet:
    """Check the rows of a source and keep one row per frame.

    Every row that is not used is counted in exactly one problem: the first that applies.

    Parameters
    ----------
    columns
        Some of the columns of :data:`~capsieve.labels.LABELS`, most often texts; and `reader`, if
        the source names who labelled a frame.
    name_rows
        For messages.
    problems, warnings
        Those of reading.
    **about
        label_format, path and further fields of :class:`~capsieve.labels.LabelSet`.

    Raises
    ------
    FileError
        An exam, a frame or a polyp has two patients, two readers disagree on a frame, or a column
        contains neither texts nor numbers.
    """
    try:
        rows = _Rows(columns, name_rows)
        _check_cells(rows)
        _check_labels(rows, columns.get("reader"))
        _check_patients(rows)
        lost = _unite(rows)
        table = rows.table(_qualified_polyps(rows))
    except FileError as error:
        raise FileError(f"{about['path']}: {error}") from None
    cautions = list(warnings)
    if lost:
        names = ", ".join(map(repr, lost[:EXAMPLES])) + ", ..." * (len(lost) > EXAMPLES)
        cautions.append(f"polyps that share all frames with other polyps are not counted: {names}")
    unknown = [table[name].is_null().to_numpy() for name in ("patient", "block", "exam")]
    if alone := int(np.logical_and.reduce(unknown).sum()):
        cautions.append(
            f"{alone:,} rows name no patient, block or exam; blocks of consecutive frames replace "
            "them"
        )
    found = (*problems, *rows.problems.result())
    return LabelSet(table, found, warnings=tuple(cautions), **about)


class _Rows:
    """The rows of a source: codes per column, which rows are in use, and problems so far."""

    def __init__(self, columns: Mapping[str, Any], name_rows: NameRows) -> None:
        count = len(next(iter(columns.values())))
        self.text: dict[str, pa.Array] = {
            name: clean_text(columns[name], name=name)
            if name in columns
            else pa.nulls(count, pa.string())
            for name in LABELS.names
        }
        self.text["file"] = tidy_paths(self.text["file"])
        self.name_rows = name_rows
        self.used = np.ones(count, np.bool_)
        self.problems = Problems()
        self.code: dict[str, Codes] = {}
        self.names: dict[str, pa.Array] = {}
        for name in ("exam", "file", "polyp", "patient", "block", "source", "finding"):
            self.code[name], self.names[name] = text_codes(self.text[name])

    def named(self, column: str, row: int) -> str | None:
        """Return the cell of a column of codes."""
        code = int(self.code[column][row])
        return None if code < 0 else self.names[column][code].as_py()

    def frame_name(self, row: int) -> str:
        """Name the frame of a row."""
        if (file := self.text["file"][row].as_py()) is not None:
            return f"file {file!r}"
        cells = {name: self.text[name][row].as_py() for name in ("exam", "head", "frame")}
        return ", ".join(f"{name} {cell}" for name, cell in cells.items() if cell) or "nothing"

    def note(
        self, rows: Any, what: str, describe: Describe | None = None, *, used: bool = False
    ) -> None:
        """Count rows and name the first few."""
        some = [int(row) for row in rows[:EXAMPLES]]
        texts = zip(self.name_rows(some), map(describe or self.frame_name, some), strict=True)
        examples = [f"{where}: {text}" for where, text in texts]
        self.problems.add(what, *examples, rows=len(rows), used=used)

    def drop(self, mask: NDArray[np.bool_], what: str, describe: Describe | None = None) -> None:
        """Stop using rows; those that are not in use already are not counted again."""
        mask = mask & self.used
        self.note(np.flatnonzero(mask), what, describe)
        self.used &= ~mask

    def frames(self) -> list[list[int]]:
        """Return the rows in use of each frame that has several.

        A frame is the file within its exam; without a file, exam, head and number. A row without a
        head means the only head, which is head 0.
        """
        by_file = self.code["file"] >= 0
        which = np.where(by_file, self.code["file"], self.code["frame"])
        head = np.where(by_file, -1, np.maximum(self.code["head"], 0))
        keep = np.flatnonzero(self.used)
        frame = joint_codes(*(code[keep] for code in (self.code["exam"], head, which)))
        keep, frame = (each[np.bincount(frame, minlength=1)[frame] > 1] for each in (keep, frame))
        order = np.argsort(frame, kind="stable")
        ends = np.flatnonzero(np.diff(frame[order])) + 1
        groups = [rows.tolist() for rows in np.split(keep[order], ends) if len(rows)]
        return sorted(groups)

    def table(self, polyp: NDArray[np.object_]) -> pa.Table:
        """Return the rows in use."""
        columns: list[pa.Array] = []
        for field in LABELS:
            code = self.code[field.name][self.used]
            if field.name == "polyp":
                columns.append(pa.array(polyp[self.used], pa.string()))
            elif field.name in self.names:
                columns.append(self.names[field.name].take(pa.array(code, mask=code < 0)))
            else:
                columns.append(pa.array(code, field.type, mask=code < 0))
        return pa.table(columns, schema=LABELS)


def _check_cells(rows: _Rows) -> None:
    """Read numbers and labels; drop rows if they are wrong or missing."""

    def cell(name: str) -> Describe:
        return lambda row: f"{name} {rows.text[name][row].as_py()!r}"

    for name, largest in (("frame", 10**18), ("head", 32_767)):
        rows.code[name], wrong = whole_numbers(rows.text[name], largest=largest)
        rows.drop(wrong, f"the {name} is not a whole number from 0", cell(name))
    nameless = (rows.code["file"] < 0) & (rows.code["frame"] < 0)
    rows.drop(nameless, "the row names neither a file nor a frame")
    text = rows.text["label"]
    rows.drop(text.is_null().to_numpy(zero_copy_only=False), "the label is empty")
    code, words = text_codes(compute.utf8_lower(text))
    known = [WORDS.index(word) if word in WORDS else -1 for word in words.to_pylist()]
    rows.code["label"] = np.array([*known, -1], np.int64)[code]
    rows.names["label"] = pa.array(WORDS, pa.string())
    unknown = rows.code["label"] < 0
    rows.drop(unknown, "the label is not one of polyp, normal, other", cell("label"))


def _check_labels(rows: _Rows, readers: Any) -> None:
    """Drop frames with two labels, and polyps named on other frames; readers must agree.

    Leaving out frames on which readers disagree would leave out the difficult ones, and every
    figure would be too good. One reader with two labels for a frame made a slip.
    """
    label = rows.code["label"]
    reader = None if readers is None else clean_text(readers, name="reader").to_pylist()
    several = np.zeros(len(label), np.bool_)
    disagree: list[tuple[int, int]] = []
    for frame in rows.frames():
        if len({int(label[row]) for row in frame}) == 1:
            continue
        several[frame] = True
        pairs = combinations(frame, 2) if reader is not None else ()
        apart = (p for p in pairs if label[p[0]] != label[p[1]] and _differ(reader, *p))
        disagree.extend([pair] if (pair := next(apart, None)) else [])
    if disagree and reader is not None:
        named = zip(disagree[0], rows.name_rows(disagree[0]), strict=True)
        first, second = (f"{reader[r]} says {WORDS[label[r]]} ({where})" for r, where in named)
        count = "a frame" if len(disagree) == 1 else f"{len(disagree):,} frames"
        raise FileError(
            f"readers disagree on {count}: for {rows.frame_name(disagree[0][0])}, {first} and "
            f"{second}; agree on a consensus, or keep the rows of one reader"
        )
    rows.drop(
        several,
        "the frame has two different labels",
        lambda row: f"{rows.frame_name(row)} is {WORDS[label[row]]}",
    )
    rows.drop(
        (rows.code["polyp"] >= 0) & (label != WORDS.index("polyp")),
        "a polyp is named on a frame that is not labelled polyp",
        lambda row: f"polyp {rows.named('polyp', row)!r}, label {WORDS[label[row]]!r}",
    )


def _differ(reader: Sequence[str | None] | None, one: int, two: int) -> bool:
    assert reader is not None
    return reader[one] is not None and reader[two] is not None and reader[one] != reader[two]


def _check_patients(rows: _Rows) -> None:
    """Stop if an exam has two patients; fill in the patient of an exam."""
    exam, patient = rows.code["exam"], rows.code["patient"]
    known = np.flatnonzero(rows.used & (exam >= 0) & (patient >= 0))
    of_exam = np.full(int(exam.max(initial=-1)) + 2, -1, np.int64)  # the last is for code -1
    of_exam[exam[known[::-1]]] = patient[known[::-1]]
    wrong = known[of_exam[exam[known]] != patient[known]]
    if len(wrong):
        row = int(wrong[0])
        first = int(known[exam[known] == exam[row]][0])
        _refuse_patients(rows, f"exam {_short(rows.named('exam', row))}", first, row)
    filled = np.where(rows.used & (patient < 0), of_exam[exam], patient)
    rows.code["patient"] = filled
    rows.note(
        np.flatnonzero(filled != patient),
        "the row names no patient; the patient that other rows of its exam name is used",
        lambda row: f"{rows.frame_name(row)}, patient {rows.named('patient', row)!r}",
        used=True,
    )


def _refuse_patients(rows: _Rows, what: str, *pair: int) -> None:
    named = zip(pair, rows.name_rows(pair), strict=True)
    one, two = (f"{_short(rows.named('patient', row))} ({where})" for row, where in named)
    raise FileError(f"{what} has the patients {one} and {two}: {_TWO_PATIENTS}")


def _unite(rows: _Rows) -> list[str]:
    """Make one row of the rows of each frame; return the polyps that are left without a frame.

    Their labels are equal by now. A value that only one row has counts, findings are joined, and
    values that differ are left out.
    """
    notes: dict[str, list[int]] = {}
    findings = rows.names["finding"].to_pylist()
    known = {(code, int(rows.code["exam"][row])) for row, code in _polyps(rows)}
    for frame in rows.frames():
        first, *others = frame
        before = {row: [int(code[row]) for code in rows.code.values()] for row in frame}
        differ: set[str] = set()
        for name, code in rows.code.items():
            values = dict.fromkeys(int(code[row]) for row in frame if code[row] >= 0)
            if len(values) < 2:
                code[first] = next(iter(values), -1)
            elif name == "patient":
                two = next(row for row in frame if code[row] not in (-1, next(iter(values))))
                one = next(row for row in frame if code[row] >= 0)
                nameless = "" if rows.code["exam"][one] >= 0 else " of an exam without a name"
                _refuse_patients(rows, rows.frame_name(one) + nameless, one, two)
            elif name == "finding":
                words = [word for value in values for word in split_findings(findings[value])]
                findings.append(";".join(dict.fromkeys(words)))
                code[first] = len(findings) - 1
            else:
                differ.add(name)
                code[first] = -1
        for row in others:
            if before[row] == before[first]:
                what = "the row is there more than once; it counts once"
            elif "polyp" in differ:
                what = "the frame shows more than one polyp; it counts for none of them"
            else:
                what = "the frame is labelled more than once; " + (
                    "details that differ are left out" if differ else "its rows are joined"
                )
            notes.setdefault(what, []).append(row)
        rows.used[others] = False
    for what, some in notes.items():
        rows.note(sorted(some), what, used=True)
    rows.names["finding"] = pa.array(findings, pa.string())
    left = {(code, int(rows.code["exam"][row])) for row, code in _polyps(rows)}
    return sorted({rows.names["polyp"][code].as_py() for code, _ in known - left})


def _polyps(rows: _Rows) -> list[tuple[int, int]]:
    """Return the rows in use that name a polyp, and its code."""
    shown = np.flatnonzero(rows.used & (rows.code["polyp"] >= 0))
    return list(zip(shown.tolist(), rows.code["polyp"][shown].tolist(), strict=True))


def _qualified_polyps(rows: _Rows) -> NDArray[np.object_]:
    """Return the polyp of each row with its exam before it: "exam-3/1".

    A name that starts with its exam or patient stays. Without an exam the patient precedes it;
    without either, the name stays.
    """
    names = np.full(len(rows.used), None, object)
    owners: dict[tuple[int, int, int], list[int]] = {}
    for row, code in _polyps(rows):
        key = (code, int(rows.code["exam"][row]), int(rows.code["patient"][row]))
        owners.setdefault(key, []).append(row)
    cells = {
        key: [rows.named(column, some[0]) for column in ("polyp", "exam", "patient")]
        for key, some in owners.items()
    }
    whole: dict[str | None, tuple[str | None, int]] = {}  # names that start with their owner
    for key, (name, *owner) in cells.items():
        if any(one is not None and str(name).startswith(f"{one}/") for one in owner):
            whole.setdefault(name, (owner[1], owners[key][0]))
    for key, (name, exam, patient) in cells.items():
        prefix = exam or patient
        own = [one for one in (exam, patient) if one and str(name).startswith(f"{one}/")]
        if name in whole and not own and (patient is None or patient != whole[name][0]):
            one, two = rows.name_rows([whole[name][1], owners[key][0]])
            raise FileError(
                f"polyp {name!r} has frames of two patients ({one} and {two}): {_TWO_PATIENTS}"
            )
        names[owners[key]] = name if name in whole or prefix is None else f"{prefix}/{name}"
    return names


def _short(name: str | None) -> str:
    name = str(name)
    return repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}..."
