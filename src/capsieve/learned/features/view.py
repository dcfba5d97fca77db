"""The planes that features look at: the field of view at half the working width.

Half the width is enough for whatever fills more than a few pixels, and a quarter of the work. A
place (row, col) here lies at (2 row + 1/2, 2 col + 1/2) of the working frame.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.paper.resample import resample
from capsieve.paper.scratch import scratch
from capsieve.paper.staged import Stages
from capsieve.parameters import Parameters
from capsieve.placement import Placement

__all__ = ["Plane", "View", "blurred", "halved", "quantiles", "view_of"]

Plane = NDArray[np.float32]

_MUCOSA = np.array([170.0, 110.0, 80.0], np.float32)
"""The colour that the median of the field of view is brought to: a common one of mucosa."""
_DARK = 4.0  # grey levels added to both sides of a ratio: black has no colour
_LEAST = 1.0  # grey levels; a field darker than this is black
_LARGEST_GAIN = 20.0
_STRONGEST_DETAIL = 0.1  # of the median light: highlights are no texture


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A frame as features see it; planes of rows x columns, float32.

    Attributes
    ----------
    mask
        The circular mask.
    distance
        From the mask's centre, in radii of the mask.
    gray
        0..255, as the camera gave it.
    light
        f of the paper (even light, extended beyond the mask), over its median in the mask.
    redness
        log(red / green), less its median: a device's white balance cancels.
    lab
        CIE Lab of the frame, with each colour scaled so that the median is a common one of mucosa.
    white
        The smallest of red, green and blue: highlights are bright in all.
    detail
        Logarithm of the local fine detail, as a share of the local light.
    energy
        T of the paper, grey levels to the power 0.8.
    texture_max, width
        T_max, and the width of the working frame.
    """

    mask: NDArray[np.bool_]
    distance: Plane
    gray: Plane
    light: Plane
    redness: Plane
    lab: NDArray[np.float32]
    white: Plane
    detail: Plane
    energy: Plane
    texture_max: float
    width: int


def view_of(stages: Stages, parameters: Parameters) -> View:
    """Return the planes of a frame; its texture is computed here if it was not yet."""
    frame, disc = stages.preprocessed(parameters)
    texture_max = stages.texture_max(parameters)
    energy = halved(scratch("energy", frame.shape))  # where the texture stage leaves T
    rows, cols = frame.shape[0] // 2, frame.shape[1] // 2
    mask, distance = _mask(rows, cols, disc.centre_row, disc.centre_col, disc.radius)
    colours = _colours(stages.pixels, stages.placement(parameters), rows, cols)
    medians = np.array([max(_median(colours[:, :, n][mask]), 0.0) for n in range(3)], np.float32)
    gains = np.minimum(_MUCOSA / np.maximum(medians, _LEAST), _LARGEST_GAIN).astype(np.float32)
    balanced = colours * gains
    redness = np.log((balanced[:, :, 0] + _DARK) / (balanced[:, :, 1] + _DARK))
    redness -= np.log((_MUCOSA[0] + _DARK) / (_MUCOSA[1] + _DARK))
    lab = cv2.cvtColor(np.minimum(balanced * np.float32(1 / 255), 1.0), cv2.COLOR_RGB2LAB)
    light = halved(frame)
    light /= max(_median(light[mask]), _LEAST)
    light = np.maximum(light, np.float32(0.02))
    return View(
        mask=mask,
        distance=distance,
        gray=np.asarray(cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY), np.float32),
        light=light,
        redness=np.where(mask, redness, np.float32(0.0)),
        lab=np.asarray(lab, np.float32),
        white=np.minimum(np.minimum(colours[:, :, 0], colours[:, :, 1]), colours[:, :, 2]),
        detail=_detail(light),
        energy=energy,
        texture_max=texture_max,
        width=frame.shape[1],
    )


def blurred(plane: Plane, sigma: float) -> Plane:
    """Return a plane under a Gaussian; the border is repeated."""
    found = cv2.GaussianBlur(plane, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(found, np.float32)


def quantiles(values: NDArray[Any], *shares: float) -> list[float]:
    """Return quantiles of at least one value, each the nearest value below."""
    places = [int(share * (values.size - 1)) for share in shares]
    ordered = np.partition(values, places)
    return [float(ordered[place]) for place in places]


def halved(plane: Plane) -> Plane:
    """Return the means over 2 x 2 pixels; an odd last row or column is left out."""
    rows, cols = plane.shape[0] // 2, plane.shape[1] // 2
    even = np.ascontiguousarray(plane[: 2 * rows, : 2 * cols])
    return np.asarray(cv2.resize(even, (cols, rows), interpolation=cv2.INTER_AREA), np.float32)


def _median(values: NDArray[Any]) -> float:
    return quantiles(values, 0.5)[0]


def _detail(light: Plane) -> Plane:
    detail = np.abs(light - blurred(light, 1.5))
    np.minimum(detail, np.float32(_STRONGEST_DETAIL), out=detail)
    return np.log(blurred(detail, 2.0) / blurred(light, 2.0) + np.float32(0.003))


def _colours(pixels: NDArray[Any], place: Placement, rows: int, cols: int) -> NDArray[np.float32]:
    halved = Placement(
        rows=rows,
        cols=cols,
        row_scale=2.0 * place.row_scale,
        col_scale=2.0 * place.col_scale,
        row_offset=place.row_offset + 0.5 * place.row_scale,
        col_offset=place.col_offset + 0.5 * place.col_scale,
    )
    found = np.asarray(resample(pixels, halved), np.float32)
    # Bicubic enlargement of a small source overshoots.
    found = np.clip(found, 0.0, 255.0)
    return found if found.ndim == 3 else np.repeat(found[:, :, None], 3, axis=2)


@lru_cache(maxsize=32)
def _mask(
    rows: int, cols: int, centre_row: float, centre_col: float, radius: float
) -> tuple[NDArray[np.bool_], Plane]:
    down = 2.0 * np.arange(rows) + 0.5 - centre_row
    across = 2.0 * np.arange(cols) + 0.5 - centre_col
    distance = (np.hypot(down[:, None], across[None, :]) / radius).astype(np.float32)
    mask = distance <= 1.0
    for array in (mask, distance):
        array.flags.writeable = False
    return mask, distance
