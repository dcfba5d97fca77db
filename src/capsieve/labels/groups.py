"""Groups of labelled frames: what is resampled and split as a whole."""

import re
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.frame_table import Coded, Floats, Integers, Mask
from capsieve.labels.columns import coded, compute, joint_codes
from capsieve.labels.label_set import LabelSet
from capsieve.labels.splitting import cut_blocks
from capsieve.names import natural_key

BLOCK_SIZE = 300
"""Number of frames per block, about."""

KINDS = ("patient", "block", "exam")
"""Kinds of groups, from the best to the last."""

_RUN_GAP = 5  # polyp frames at most so far apart may show one polyp
_NUMBER = re.compile(r"^(.*?)([0-9]{1,18})([^0-9]*)$", re.DOTALL)


class RowGroups(NamedTuple):
    """The group of every row of labels, and the names and kinds of the groups."""

    names: list[str]
    kinds: list[str]
    code: Integers
    cut: Mask  # blocks that were cut: their neighbours may be of the same exam


def group_rows(labels: LabelSet, *, block_size: int = BLOCK_SIZE) -> RowGroups:
    """Return what rows of labels are grouped by.

    That is the patient; else the block that the labels name; else the exam that they name; else
    blocks of consecutive frames. Blocks are cut over the numbering of a source, in all folders
    together, and never through a polyp or a run of polyp frames.
    """
    table = labels.table
    code = np.full(len(table), -1, np.int64)
    names: list[str] = []
    kinds: list[str] = []
    for kind in KINDS if labels.names_exams else KINDS[:2]:
        column = coded(table[kind])
        chosen = (code < 0) & (column.code >= 0)
        used, dense = np.unique(column.code[chosen], return_inverse=True)
        code[chosen] = len(names) + dense
        names += [column.names[number] for number in used]
        kinds += [kind] * len(used)
    whole = len(names)
    is_polyp = compute.equal(table["label"], "polyp").to_numpy()
    polyp = coded(table["polyp"]).code
    for name, rows, position in sequences(labels, np.flatnonzero(code < 0)):
        shown = _with_runs(polyp[rows], is_polyp[rows], position)
        block = cut_blocks(np.diff(position), polyp=shown, is_polyp=is_polyp[rows], size=block_size)
        code[rows] = block + len(names)
        names += [f"{name} #{number + 1}".strip() for number in range(int(block[-1]) + 1)]
    kinds += ["block"] * (len(names) - whole)
    return RowGroups(names, kinds, code, np.arange(len(names)) >= whole)


class Sequence(NamedTuple):
    """Rows of labels in the order of their numbering, and their positions in it."""

    name: str
    rows: Integers
    position: Floats


def sequences(labels: LabelSet, chosen: Integers) -> list[Sequence]:
    """Return the sequences that some rows form, one source after the other.

    A sequence is the exam that the labels name, else the source, else a folder. Its frames are
    ordered by number, both heads together, or if numbers are missing by the names of files.
    """
    if not len(chosen):
        return []
    table = labels.table.take(pa.array(chosen))
    folder = compute.replace_substring_regex(table["file"], r"/?[^/]*$", "")
    exam = table["exam"] if labels.names_exams else pa.nulls(len(table), pa.string())
    name = compute.coalesce(exam, table["source"], folder, "")
    frame, head = (
        compute.fill_null(table[column], -1).to_numpy().astype(np.int64)
        for column in ("frame", "head")
    )
    names = coded(name)
    source = sources(table).code
    in_order: list[Sequence] = []
    which = joint_codes(source, names.code, frame < 0)
    order = np.argsort(which, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
        if frame[members[0]] >= 0:
            rows = members[np.lexsort((head[members], frame[members]))]
            position = frame[rows].astype(np.float64)
        else:
            rows, position = _by_name(table["file"], members)
        in_order.append(Sequence(str(names[int(rows[0])]), chosen[rows], position))
    return in_order


def _by_name(files: pa.ChunkedArray, rows: Integers) -> tuple[Integers, Floats]:
    """Order rows by the names of their files; the last number of a name is its number."""
    paths = files.take(pa.array(rows)).to_pylist()
    names = [PurePosixPath(path).name for path in paths]
    order = sorted(range(len(rows)), key=lambda i: (natural_key(names[i]), paths[i]))
    steps = [_distance(names[first], names[second]) for first, second in pairwise(order)]
    return rows[order], np.concatenate([[0.0], np.cumsum(steps, dtype=np.float64)])


def _distance(name: str, following: str) -> float:
    first, second = _NUMBER.match(name), _NUMBER.match(following)
    if name == following:
        return 0.0
    if first is None or second is None or first.group(1, 3) != second.group(1, 3):
        return 1e9  # another series of names
    return float(int(second.group(2)) - int(first.group(2)))


def _with_runs(polyp: NDArray[np.integer], is_polyp: Mask, position: Floats) -> Integers:
    """Return polyps, with codes of their own for runs of nearby polyp frames without a name."""
    polyp = polyp.astype(np.int64)
    nameless = np.flatnonzero(is_polyp & (polyp < 0))
    if len(nameless):
        near = max(_RUN_GAP, 2 * float(np.median(np.diff(position)))) if len(position) > 1 else 0
        run = np.cumsum(np.diff(position[nameless], prepend=position[nameless[0]]) > near)
        polyp[nameless] = int(polyp.max(initial=-1)) + 1 + run
    return polyp


def sources(table: pa.Table) -> Coded:
    """Return the source of each row, or the first folder of its file."""
    first = compute.replace_substring_regex(table["file"], r"^([^/]*)/.*$|^.*$", r"\1")
    first = compute.if_else(compute.equal(first, ""), None, first)
    return coded(compute.coalesce(table["source"], first))
