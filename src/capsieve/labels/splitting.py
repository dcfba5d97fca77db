"""Blocks of consecutive frames, and groups assigned to the parts of a split."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.frame_table import Integers, Mask


def cut_blocks(
    gap: NDArray[np.integer] | NDArray[np.floating],
    *,
    polyp: NDArray[np.integer],
    is_polyp: Mask,
    size: int,
) -> Integers:
    """Cut a sequence of frames into blocks of about `size` frames, never through a polyp.

    From one cut to the next there are between half and one and a half times `size` frames. Inside
    that range the cut is at the widest gap, because frames far apart differ most; of equal gaps
    it is the one closest to `size`. If no cut is allowed in the range, the block continues to the
    first place where one is. No cut is allowed between the first and the last frame of a named
    polyp, nor inside a run of polyp frames without a name, which ends at a gap of more than twice
    the median.

    Parameters
    ----------
    gap
        Between each frame and the next one, in the numbering of the source; one less than frames.
        Infinite if another sequence begins, 0 between the heads of one moment (never cut).
    polyp
        Code of the polyp that each frame shows; -1 for none, or for one without a name.
    is_polyp
        Whether each frame shows a polyp.
    size
        Frames per block, at least 1.

    Returns
    -------
    array
        The number of the block of each frame, from 0.

    Examples
    --------
    >>> none = np.full(7, -1)
    >>> cut_blocks(np.array([1, 1, 1, 9, 1, 1]), polyp=none, is_polyp=none > 0, size=3)
    array([0, 0, 0, 0, 1, 1, 1])
    """
    frames = len(gap) + 1
    least = max(1, (size + 1) // 2)
    most = max(least, size + size // 2)
    # A cut at place c is before frame c.
    allowed = np.flatnonzero(~_inside_polyps(polyp, is_polyp, gap) & (gap > 0)) + 1
    starts = np.zeros(frames, np.int64)
    last = 0
    while frames - last > most:
        first = np.searchsorted(allowed, last + least)
        end = np.searchsorted(allowed, min(last + most, frames - least), side="right")
        if first < end:
            cuts = allowed[first:end]
            width = gap[cuts - 1]
            widest = cuts[width == width.max()]
            cut = int(widest[np.argmin(np.abs(widest - (last + size)))])
        elif end < len(allowed) and allowed[end] <= frames - least:
            cut = int(allowed[end])
        else:
            break
        starts[cut] = 1
        last = cut
    return np.cumsum(starts)


def assign_stratified(
    contents: NDArray[np.integer],
    shares: Sequence[float],
    *,
    weights: Sequence[float] | None = None,
    seed: int = 0,
) -> Integers:
    """Assign groups to parts so that every part gets its share of every kind of content.

    Larger groups first, each group goes to the part in which it brings the parts closest to their
    shares: with the count :math:`c_{jm}` of kind :math:`m` in part :math:`j`, the share :math:`s_j`
    and the total :math:`C_m`, the sum of :math:`w_m (c_{jm} / C_m - s_j)^2` over kinds and parts
    grows least. No part stays empty.

    `contents` has one row per group and one column per kind: polyp frames, polyps, normal frames,
    ... The `shares` of the parts sum to 1, the `weights` of the kinds are equal by default, and
    `seed` decides between equals. The result is the number of the part of each group.

    Raises
    ------
    ParameterError
        There are fewer groups than parts.
    """
    groups, parts = len(contents), len(shares)
    if groups < parts:
        raise ParameterError(
            "parts",
            f"there are only {groups} groups for {parts} parts; ask for fewer parts, or for "
            "smaller blocks",
        )
    total = contents.sum(axis=0)
    there = total > 0
    piece = contents[:, there] / total[there]
    weight = np.ones(len(total)) if weights is None else np.asarray(weights, np.float64)
    weight = weight[there]
    rng = np.random.default_rng(seed)
    # Rounded, so that equals stay equal on any machine.
    order = np.lexsort((rng.permutation(groups), -np.round(piece @ weight, 12)))
    preference = rng.permutation(parts)
    share = np.asarray(shares, np.float64)[preference, None]
    held = np.zeros((parts, piece.shape[1]))
    filled = np.zeros(parts, np.bool_)
    part = np.empty(groups, np.int64)
    for turn, group in enumerate(order.tolist()):
        cost = ((held + piece[group] - share) ** 2 - (held - share) ** 2) @ weight
        if groups - turn <= int((~filled).sum()):
            cost = np.where(filled, np.inf, cost)  # as many groups left as parts without one
        chosen = int(np.argmin(np.round(cost, 12)))
        held[chosen] += piece[group]
        filled[chosen] = True
        part[group] = preference[chosen]
    return part


def assign_in_order(
    size: NDArray[np.integer],
    shares: Sequence[float],
    *,
    source: NDArray[np.integer] | None = None,
) -> Integers:
    """Assign groups to parts in their order, so that neighbours are in the same part.

    Blocks of one exam are neighbours in the numbering of a source, so an exam of unknown extent is
    only divided at the end of a part. A group goes to the part that contains the middle of its
    frames. Sources with fewer groups than parts are taken together.

    `size` is the number of frames of each group, in order. Every `source` (a code per group) is
    divided by itself. The result is the number of the part of each group.

    Raises
    ------
    ParameterError
        A part stays empty.
    """
    source = np.zeros(len(size), np.int64) if source is None else np.asarray(source)
    _, code, counts = np.unique(source, return_inverse=True, return_counts=True)
    code = np.where(counts[code] < len(shares), -1, code)
    # Rounded, so that a middle on a boundary goes to the same side on any machine.
    ends = np.round(np.cumsum(shares)[:-1], 12)
    part = np.empty(len(size), np.int64)
    for number in np.unique(code):
        here = code == number
        middle = np.cumsum(size[here]) - size[here] / 2
        middle_share = np.round(middle / size[here].sum(), 12)
        part[here] = np.searchsorted(ends, middle_share, side="right")
    empty = len(shares) - len(np.unique(part))
    if empty:
        raise ParameterError(
            "in_order",
            f"{empty} of {len(shares)} parts would stay empty, because a group is larger than a "
            "part; ask for fewer parts or smaller blocks, or do not keep the order",
        )
    return part


def _inside_polyps(
    polyp: NDArray[np.integer],
    is_polyp: Mask,
    gap: NDArray[np.integer] | NDArray[np.floating],
) -> Mask:
    """Return the places between frames where a cut would divide a polyp."""
    depth = np.zeros(len(polyp) + 1, np.int64)
    shown = np.flatnonzero(polyp >= 0)
    if len(shown):
        _, first = np.unique(polyp[shown], return_index=True)
        _, last = np.unique(polyp[shown][::-1], return_index=True)
        np.add.at(depth, shown[first], 1)
        np.add.at(depth, shown[len(shown) - 1 - last], -1)
    inside = np.cumsum(depth)[: max(len(polyp) - 1, 0)] > 0
    if not len(gap):
        return inside
    nameless = is_polyp & (polyp < 0)
    finite = gap[np.isfinite(gap)]
    usual = np.median(finite) if len(finite) else 0
    return inside | (nameless[1:] & nameless[:-1] & (gap <= 2 * usual))
