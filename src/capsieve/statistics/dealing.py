"""Whole groups dealt into parts, so that every part has its share of everything."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError

__all__ = ["deal"]


def deal(
    contents: NDArray[np.integer],
    shares: Sequence[float],
    *,
    weights: Sequence[float] | None = None,
    seed: int = 0,
) -> NDArray[np.int64]:
    """Deal groups into parts.

    The larger groups first, each group goes where it brings the parts closest to their shares:
    with the count :math:`c_{jm}` of kind :math:`m` in part :math:`j`, the share :math:`s_j` and the
    total :math:`C_m`, the sum of :math:`w_m (c_{jm} / C_m - s_j)^2` over kinds and parts grows
    least. No part stays empty.

    Parameters
    ----------
    contents
        One row per group; one column per kind of thing that is to be spread evenly: polyp frames,
        polyps, normal frames, ...
    shares
        Of the parts; they sum up to 1.
    weights
        How much each kind counts; all alike by default.
    seed
        Decides between equals. The same seed gives the same parts.

    Returns
    -------
    numpy.ndarray
        The number of the part for each group.

    Raises
    ------
    ParameterError
        There are fewer groups than parts.
    """
    groups, parts = len(contents), len(shares)
    if groups < parts:
        raise ParameterError(
            "parts",
            f"there are {parts} and only {groups} groups to deal; ask for fewer parts, or for "
            "smaller blocks",
        )
    total = contents.sum(axis=0)
    there = total > 0
    piece = contents[:, there] / total[there]
    counts = np.ones(len(total)) if weights is None else np.asarray(weights, dtype=np.float64)
    counts = counts[there]
    rng = np.random.default_rng(seed)
    # Rounded, so that equals stay equal on any machine.
    order = np.lexsort((rng.permutation(groups), -np.round(piece @ counts, 12)))
    preference = rng.permutation(parts)
    share = np.asarray(shares, dtype=np.float64)[preference, None]
    held = np.zeros((parts, piece.shape[1]))
    filled = np.zeros(parts, dtype=bool)
    part = np.empty(groups, dtype=np.int64)
    for turn, group in enumerate(order.tolist()):
        cost = ((held + piece[group] - share) ** 2 - (held - share) ** 2) @ counts
        if groups - turn <= int((~filled).sum()):
            cost = np.where(filled, np.inf, cost)  # as many groups left as parts without one
        chosen = int(np.argmin(np.round(cost, 12)))
        held[chosen] += piece[group]
        filled[chosen] = True
        part[group] = preference[chosen]
    return part
