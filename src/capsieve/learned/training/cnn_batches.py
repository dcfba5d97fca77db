"""Which frames stand in a batch: as many polyps as asked for, and negatives that look like them.

Polyps are told from negatives of the same source: a negative comes from a source as often as a
polyp does, so that the source (the device, its colours, the shape of its view) tells nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import usable
from capsieve.learned.training.cnn_settings import NetworkSettings
from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import NORMAL, OTHER, POLYP

__all__ = ["Pools", "auxiliary_targets", "draw_rows", "foreign_frames", "pools"]

_NOT_AUXILIARY = {"polyp", "normal"}  # the first is the task itself, the second its absence


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """Rows of the examples by kind, each with the chance of being drawn.

    Attributes
    ----------
    rows
        "polyps", "negatives" (normal and other findings of sources with polyps) and "foreign" (of
        sources without).
    chances
        Of the rows; each kind's sum is 1.
    """

    rows: dict[str, NDArray[np.int64]]
    chances: dict[str, NDArray[np.float64]]


def pools(examples: Examples, chosen: NDArray[np.int64], settings: NetworkSettings) -> Pools:
    """Return what batches are drawn from.

    Raises
    ------
    ParameterError
        No source has both polyps and negatives, or frames of sources without polyps are asked for
        and there are none.
    """
    polyp = examples.truth == POLYP
    mine = chosen[usable(examples, chosen)]
    if not len(mine):
        raise ParameterError(
            "labels", "no source has both polyp frames and frames without a polyp to tell them from"
        )
    polyps, negatives = mine[polyp[mine]], mine[~polyp[mine]]
    foreign = chosen[foreign_frames(examples, chosen)[chosen]]
    if settings.counts()["foreign"] and not len(foreign):
        raise ParameterError("foreign", "no frame is of a source without polyps; set it to 0")
    polyp_chances = _normed(_run_sizes(examples, polyps) ** -settings.run_balance)
    negative_chances = np.zeros(len(negatives))
    for code in np.unique(examples.source[polyps]):
        here = examples.source[negatives] == code
        share = polyp_chances[examples.source[polyps] == code].sum()
        other = examples.truth[negatives[here]] == OTHER
        negative_chances[here] = share * _split(other, settings)
    return Pools(
        {"polyps": polyps, "negatives": negatives, "foreign": foreign},
        {
            "polyps": polyp_chances,
            "negatives": _normed(negative_chances),
            "foreign": _normed(np.ones(len(foreign))),
        },
    )


def foreign_frames(examples: Examples, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which of all frames are negatives of sources without polyps among the chosen."""
    with_polyps = np.unique(examples.source[chosen[examples.truth[chosen] == POLYP]])
    negative = np.isin(examples.truth, (NORMAL, OTHER))
    return negative & ~np.isin(examples.source, with_polyps)


def draw_rows(of: Pools, settings: NetworkSettings, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows of a batch, the polyps first; a row may be drawn more than once."""
    return np.concatenate(
        [
            rng.choice(of.rows[kind], count, p=of.chances[kind])
            for kind, count in settings.counts().items()
            if count
        ]
    )


def auxiliary_targets(
    examples: Examples, chosen: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Return the findings among the chosen frames but polyps, and which of all frames has which.

    Returns
    -------
    names
        Sorted.
    targets
        1 where a frame has the finding, else 0; a row per frame and a column per name.
    """
    words = [frozenset(finding.split(";")) - {""} for finding in examples.findings]
    codes = np.unique(examples.finding[chosen])
    present = frozenset[str]().union(*(words[code] for code in codes if code >= 0))
    names = tuple(sorted(present - _NOT_AUXILIARY))
    # The last row stands for the code -1: no finding.
    table = np.array([[name in of for name in names] for of in [*words, frozenset()]], np.float32)
    return names, table.reshape(len(words) + 1, len(names))[examples.finding]


def _run_sizes(examples: Examples, polyps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many of the polyp frames show the same polyp; 1 where it has no name."""
    code = examples.polyp[polyps]
    _, inverse, counts = np.unique(code, return_inverse=True, return_counts=True)
    return np.where(code < 0, 1, counts[inverse]).astype(np.float64)


def _split(other: NDArray[np.bool_], settings: NetworkSettings) -> NDArray[np.float64]:
    """Return the chances among the negatives of a source."""
    if other.all() or not other.any():
        return np.full(len(other), 1 / len(other))
    shares = np.where(other, settings.others, 1 - settings.others)
    return shares / np.where(other, other.sum(), (~other).sum())


def _normed(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    return chances / chances.sum() if len(chances) else chances
