"""Labels after reading: one table, what is not clear, and the checks that all formats share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.base import natural_key
from capsieve.statistics.frames import Coded, split_findings

__all__ = [
    "EXAMPLES",
    "LABELS",
    "WORDS",
    "Codes",
    "LabelProblem",
    "LabelSet",
    "NameRows",
    "Problems",
    "clean_text",
    "coded",
    "compute",
    "joint_codes",
    "settle",
    "tidy_paths",
    "whole_column",
    "whole_numbers",
]

# Its functions are generated at import, so type checkers do not see them.
compute: Any = pyarrow.compute

WORDS = ("polyp", "normal", "other")
"""The three labels."""

LABELS = pa.schema(
    [
        ("exam", pa.string()),  # null: the file alone identifies the frame
        ("head", pa.int16()),  # null: the only head
        ("frame", pa.int64()),  # null: the file identifies the frame
        ("file", pa.string()),  # null: exam and frame identify it; if both are given, the file wins
        ("label", pa.string()),  # polyp | normal | other
        ("polyp", pa.string()),  # which polyp; null if unknown or none
        ("patient", pa.string()),  # null if unknown
        ("block", pa.string()),  # frames that belong together if no patient is known, or null
        ("source", pa.string()),  # device or data set, or null
        ("finding", pa.string()),  # words of the source, several separated by ";", or null
    ]
)
"""One row per labelled frame."""

EXAMPLES = 5
"""Number of rows that a problem names."""

NameRows = Callable[[Sequence[int]], list[str]]
"""Returns how a person finds rows, by their numbers: "line 12"."""

_WHOLE = r"^[0-9]{1,18}(\.0*)?$"  # spreadsheets and data frames write 12.0 beside empty cells
_TEXTUAL = (
    pa.types.is_boolean,
    pa.types.is_floating,
    pa.types.is_integer,
    pa.types.is_large_string,
    pa.types.is_null,
    pa.types.is_string_view,
)
_TWO_PATIENTS = "statistics over patients would be wrong; correct the labels first"
_LONGEST_NAME = 60

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelProblem:
    """Something in the labels that is not clear; the rows in question are not used.

    Attributes
    ----------
    what
        One sentence without a final stop and without the count.
    rows
        Number of rows (or frames) that it concerns.
    examples
        The first few, as a person would name them: "line 12: label 'Polip'".
    used
        Whether the rows are used nevertheless (a row that is there twice).
    """

    what: str
    rows: int
    examples: tuple[str, ...] = ()
    used: bool = False


class Problems:
    """Problems by kind, in the order in which they first occurred."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, bool], tuple[int, list[str]]] = {}

    def add(self, what: str, *examples: str, rows: int | None = None, used: bool = False) -> None:
        """Count rows (one per example, or `rows`) of a problem."""
        if rows == 0 or (rows is None and not examples):
            return
        count, named = self._found.get((what, used), (0, []))
        named += examples[: EXAMPLES - len(named)]
        self._found[what, used] = (count + (len(examples) if rows is None else rows), named)

    def __iter__(self) -> Iterator[LabelProblem]:
        return iter(self.result())

    def result(self) -> tuple[LabelProblem, ...]:
        """Return all problems."""
        return tuple(
            LabelProblem(what, rows, tuple(examples), used)
            for (what, used), (rows, examples) in self._found.items()
        )


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of a study.

    Attributes
    ----------
    table
        :data:`LABELS`, in the order of the source; one row per frame.
    problems
        What is not clear.
    label_format
        The format that was recognised, for people: "capsieve labels", "Kvasir-Capsule", ...
    path
        Where it was read, or "".
    polyp_word
        "polyp", or "run" if the column polyp holds runs of frames that stand in for polyps.
    names_exams
        Whether the column exam names exams or videos (and not, for instance, a class folder).
    unique_names
        Whether the name of a file identifies its frame in all rows with an exam, so that files of
        the same name in several folders are copies of one frame.
    warnings
        One sentence each.
    """

    table: pa.Table
    problems: tuple[LabelProblem, ...]
    label_format: str
    path: str
    polyp_word: str = "polyp"
    names_exams: bool = True
    unique_names: bool = False
    warnings: tuple[str, ...] = ()


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
        Some of the columns of :data:`LABELS`, most often texts; and `reader`, if the source names
        who labelled a frame.
    name_rows
        For messages.
    problems, warnings
        What is known already.
    **about
        label_format, path and further fields of :class:`LabelSet`.

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
        polyp = _qualified_polyps(rows)
    except FileError as error:
        raise FileError(f"{about['path']}: {error}") from None
    table = rows.table(polyp)
    unknown = [table[name].is_null().to_numpy() for name in ("patient", "block", "exam")]
    alone = int(np.logical_and.reduce(unknown).sum())
    cautions = [f"{alone:,} rows name no patient, block or exam; blocks of consecutive frames "
                "stand in for them"] if alone else []  # fmt: skip
    return LabelSet(
        table, (*problems, *rows.problems.result()), warnings=(*warnings, *lost, *cautions), **about
    )


def clean_text(column: Any, *, name: str) -> pa.StringArray:
    """Return a column as texts without surrounding blanks; null if nothing is left.

    Numbers become texts as people write them: 3.0 is "3", and NaN is null.

    Raises
    ------
    FileError
        The column contains lists, bytes or other values that are not text.
    """
    column = whole_column(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_floating(kind):
        column = compute.if_else(compute.is_nan(column), None, column)
    if not pa.types.is_string(kind):
        if not any(fits(kind) for fits in _TEXTUAL):
            raise FileError(f"the column {name!r} contains {kind}, not texts or numbers")
        column = column.cast(pa.string())
    column = compute.utf8_trim_whitespace(column)
    return compute.if_else(compute.equal(column, ""), None, column)


def whole_column(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def coded(column: pa.Array | pa.ChunkedArray) -> Coded:
    """Return a column of texts as codes, with the names in natural order; -1 for null."""
    encoded = whole_column(column).dictionary_encode()
    found = encoded.dictionary.to_pylist()
    order = sorted(range(len(found)), key=lambda place: natural_key(found[place]))
    rank = np.full(len(found) + 1, -1, np.int32)  # the last one is for code -1
    rank[order] = np.arange(len(found))
    return Coded(tuple(found[place] for place in order), rank[_indices(encoded)])


def joint_codes(*columns: NDArray[np.integer]) -> Codes:
    """Return one code per row, from 0 without gaps, that differs if any of the columns differs."""
    joint = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        # Without gaps at each step, so that no product can overflow.
        _, dense = np.unique(column, return_inverse=True)
        _, joint = np.unique(joint * (int(dense.max(initial=0)) + 1) + dense, return_inverse=True)
    return joint


def whole_numbers(
    text: pa.StringArray, *, largest: int = 10**18
) -> tuple[Codes, NDArray[np.bool_]]:
    """Read whole numbers from 0.

    Returns
    -------
    values
        -1 if there is none.
    wrong
        Cells that are neither empty nor a whole number from 0 to `largest`.
    """
    fits = compute.match_substring_regex(text, _WHOLE)
    digits = compute.if_else(fits, text, None)
    if compute.any(compute.match_substring(digits, ".")).as_py():
        digits = compute.replace_substring_regex(digits, r"\..*$", "")
    values = digits.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    wrong = text.is_valid().to_numpy(zero_copy_only=False) & ((values < 0) | (values > largest))
    return np.where(wrong, -1, values), wrong


def tidy_paths(path: pa.Array) -> pa.Array:
    r"""Return paths with / instead of \, without a leading slash, ``./`` and doubled slashes."""
    for sign, pattern, instead in (
        ("\\", r"\\", "/"),
        ("./", r"(^|/)(\./)+", r"\1"),
        ("//", r"//+", "/"),
        ("/", r"^/+", ""),
    ):
        test = compute.starts_with if sign == "/" else compute.match_substring
        if compute.any(test(path, sign)).as_py():  # searching is much faster than replacing
            path = compute.replace_substring_regex(path, pattern=pattern, replacement=instead)
    return path


class _Rows:
    """The rows of a source: codes per column, which rows are in use, and problems so far."""

    def __init__(self, columns: Mapping[str, Any], name_rows: NameRows) -> None:
        self.count = len(next(iter(columns.values())))
        self.text: dict[str, pa.Array] = {
            name: clean_text(columns[name], name=name)
            if name in columns
            else pa.nulls(self.count, pa.string())
            for name in LABELS.names
        }
        self.text["file"] = tidy_paths(self.text["file"])
        self.name_rows = name_rows
        self.used = np.ones(self.count, np.bool_)
        self.problems = Problems()
        self.code: dict[str, Codes] = {}
        self.names: dict[str, pa.Array] = {}
        for name in ("exam", "file", "polyp", "patient", "block", "source", "finding"):
            encoded = self.text[name].dictionary_encode()
            self.code[name] = _indices(encoded)
            self.names[name] = encoded.dictionary

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
        self,
        rows: NDArray[Any],
        what: str,
        describe: Callable[[int], str] | None = None,
        *,
        used: bool = False,
    ) -> None:
        """Count rows and name the first few."""
        some = rows[:EXAMPLES].tolist()
        texts = zip(self.name_rows(some), map(describe or self.frame_name, some), strict=True)
        examples = [f"{where}: {text}" for where, text in texts]
        self.problems.add(what, *examples, rows=len(rows), used=used)

    def drop(
        self, mask: NDArray[np.bool_], what: str, describe: Callable[[int], str] | None = None
    ) -> None:
        """Stop using rows; those that are not in use already are not counted again."""
        mask = mask & self.used
        self.note(np.flatnonzero(mask), what, describe)
        self.used &= ~mask

    @cached_property
    def frames(self) -> Codes:
        """Number the frames: the file within its exam; without a file, exam, head and number.

        A row without a head means the only head, which is head 0.
        """
        by_file = self.code["file"] >= 0
        which = np.where(by_file, self.code["file"], self.code["frame"])
        head = np.where(by_file, -1, np.maximum(self.code["head"], 0))
        return joint_codes(self.code["exam"], head, which)

    def table(self, polyp: NDArray[np.object_]) -> pa.Table:
        """Return the rows in use."""
        keep = np.flatnonzero(self.used)
        columns: list[pa.Array] = []
        for field in LABELS:
            if field.name == "polyp":
                columns.append(pa.array(polyp, pa.string()))
                continue
            code = self.code[field.name][keep]
            null = code < 0
            if field.name in self.names:
                columns.append(self.names[field.name].take(pa.array(code, mask=null)))
            else:
                columns.append(pa.array(code, field.type, mask=null))
        return pa.table(columns, schema=LABELS)


def _indices(encoded: pa.DictionaryArray) -> Codes:
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _check_cells(rows: _Rows) -> None:
    """Read numbers and labels; drop rows in which they are wrong or missing."""
    for name, largest in (("frame", 10**18), ("head", 32_767)):
        rows.code[name], wrong = whole_numbers(rows.text[name], largest=largest)
        text = rows.text[name]
        describe = lambda row, name=name, text=text: f"{name} {text[row].as_py()!r}"  # noqa: E731
        rows.drop(wrong, f"the {name} is not a whole number from 0", describe)
    nameless = (rows.code["file"] < 0) & (rows.code["frame"] < 0)
    rows.drop(nameless, "the row names neither a file nor a frame")
    text = rows.text["label"]
    rows.drop(~text.is_valid().to_numpy(zero_copy_only=False), "the label is empty")
    encoded = compute.utf8_lower(text).dictionary_encode()
    known = [WORDS.index(word) if word in WORDS else -1 for word in encoded.dictionary.to_pylist()]
    rows.code["label"] = np.array([*known, -1], np.int64)[_indices(encoded)]
    rows.names["label"] = pa.array(WORDS, pa.string())
    rows.drop(
        rows.code["label"] < 0,
        "the label is not one of polyp, normal, other",
        lambda row: f"label {text[row].as_py()!r}",
    )


def _check_labels(rows: _Rows, readers: Any) -> None:
    """Drop frames with two labels, and polyps named on other frames; readers must agree."""
    label, frames = rows.code["label"], rows.frames
    several = np.zeros(rows.count, np.bool_)
    keep = np.flatnonzero(rows.used)
    low, high = _extremes(frames[keep], label[keep])
    several[keep] = (low != high)[frames[keep]]
    if readers is not None:
        _refuse_disagreement(rows, frames, several, clean_text(readers, name="reader"))
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


def _refuse_disagreement(
    rows: _Rows, frames: Codes, several: NDArray[np.bool_], readers: pa.StringArray
) -> None:
    """Stop if two readers label a frame differently.

    Leaving such frames out would leave out the difficult ones, and every figure would be too good.
    One reader with two labels for a frame made a slip, which is a problem like others.
    """
    label, seen = rows.code["label"], {}
    disagree: dict[int, tuple[int, int]] = {}
    for row in np.flatnonzero(several).tolist():
        reader = readers[row].as_py()
        if reader is None:
            continue
        before = seen.setdefault(int(frames[row]), {})
        for (word, other_reader), other in before.items():
            if word != label[row] and other_reader != reader:
                disagree.setdefault(int(frames[row]), (other, row))
        before.setdefault((int(label[row]), reader), row)
    if not disagree:
        return
    pair = next(iter(disagree.values()))
    first, second = (
        f"{readers[row].as_py()} says {WORDS[label[row]]} ({where})"
        for row, where in zip(pair, rows.name_rows(pair), strict=True)
    )
    count = "a frame" if len(disagree) == 1 else f"{len(disagree):,} frames"
    raise FileError(
        f"readers disagree on {count}: for {rows.frame_name(pair[0])}, {first} and {second}; "
        "agree on a consensus, or keep the rows of one reader"
    )


def _check_patients(rows: _Rows) -> None:
    """Stop if an exam or a frame has two patients; fill in the patient that an exam has."""
    exam, patient = rows.code["exam"], rows.code["patient"]
    keep = np.flatnonzero(rows.used)
    _refuse_two_patients(rows, keep, exam, lambda row: f"exam {_short(rows.named('exam', row))}")
    frames = rows.frames

    def frame(row: int) -> str:
        return rows.frame_name(row) + (" of an exam without a name" if exam[row] < 0 else "")

    _refuse_two_patients(rows, keep, frames, frame)
    known = keep[(exam[keep] >= 0) & (patient[keep] >= 0)]
    of_exam = np.full(int(exam.max(initial=-1)) + 2, -1, np.int64)  # the last is for code -1
    of_exam[exam[known]] = patient[known]
    filled = np.where(rows.used & (patient < 0), of_exam[exam], patient)
    rows.code["patient"] = filled
    rows.note(
        np.flatnonzero(filled != patient),
        "the row names no patient; the patient that other rows of its exam name is used",
        lambda row: f"{rows.frame_name(row)}, patient {rows.named('patient', row)!r}",
        used=True,
    )


def _refuse_two_patients(
    rows: _Rows, keep: Codes, owner: Codes, describe: Callable[[int], str]
) -> None:
    patient = rows.code["patient"]
    keep = keep[(owner[keep] >= 0) & (patient[keep] >= 0)]
    low, high = _extremes(owner[keep], patient[keep])
    several = np.flatnonzero(low != high)
    if not len(several):
        return
    found: list[str] = []
    for one in several[:3].tolist():
        own = keep[owner[keep] == one]
        pair = [int(own[0]), int(own[patient[own] != patient[own[0]]][0])]
        names = [
            f"{_short(rows.named('patient', row))} ({where})"
            for row, where in zip(pair, rows.name_rows(pair), strict=True)
        ]
        found.append(f"{describe(pair[0])} has the patients {names[0]} and {names[1]}")
    more = f", and {len(several) - 3} more" if len(several) > 3 else ""
    raise FileError(f"{'; '.join(found)}{more}: {_TWO_PATIENTS}")


def _unite(rows: _Rows) -> tuple[str, ...]:
    """Make one row of the rows of each frame; return a warning about polyps that are lost.

    Their labels are equal by now. What only one row says counts, findings are joined, and what the
    rows say differently is left out.
    """
    frames, keep = rows.frames, np.flatnonzero(rows.used)
    keep = keep[np.bincount(frames[keep], minlength=1)[frames[keep]] > 1]
    if not len(keep):
        return ()
    _, start, frame = np.unique(frames[keep], return_index=True, return_inverse=True)
    first, later = keep[start], keep != keep[start][frame]
    before = _named_polyps(rows)
    equal = np.ones(len(keep), np.bool_)
    differs: dict[str, NDArray[np.bool_]] = {}
    for name, code in rows.code.items():
        equal &= code[keep] == code[first][frame]
        said = code[keep] >= 0
        low, high = _extremes(frame[said], code[keep][said], size=len(first))
        differs[name] = low != high
        merged = code.copy()
        merged[first] = np.where(differs[name], -1, high)
        rows.code[name] = merged
    _join_findings(rows, keep, frame, first, differs.pop("finding"))
    polyps = differs.pop("polyp")
    others = np.logical_or.reduce(list(differs.values())) & ~polyps
    for mask, what in (
        (equal, "the row is there more than once; it counts once"),
        (~equal & polyps[frame], "the frame shows more than one polyp; it counts for none of them"),
        (
            ~equal & others[frame],
            "the frame is labelled more than once; details that differ are left out",
        ),
        (
            ~equal & ~polyps[frame] & ~others[frame],
            "the frame is labelled more than once; its rows are joined",
        ),
    ):
        rows.note(keep[mask & later], what, used=True)
    rows.used[keep[later]] = False
    lost = sorted(name for _, name in before - _named_polyps(rows))
    if not lost:
        return ()
    some = ", ".join(map(repr, lost[:EXAMPLES])) + ", ..." * (len(lost) > EXAMPLES)
    return (f"polyps that share all of their frames with other polyps are not counted: {some}",)


def _join_findings(
    rows: _Rows, keep: Codes, frame: Codes, first: Codes, differ: NDArray[np.bool_]
) -> None:
    names, known = rows.names["finding"].to_pylist(), rows.text["finding"]
    for one in np.flatnonzero(differ).tolist():
        words = [split_findings(known[row].as_py()) for row in keep[frame == one].tolist()]
        names.append(";".join(dict.fromkeys(word for some in words for word in some)))
        rows.code["finding"][first[one]] = len(names) - 1
    rows.names["finding"] = pa.array(names, pa.string())


def _named_polyps(rows: _Rows) -> set[tuple[int, str]]:
    exam, polyp = (rows.code[name][rows.used & (rows.code["polyp"] >= 0)] for name in _OWNED)
    pairs = np.unique(np.stack([exam, polyp]), axis=1).T.tolist()
    return {(exam, rows.names["polyp"][polyp].as_py()) for exam, polyp in pairs}


_OWNED = ("exam", "polyp")


def _qualified_polyps(rows: _Rows) -> NDArray[np.object_]:
    """Return the polyp of each row in use with its exam before it: "exam-3/1".

    A name that begins with its exam or patient stays. Without an exam the patient comes before it;
    without either, the name stays.
    """
    keep = np.flatnonzero(rows.used)
    polyps = np.full(len(keep), None, object)
    shown = np.flatnonzero(rows.code["polyp"][keep] >= 0)
    if not len(shown):
        return polyps
    key = joint_codes(*(rows.code[name][keep[shown]] for name in ("polyp", "exam", "patient")))
    _, place, which = np.unique(key, return_index=True, return_inverse=True)
    examples = keep[shown[place]].tolist()
    owners = [
        tuple(rows.named(column, row) for column in ("polyp", "exam", "patient"))
        for row in examples
    ]
    whole: dict[str | None, tuple[str | None, int]] = {}  # names that begin with their owner
    for (name, exam, patient), row in zip(owners, examples, strict=True):
        if _begins(name, exam, patient):
            whole.setdefault(name, (patient, row))
    names = np.empty(len(owners), object)
    for number, ((name, exam, patient), row) in enumerate(zip(owners, examples, strict=True)):
        prefix = exam or patient
        if name in whole and not _begins(name, exam, patient):
            other, other_row = whole[name]
            if patient is None or patient != other:
                one, two = rows.name_rows([other_row, row])
                raise FileError(
                    f"polyp {name!r} has frames of two patients ({one} and {two}): {_TWO_PATIENTS}"
                )
        names[number] = name if name in whole or prefix is None else f"{prefix}/{name}"
    polyps[shown] = names[which]
    return polyps


def _begins(name: str | None, *owners: str | None) -> bool:
    return any(owner is not None and str(name).startswith(f"{owner}/") for owner in owners)


def _extremes(groups: Codes, values: Codes, *, size: int | None = None) -> tuple[Codes, Codes]:
    """Return the lowest and highest value of each group; -1 for a group without values."""
    size = int(groups.max(initial=-1)) + 1 if size is None else size
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1, np.int64)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    return np.where(high < 0, -1, low), high


def _short(name: str | None) -> str:
    """Quote a name; an unclosed quotation mark makes a name of half the file."""
    name = str(name)
    return repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}..."
