"""Where labelled frames come from: the device or data set, as far as their files tell it."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.statistics.judged import POLYP
from capsieve.statistics.labels.label_set import LabelSet
from capsieve.statistics.matching.keys import find_frames
from capsieve.statistics.matching.screened import Screened
from capsieve.statistics.row_names import name_rows
from capsieve.statistics.sequences import source_of

__all__ = ["ONE_SOURCE", "frame_sources"]

ONE_SOURCE = "all frames"
"""The name of the only source, where no folder tells another."""

_CAPSULE_VISION = "Capsule Vision 2024"  # PART/CLASS/SOURCE/NAME: the last folder is the source


def frame_sources(
    screened: Screened, labels: LabelSet, *, one_source: bool = False
) -> tuple[tuple[str, ...], NDArray[np.int32], tuple[str, ...]]:
    """Return names of sources, a code per screened frame (-1 without a label), and warnings.

    A source is the first folder of a frame's file in the labels; in Capsule Vision 2024 the last
    one. Where a folder has polyp frames and no others, folders are findings and not sources: then
    all frames are one source.

    Parameters
    ----------
    screened
        All frames.
    labels
        What they show.
    one_source
        All frames are one source, whatever their folders.
    """
    rows = find_frames(screened, labels.table, what=labels.path).row
    found = rows >= 0
    names, row_source = _of_rows(labels)
    warnings: tuple[str, ...] = ()
    if one_source or not names or (row_source < 0).any() or _are_findings(labels, row_source):
        if names and not one_source and len(names) > 1:
            warnings = (
                "The folders of the files tell no sources: some have polyp frames alone, or some "
                "files have none. All frames count as one source.",
            )
        names, row_source = (ONE_SOURCE,), np.zeros(len(rows), np.int32)
    code = np.full(len(screened), -1, np.int32)
    code[rows[found]] = row_source[found]
    return names, code, warnings


def _of_rows(labels: LabelSet) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    table = labels.table
    if labels.layout == _CAPSULE_VISION:
        last = pc.replace_substring_regex(  # pyright: ignore[reportAttributeAccessIssue]
            table["file"], pattern=r"^(?:.*/)?([^/]+)/[^/]*$", replacement=r"\1/"
        )
        table = pa.table({"file": last})
    return source_of(table)


def _are_findings(labels: LabelSet, source: NDArray[np.int32]) -> bool:
    truth = name_rows(labels.table).truth
    with_polyps = np.unique(source[truth == POLYP])
    with_others = np.unique(source[(truth >= 0) & (truth != POLYP)])
    return not np.isin(with_polyps, with_others).all()
