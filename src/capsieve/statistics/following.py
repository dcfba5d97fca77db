"""Groups that follow each other put into the same part, where nobody knows which belong together.

Blocks of one exam stand side by side in the numbering of a source. Dealt out one by one they may
end up in several parts; kept side by side they can only where one part ends and the next begins.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.sequences import order_rows, source_of

__all__ = ["follow"]


def follow(
    table: pa.Table, code: NDArray[np.integer], shares: Sequence[float]
) -> NDArray[np.int64]:
    """Put groups into parts as they follow each other, each source on its own.

    A group comes where its first frame does. It goes into the part in which the middle of its
    frames lies, so that parts have their shares of the frames as nearly as whole groups allow.
    Sources of fewer groups than there are parts are taken together, one after the other: folders
    of a single exam, most often.

    Parameters
    ----------
    table
        Labels; a source is the first folder of their files.
    code
        The group of each row, 0 to G - 1.
    shares
        Of the parts; they sum up to 1.

    Returns
    -------
    numpy.ndarray
        The number of the part for each group.

    Raises
    ------
    ParameterError
        A part stays empty.
    """
    ordered = [sequence.rows for sequence in order_rows(table, np.arange(len(code)))]
    rows = np.concatenate([np.zeros(0, np.int64), *ordered])
    groups, first = np.unique(code[rows], return_index=True)
    _, source, sizes = np.unique(
        source_of(table)[1][rows[first]], return_inverse=True, return_counts=True
    )
    source = np.where(sizes[source] < len(shares), -1, source)
    frames = np.bincount(code, minlength=len(groups))
    ends = np.cumsum(shares)[:-1]
    part = np.empty(len(groups), dtype=np.int64)
    for one in np.unique(source):
        here = groups[source == one]
        here = here[np.argsort(first[here])]
        middle = np.cumsum(frames[here]) - frames[here] / 2
        # Rounded, so that a middle on an end falls to the same side on any machine.
        place = np.round(middle / frames[here].sum(), 12)
        part[here] = np.searchsorted(np.round(ends, 12), place, side="right")
    empty = len(shares) - len(np.unique(part))
    if empty:
        raise ParameterError(
            "in_order",
            f"{empty} of {len(shares)} parts would stay empty, since a group is larger than a "
            "part; ask for fewer parts, for smaller blocks, or deal the groups out",
        )
    return part
