"""Round patches that stand out on every side, in brightness, paleness and smoothness.

A polyp is closed: brightness falls off in every direction from it. A fold falls off to two sides
only, and four of 16 directions run along it. So a patch counts with the difference between a point
inside it and a point outside it in the fourth weakest direction: its lower quartile.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.description import described
from capsieve.learned.features.kernels.patches import closed_patch
from capsieve.learned.features.view import Plane, View, blurred, halved

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
_PALER, _SMOOTHER = 0.5, 0.2  # what redness and detail weigh against brightness in "raised"
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
    light = np.log(np.maximum(view.light, np.float32(0.05)))
    raised = light - np.float32(_PALER) * view.redness - np.float32(_SMOOTHER) * view.detail
    planes: tuple[Plane, ...] = (-view.redness, -view.detail, np.asarray(raised, np.float32))
    brighter = best_patches(light, view)
    values = _largest(brighter)
    for plane in planes:
        values += _largest(best_patches(plane, view))
    return values, brighter


def best_patches(plane: Plane, view: View) -> list[Patch]:
    """Return for each radius the patch that is most above its surround."""
    found: list[Patch] = []
    whole = view.mask.tobytes()
    for shrunk in SCALES.values():
        plane = halved(plane) if shrunk > 1 else plane
        for radius in RADII:
            search = _search(whole, *view.mask.shape, shrunk, radius)
            found.append(_best(blurred(plane, 0.2 * radius), search, shrunk, radius))
    return found


def _best(plane: Plane, search: "_Search", shrunk: int, radius: int) -> Patch:
    fall, where, mean_fall = closed_patch(plane.ravel(), *search)
    if where < 0:
        return Patch(0.0, -1.0, -1.0, float(shrunk * radius), 0.0)
    row, col = divmod(int(search.centres[where]), plane.shape[1])
    shift = 0.5 * (shrunk - 1)  # between the centres of a shrunk pixel and of its first one
    return Patch(
        float(fall),
        shrunk * row + shift,
        shrunk * col + shift,
        float(shrunk * radius),
        float(mean_fall),
    )


class _Search(NamedTuple):
    """Where to look, as the kernel wants it."""

    centres: NDArray[np.int64]
    seen: NDArray[np.int64]
    inner: NDArray[np.int64]
    outer: NDArray[np.int64]


@lru_cache(maxsize=64)
def _search(whole: bytes, rows: int, cols: int, shrunk: int, radius: int) -> _Search:
    """Return the centres to try on a shrunk plane, from the mask of the view."""
    mask = np.frombuffer(whole, bool).reshape(rows, cols)
    for _ in range(shrunk.bit_length() - 1):
        mask = mask[: len(mask) // 2 * 2 : 2, : mask.shape[1] // 2 * 2 : 2]
    angles = 2 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    unit = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    inner, outer = (np.rint(share * radius * unit).astype(np.int64) for share in (_INNER, _OUTER))
    reach = int(outer.max())
    padded = np.pad(mask, reach)
    seen = np.zeros(mask.shape, np.int64)
    count = np.zeros(mask.shape, np.int64)
    inside = mask.copy()
    for n in range(_DIRECTIONS):
        for offset, needed in ((inner[n], True), (outer[n], False)):
            top, left = reach + offset
            there = padded[top : top + mask.shape[0], left : left + mask.shape[1]]
            if needed:
                inside &= there
            else:
                seen |= there.astype(np.int64) << n
                count += there
    inside &= count >= _NEEDED
    step = 2 if shrunk == 1 else 1
    coarse = np.zeros_like(inside)
    coarse[1::step, 1::step] = True
    row, col = np.nonzero(inside & coarse)
    width = mask.shape[1]
    return _Search(
        row * width + col,
        seen[row, col],
        inner[:, 0] * width + inner[:, 1],
        outer[:, 0] * width + outer[:, 1],
    )


def _largest(patches: Sequence[Patch]) -> list[float]:
    pairs = zip(patches[::2], patches[1::2], strict=True)
    return [max(first.fall, second.fall) for first, second in pairs]
