"""Round patches that stand out on every side, in brightness, paleness and smoothness.

A polyp is closed: brightness falls off in every direction from it. A fold falls off to two sides
only, and four of 16 directions run along it. So a patch counts with the difference between a point
inside it and a point outside it in the fourth weakest direction: its lower quartile.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.description import described
from capsieve.learned.features.kernels.patches import KINDS, closed_patches, stack_kinds
from capsieve.learned.features.outline import Outline
from capsieve.learned.features.planes import blurred, halved
from capsieve.learned.features.view import View
from capsieve.paper.scratch import scratch

__all__ = ["DESCRIPTIONS", "Patch", "best_patches", "patch_values"]

SCALES = {"small": 1, "middle": 2, "large": 4}
"""By how much the view's planes are shrunk for each scale: all scales cost little then."""

RADII = (5, 7)
"""Radii that are tried at every scale, in pixels of the shrunk planes."""

_KINDS = {
    "brighter": "brighter",
    "paler": "less red",
    "smoother": "smoother",
    "raised": "brighter, paler and smoother at once",
}
# What redness and detail weigh against brightness in "raised".
_PALER, _SMOOTHER = np.float32(0.5), np.float32(0.2)
_DARKEST = np.float32(0.05)  # of the median light
_DIRECTIONS = 16
_NEEDED = 12  # directions that must lie in the mask
_INNER, _OUTER = 0.6, 1.35  # radii

DESCRIPTIONS = described(
    "patch",
    *(
        (
            f"{kind}-{scale}",
            "log",
            f"How much the most distinct round {scale} patch is {words} than all around it.",
        )
        for kind, words in _KINDS.items()
        for scale in SCALES
    ),
)


class Patch(NamedTuple):
    """A round patch, in pixels of the view's planes.

    Attributes
    ----------
    fall
        How much it stands out on its weaker sides; 0 where there is none.
    row, col, radius
        Where.
    mean_fall
        How much it stands out in the mean over all sides.
    """

    fall: float
    row: float
    col: float
    radius: float
    mean_fall: float


def patch_values(view: View) -> tuple[list[float], list[Patch]]:
    """Return the values of :data:`DESCRIPTIONS`, and the brighter patch of each radius."""
    stacked = scratch("kinds", (*view.mask.shape, KINDS))
    stack_kinds(
        view.light.ravel(),
        view.redness.ravel(),
        view.detail.ravel(),
        _DARKEST,
        _PALER,
        _SMOOTHER,
        stacked.reshape(-1, KINDS),
    )
    found = best_patches(stacked, view.outline)
    values = [value for patches in found for value in _largest(patches)]
    return values, found[0]


def best_patches(stacked: NDArray[np.float32], seen: Outline) -> list[list[Patch]]:
    """Return for each kind, and each radius, the patch that is most above its surround.

    Parameters
    ----------
    stacked
        Rows x columns x kinds.
    seen
        The mask.
    """
    found: list[list[Patch]] = [[] for _ in range(KINDS)]
    for shrunk in SCALES.values():
        stacked = halved(stacked) if shrunk > 1 else stacked
        for radius in RADII:
            for kind, patch in enumerate(_best(stacked, seen, shrunk, radius)):
                found[kind].append(patch)
    return found


def _best(stacked: NDArray[np.float32], seen: Outline, shrunk: int, radius: int) -> Iterator[Patch]:
    """Yield for each kind the best patch of one radius."""
    search = _search(seen, shrunk, radius)
    rows, cols = stacked.shape[:2]
    # Vectors run over points that are not seen, and these may lie beyond the first and last row.
    padded = scratch("patches", (rows + 2 * search.margin, cols, KINDS))
    blurred(stacked, 0.2 * radius, out=padded[search.margin : search.margin + rows])
    every = closed_patches(
        padded.ravel(), search.runs, search.inner, search.outer, search.bits, search.allowed
    )
    shift = 0.5 * (shrunk - 1)  # between the centres of a shrunk pixel and of its first one
    for fall, where, mean_fall in zip(*(each.tolist() for each in every), strict=True):
        row, col = divmod(where, cols)
        row -= search.margin
        place = (shrunk * row + shift, shrunk * col + shift) if where >= 0 else (-1.0, -1.0)
        yield Patch(fall, *place, float(shrunk * radius), mean_fall)


class _Search(NamedTuple):
    """Where to look, as the kernel wants it; `margin` rows lie above and below the plane."""

    runs: NDArray[np.int64]
    inner: NDArray[np.int64]
    outer: NDArray[np.int64]
    bits: NDArray[np.int32]
    allowed: NDArray[np.int32]
    margin: int


@lru_cache(maxsize=64)
def _search(seen: Outline, shrunk: int, radius: int) -> _Search:
    """Return the centres to try on a shrunk plane, from the mask of the view."""
    mask = seen.mask
    for _ in range(shrunk.bit_length() - 1):
        mask = mask[: len(mask) // 2 * 2 : 2, : mask.shape[1] // 2 * 2 : 2]
    rows, cols = mask.shape
    angles = 2 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    unit = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    inner, outer = (np.rint(share * radius * unit).astype(np.int64) for share in (_INNER, _OUTER))
    reach = int(outer.max())
    padded = np.pad(mask, reach)
    bits = np.zeros(mask.shape, np.int32)
    count = np.zeros(mask.shape, np.int32)
    inside = mask.copy()
    for n in range(_DIRECTIONS):
        for offset, needed in ((inner[n], True), (outer[n], False)):
            top, left = reach + offset
            there = padded[top : top + rows, left : left + cols]
            if needed:
                inside &= there
            else:
                bits |= there.astype(np.int32) << n
                count += there
    inside &= count >= _NEEDED
    step = 2 if shrunk == 1 else 1
    coarse = np.zeros_like(inside)
    coarse[1::step, 1::step] = True
    allowed = np.where(inside & coarse, count // 4 - 1, -1).astype(np.int32)
    margin = reach + 1  # one row more: a point left of the first column is in the row above
    runs: list[tuple[int, int]] = []
    places: list[NDArray[np.int64]] = []
    for row in np.flatnonzero((allowed >= 0).any(axis=1)).tolist():
        first, *_, last = np.flatnonzero(allowed[row] >= 0).tolist() * 2
        runs.append(((margin + row) * cols + first, last + 1 - first))
        places.append(row * cols + np.arange(first, last + 1))
    flat = np.concatenate(places) if places else np.zeros(0, np.int64)
    return _Search(
        np.array(runs, np.int64).reshape(-1, 2),
        KINDS * (inner[:, 0] * cols + inner[:, 1]),
        KINDS * (outer[:, 0] * cols + outer[:, 1]),
        np.repeat(bits.ravel()[flat], KINDS),
        np.repeat(allowed.ravel()[flat], KINDS),
        margin,
    )


def _largest(patches: Sequence[Patch]) -> list[float]:
    pairs = zip(patches[::2], patches[1::2], strict=True)
    return [max(first.fall, second.fall) for first, second in pairs]
