"""Labelled frames split into parts: whole patients, or whole blocks; never single frames."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.blocks import cut_blocks, uncuttable
from capsieve.statistics.codes import as_codes
from capsieve.statistics.dealing import deal
from capsieve.statistics.following import follow
from capsieve.statistics.judged import NORMAL, OTHER, POLYP
from capsieve.statistics.labels.label_set import LabelSet
from capsieve.statistics.row_names import RowNames, name_rows
from capsieve.statistics.sequences import exam_or_folder, order_rows, source_of
from capsieve.statistics.splits import SPLITS, SPLITS_SCHEMA, Splits
from capsieve.statistics.table import Column, Table

__all__ = ["BLOCK_SIZE", "By", "SplitPlan", "plan_splits"]

By = Literal["patient", "block", "exam"]

BLOCK_SIZE = 300
"""Frames per block, about."""

_EXAMPLES = 3


@dataclass(frozen=True, slots=True, eq=False)
class SplitPlan:
    """A split, and what to know of it.

    Attributes
    ----------
    splits
        To be written.
    table
        What each part holds.
    warnings
        One sentence each, without a final stop.
    kind
        What was kept together: "patient", "block", "patient or block", "exam".
    """

    splits: Splits
    table: Table
    warnings: tuple[str, ...]
    kind: str


def plan_splits(
    labels: LabelSet,
    *,
    folds: int | None = None,
    test: float | None = None,
    by: By = "patient",
    block_size: int = BLOCK_SIZE,
    in_order: bool = False,
    seed: int = 0,
) -> SplitPlan:
    """Split labelled frames by whole groups.

    Frames of one exam resemble each other. A split by single frames puts near-duplicates of the
    training frames into the test set, and every figure measured there would flatter; it is not
    offered.

    Parameters
    ----------
    labels
        All rows are split.
    folds
        So many parts of equal size, named 1, 2, ...
    test
        Instead, two parts: this share is "test", the rest is "train".
    by
        "patient": whole patients, and blocks of frames whose patient is not known. "block": blocks
        only, for labels without patients. "exam": whole exams, or folders of files.
    block_size
        About how many frames a block has, where the labels name no blocks.
    in_order
        Groups that follow each other in a source go into the same part, instead of being dealt
        out so that each part has its share of everything. Where blocks stand in for patients,
        fewer patients can then be in two parts: figures are lower, and nearer to those of new
        exams. Nothing is left to chance.
    seed
        Another seed, another split.

    Raises
    ------
    ParameterError
        An option is out of bounds, there are fewer groups than parts, or the wish would put a
        patient into two groups.
    """
    parts, shares = _parts(folds, test)
    if block_size < 1:
        raise ParameterError("block_size", f"must be 1 or more, not {block_size}")
    table, names = labels.table, name_rows(labels.table)
    groups, code, kinds = _group(table, names, by, block_size)
    if len(groups) < len(parts):
        raise ParameterError(
            "test" if folds is None else "folds",
            f"{len(parts)} parts need as many groups, and there are {len(groups)} "
            f"({_joined(kinds)}); ask for fewer parts, for smaller blocks, or label more patients",
        )
    if in_order:
        dealt = follow(table, code, shares)
    else:
        contents, weights = _contents(table, names, code, len(groups))
        dealt = deal(contents, shares, weights=weights, seed=seed)
    part = dealt[code]
    texts = {"group": groups, "kind": kinds, "part": [parts[number] for number in dealt]}
    columns = [
        *(table[name] for name in ("exam", "head", "frame", "file")),
        *(pa.array(list(values), pa.string()).take(pa.array(code)) for values in texts.values()),
        pa.array(np.full(len(code), SPLITS_SCHEMA, dtype=np.int32)),
    ]
    return SplitPlan(
        splits=Splits(pa.table(columns, schema=SPLITS)),
        table=_count_parts(parts, part, dealt, names),
        warnings=_warnings(parts, part, names),
        kind=_joined(kinds),
    )


def _parts(folds: int | None, test: float | None) -> tuple[list[str], list[float]]:
    if (folds is None) == (test is None):
        raise ParameterError("folds", "say either folds or test, one of the two")
    if folds is not None:
        if folds < 2:
            raise ParameterError("folds", f"must be 2 or more, not {folds}")
        return [str(number + 1) for number in range(folds)], [1 / folds] * folds
    assert test is not None
    if not 0 < test < 1:
        raise ParameterError("test", f"must be between 0 and 1, not {test:g}")
    return ["train", "test"], [1 - test, test]


def _group(
    table: pa.Table, names: RowNames, by: By, block_size: int
) -> tuple[list[str], NDArray[np.int64], list[str]]:
    """Return the groups' names, a code per row, and the groups' kinds."""
    if by == "exam":
        exams, exam = as_codes(exam_or_folder(table))
        if "" in exams:
            count = int((exam == exams.index("")).sum())
            raise ParameterError("by", f"{count} rows have neither an exam nor a folder")
        _refuse_torn_patients(names, exam, "exams")
        return list(exams), exam.astype(np.int64), ["exam"] * len(exams)
    if by == "block" and bool((names.patient >= 0).any()):
        count = int((names.patient >= 0).sum())
        raise ParameterError(
            "by",
            f"{count} rows name their patient, whom blocks would put into two parts; split by "
            "patient",
        )
    code = names.patient.astype(np.int64)
    groups, kinds = list(names.patients), ["patient"] * len(names.patients)
    given = (code < 0) & (names.block >= 0)
    code[given] = names.block[given] + len(groups)
    groups += names.blocks
    for sequence in order_rows(table, np.flatnonzero(code < 0)):
        polyp = names.polyp[sequence.rows]
        closed = uncuttable(polyp, names.truth[sequence.rows] == POLYP, sequence.gap)
        block = cut_blocks(sequence.gap, closed, size=block_size)
        code[sequence.rows] = block + len(groups)
        groups += [f"{sequence.name} #{number + 1}".strip() for number in range(block[-1] + 1)]
    kinds += ["block"] * (len(groups) - len(kinds))
    # Blocks that only frames with a patient name are no groups.
    used, dense = np.unique(code, return_inverse=True)
    return [groups[place] for place in used], dense, [kinds[place] for place in used]


def _refuse_torn_patients(names: RowNames, group: NDArray[np.integer], what: str) -> None:
    torn = _torn(names.patient, group)
    if len(torn):
        some = ", ".join(names.patients[place] for place in torn[:_EXAMPLES])
        raise ParameterError(
            "by", f"{len(torn)} patients have several {what} ({some}); split by patient"
        )


def _torn(code: NDArray[np.integer], group: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the codes that occur in several groups."""
    known = code >= 0
    pairs = np.unique(np.stack([code[known], group[known]]).astype(np.int64), axis=1)
    values, counts = np.unique(pairs[0], return_counts=True)
    return values[counts > 1]


def _contents(
    table: pa.Table, names: RowNames, code: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], list[float]]:
    """Count what is to be spread evenly, and say how much each counts."""

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(code[chosen], minlength=groups)

    polyps = np.unique(np.stack([code, names.polyp])[:, names.polyp >= 0], axis=1)[0]
    columns = [
        count(names.truth == POLYP),
        np.bincount(polyps, minlength=groups),
        count(names.truth == NORMAL),
        count(names.truth == OTHER),
    ]
    sources, source = source_of(table)
    columns += [count(source == place) for place in range(len(sources))]
    # The sources count as much as one of the others, all together.
    return np.stack(columns, axis=1), [1.0] * 4 + [1 / len(sources) for _ in sources]


def _count_parts(
    parts: list[str], part: NDArray[np.int64], dealt: NDArray[np.int64], names: RowNames
) -> Table:
    rows = []
    for place, name in enumerate(parts):
        inside = part == place
        truth, polyp = names.truth[inside], names.polyp[inside]
        classes = [int((truth == value).sum()) for value in (POLYP, NORMAL, OTHER)]
        shown = len(np.unique(polyp[polyp >= 0]))
        rows.append((name, int((dealt == place).sum()), len(truth), *classes, shown))
    keys = ("part", "groups", "frames", "polyp", "normal", "other", "polyps")
    labels = ("Part", "Groups", "Frames", "Polyp", "Normal", "Other", "Polyps")
    columns = tuple(
        Column(key, label, "text" if key == "part" else "count")
        for key, label in zip(keys, labels, strict=True)
    )
    return Table("parts", "Parts of the split", columns, tuple(rows))


def _warnings(parts: list[str], part: NDArray[np.int64], names: RowNames) -> tuple[str, ...]:
    found: list[str] = []
    for value, word in ((POLYP, "polyp"), (NORMAL, "normal")):
        held = np.bincount(part[names.truth == value], minlength=len(parts))
        without = [name for name, count in zip(parts, held, strict=True) if not count]
        if len(without) == len(parts):
            found.append(f"no frame is labelled {word}")
        else:
            found += [f"the part {name} has no frame labelled {word}" for name in without]
    torn = _torn(names.polyp, part)
    if len(torn):
        some = ", ".join(names.polyps[place] for place in torn[:_EXAMPLES])
        found.append(
            f"{len(torn)} polyps are in two parts ({some}), because their frames have different "
            "patients, blocks or exams in the labels"
        )
    return tuple(found)


def _joined(kinds: list[str]) -> str:
    return " or ".join(kind for kind in ("patient", "block", "exam") if kind in kinds)
