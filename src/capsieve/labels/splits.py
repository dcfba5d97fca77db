"""Splits into training and test frames, or folds: planned, written, read."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from capsieve.errors import FileError, ParameterError
from capsieve.frame_table import Integers, Mask
from capsieve.labels.columns import coded, compute, text_column, tidy_paths, whole_numbers
from capsieve.labels.groups import BLOCK_SIZE, KINDS, RowGroups, group_rows, sequences, sources
from capsieve.labels.keys import KEYS
from capsieve.labels.label_set import WORDS, LabelProblem, LabelSet, Problems
from capsieve.labels.splitting import assign_in_order, assign_stratified
from capsieve.labels.tables import read_table, write_table
from capsieve.option_fields import documented, option
from capsieve.result_table import Column, Table
from capsieve.user_files import PathLike

_SCHEMA = 1
SPLITS = pa.schema(
    [
        ("exam", pa.string()),  # exam, head, frame and file as in the labels
        ("head", pa.int16()),
        ("frame", pa.int64()),
        ("file", pa.string()),
        ("group", pa.string()),  # goes into one part as a whole; null in files made by hand
        ("kind", pa.string()),  # of the group: patient | block | exam; null likewise
        ("part", pa.string()),  # train | test, or 1, 2, ...
        ("schema", pa.int32()),  # in every row, because CSV has no other place for it
    ]
)
"""One row per frame."""

_DEFAULT_TEST = 30.0
_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """A split: :data:`SPLITS` in the order of the file."""

    table: pa.Table
    path: str = ""
    problems: tuple[LabelProblem, ...] = ()  # frames that are there twice; they are kept


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """Options of a split; the metadata "help" makes a field an option of the command line."""

    folds: int | None = option(None, "Folds of equal size.", metavar="K", min=2)
    test: float | None = option(
        None,
        f"Two parts, train and test; {_DEFAULT_TEST:g} unless --folds is given.",
        metavar="PERCENT",
        min=1,
        max=99,
    )
    block_size: int = option(BLOCK_SIZE, "Frames per block, about. A polyp is never cut.", min=1)
    in_order: bool = option(
        False, "Neighbouring groups go into the same part, without stratification."
    )
    seed: int = option(0, "Decides between equal groups.", min=0)

    def __post_init__(self) -> None:
        if self.folds is not None and self.test is not None:
            raise ParameterError("folds", "give either folds or test, not both")
        if self.folds is not None and self.folds < 2:
            raise ParameterError("folds", f"must be 2 or more, not {self.folds}")
        if self.test is not None and not 1 <= self.test <= 99:
            raise ParameterError("test", f"must be 1 to 99 percent, not {self.test:g}")
        if self.block_size < 1:
            raise ParameterError("block_size", f"must be 1 or more, not {self.block_size}")
        if self.in_order and self.seed:
            raise ParameterError("seed", "has no effect with in_order; leave it out")


@dataclass(frozen=True, slots=True, eq=False)
class SplitPlan:
    """A planned split, to be written."""

    splits: Splits
    table: Table  # what each part contains
    warnings: tuple[str, ...]
    kind: str  # what stays together: "patient", "block", "patient or block", ...


def plan_splits(labels: LabelSet, options: SplitOptions | None = None) -> SplitPlan:
    """Split labelled frames by whole groups: see :func:`group_rows`.

    Groups are assigned so that every part has its share of polyp frames, polyps, normal frames,
    other findings and sources. Blocks that were cut stay next to their neighbours, because an exam
    may continue from one block to the next: of every source, each part gets one stretch.

    Parameters
    ----------
    labels
        All rows are split.
    options
        Without `folds` and `test`, 30 % are for testing.

    Raises
    ------
    ParameterError
        There are fewer groups than parts, or a part would be empty.
    """
    options = options or SplitOptions()
    if options.folds is not None:
        names = [str(number + 1) for number in range(options.folds)]
        shares = [1 / options.folds] * options.folds
    else:
        test = (_DEFAULT_TEST if options.test is None else options.test) / 100
        names, shares = ["train", "test"], [1 - test, test]
    groups = group_rows(labels, block_size=options.block_size)
    kind = " or ".join(kind for kind in KINDS if kind in groups.kinds)
    if len(groups.names) < len(names):
        raise ParameterError(
            "test" if options.folds is None else "folds",
            f"{len(names)} parts need as many groups, and there are {len(groups.names)} "
            f"({kind}); ask for fewer parts or smaller blocks, or label more "
            "patients",
        )
    assigned = _assign(labels, groups, shares, options)
    part = assigned[groups.code]
    texts = {"group": groups.names, "kind": groups.kinds, "part": [names[n] for n in assigned]}
    columns = [
        *(labels.table[name] for name in KEYS),
        *(pa.array(values, pa.string()).take(pa.array(groups.code)) for values in texts.values()),
        pa.array(np.full(len(part), _SCHEMA, np.int32)),
    ]
    table = _part_table(names, part, assigned, labels)
    return SplitPlan(
        splits=Splits(pa.table(columns, schema=SPLITS)),
        table=table,
        warnings=_warnings(table, part, labels),
        kind=kind,
    )


def write_splits(splits: Splits, path: PathLike) -> None:
    """Write a split: Parquet if the path ends in .parquet, else CSV; complete or not at all.

    Raises
    ------
    FileError
        The file cannot be written.
    """
    write_table(splits.table, path, name="splits")


def read_splits(path: PathLike) -> Splits:
    """Read a split that ``capsieve splits`` wrote or that was made by hand.

    It needs the column part, and exam and frame, or file.

    Raises
    ------
    FileError
        The file is missing, is not a table, or lacks a column or a part; a number is wrong.
    """
    raw = read_table(path)
    missing = [] if "part" in raw.columns else ["part"]
    if not {"frame", "file"} & set(raw.columns):
        missing.append("frame (or file)")
    if missing:
        raise FileError(
            f"{path} is not a split: it has no column {', '.join(missing)}; a split has the "
            "columns exam and frame, or file, and part"
        )
    if raw.problems:
        raise FileError(f"cannot read the split {path}: {raw.problems[0].examples[0]}")

    def refuse(wrong: Mask, message: str) -> None:
        if wrong.any():
            (where,) = raw.name_rows([int(wrong.argmax())])
            raise FileError(f"{path}, {where}: {message}")

    columns: dict[str, pa.Array] = {}
    for entry in SPLITS:
        if entry.name not in raw.columns:
            columns[entry.name] = pa.nulls(len(raw.table), entry.type)
            continue
        text = text_column(raw.table[entry.name], name=entry.name)
        if not pa.types.is_string(entry.type):
            values, wrong = whole_numbers(text, largest=32_767 if entry.name == "head" else 10**18)
            refuse(wrong, f"the {entry.name} is not a whole number from 0")
            text = pa.array(values, mask=values < 0).cast(entry.type)
        columns[entry.name] = text
    empty = columns["part"].is_null().to_numpy(zero_copy_only=False)
    refuse(empty, "there is no part; name one, or remove the row")
    usual = {name: name.lower() for name in columns["part"].unique().to_pylist()}
    parts = [usual[n] if usual[n] in ("train", "test") else n for n in columns["part"].to_pylist()]
    columns["part"] = pa.array(parts, pa.string())
    columns["file"] = tidy_paths(columns["file"])
    table = pa.table(columns, schema=SPLITS)
    for name, known in (("schema", {_SCHEMA}), ("kind", set(KINDS))):
        strange = [
            value for value in table[name].unique().to_pylist() if value not in (None, *known)
        ]
        if strange:
            raise FileError(
                f"{path}: unknown {name} {strange[0]!r}; make the split again with capsieve splits"
            )
    return Splits(table, os.fspath(path), _repeated(table))


def _repeated(table: pa.Table) -> tuple[LabelProblem, ...]:
    """Name the frames that are there twice."""
    counted = table.group_by(KEYS, use_threads=False).aggregate([([], "count_all")])
    problems = Problems()
    for row in counted.filter(compute.greater(counted["count_all"], 1)).to_pylist():
        name = row["file"] or f"{row['exam'] or ''} frame {row['frame']}".strip()
        problems.add("the frame is in the split more than once", name)
    return tuple(problems)


def _assign(
    labels: LabelSet, groups: RowGroups, shares: Sequence[float], options: SplitOptions
) -> Integers:
    """Return the part of each group."""
    size = np.bincount(groups.code)
    ordered_rows = sequences(labels, np.arange(len(groups.code)))
    in_order = np.concatenate([rows for _, rows, _ in ordered_rows])
    ordered, first = np.unique(groups.code[in_order], return_index=True)
    ordered = ordered[np.argsort(first)]  # groups in the order of their first frames
    source = sources(labels.table)
    group_source = np.full(len(size), -1, np.int64)
    group_source[groups.code[::-1]] = source.code[::-1]
    if options.in_order:
        part = np.empty(len(size), np.int64)
        part[ordered] = assign_in_order(size[ordered], shares, source=group_source[ordered])
        return part
    by_source = [
        np.bincount(groups.code[source.code == number], minlength=len(size))
        for number in range(len(source.names))
    ]
    contents = np.column_stack([_counts(labels, groups.code, len(size)), *by_source])
    # All sources together count as much as one of the others.
    weights = [1.0] * 4 + [1 / max(len(by_source), 1)] * len(by_source)
    unit = np.arange(len(size))
    blocks = ordered[groups.cut[ordered]]
    if len(blocks) > len(shares):
        # One stretch of blocks per part counts as one group. Stretches end where each has its
        # share of polyp, normal and other frames, rather than of frames.
        own = contents[blocks][:, [0, 2, 3]].astype(np.float64)
        worth = (own / np.maximum(own.sum(axis=0), 1)).sum(axis=1)
        try:
            stretch = assign_in_order(worth, shares, source=group_source[blocks])
            unit[blocks] = len(size) + stretch
        except ParameterError:
            pass  # a block is larger than a part: blocks are assigned one by one
    _, unit = np.unique(unit, return_inverse=True)
    stacked = np.zeros((int(unit.max()) + 1, contents.shape[1]), np.int64)
    np.add.at(stacked, unit, contents)
    return assign_stratified(stacked, shares, weights=weights, seed=options.seed)[unit]


def _counts(labels: LabelSet, code: Integers, size: int) -> Integers:
    """Return the polyp frames, polyps, normal frames and other frames of each group or part."""
    label, polyp = labels.table["label"].to_numpy(), coded(labels.table["polyp"]).code
    polyps = np.unique(np.stack([code, polyp])[:, polyp >= 0], axis=1)[0]
    words = [code[label == word] for word in WORDS]
    return np.stack(
        [np.bincount(owners, minlength=size) for owners in (words[0], polyps, *words[1:])], axis=1
    )


def _part_table(names: list[str], part: Integers, assigned: Integers, labels: LabelSet) -> Table:
    polyp, polyps, normal, other = _counts(labels, part, len(names)).T
    counts = {
        "groups": np.bincount(assigned, minlength=len(names)),
        "frames": np.bincount(part, minlength=len(names)),
        "polyp": polyp,
        "normal": normal,
        "other": other,
        "polyps": polyps,
    }
    titles = {key: key.capitalize() for key in counts} | {"polyps": f"{labels.polyp_word}s".title()}
    columns = [Column(key, title, "count") for key, title in titles.items()]
    rows = zip(names, *(column.tolist() for column in counts.values()), strict=True)
    return Table("parts", "Parts of the split", (Column("part", "Part"), *columns), tuple(rows))


def _warnings(table: Table, part: Integers, labels: LabelSet) -> tuple[str, ...]:
    warnings: list[str] = []
    for word in ("polyp", "normal"):
        counts = dict(zip(table.column("part"), table.column(word), strict=True))
        empty = [name for name, count in counts.items() if not count]
        if len(empty) == len(counts):
            warnings.append(f"no frame is labelled {word}")
        else:
            warnings += [f"the part {name} has no frame labelled {word}" for name in empty]
    polyp = coded(labels.table["polyp"])
    pairs = np.unique(np.stack([polyp.code, part])[:, polyp.code >= 0], axis=1)[0]
    values, counts = np.unique(pairs, return_counts=True)
    torn = [polyp.names[value] for value in values[counts > 1]]
    if torn:
        warnings.append(
            f"{len(torn)} {labels.polyp_word}s are in two parts ({', '.join(torn[:_NAMED])}), "
            "because their frames have different patients, blocks or exams in the labels"
        )
    return tuple(warnings)
