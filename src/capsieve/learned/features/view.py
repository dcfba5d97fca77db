"""The planes that features look at: the field of view at half the working width.

Half the width is enough for whatever fills more than a few pixels, and a quarter of the work. A
place (row, col) here lies at (2 row + 1/2, 2 col + 1/2) of the working frame.
"""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frames import Placement
from capsieve.learned.features.kernels import planes as kernels
from capsieve.learned.features.outline import Outline, outline
from capsieve.learned.features.planes import Plane, blurred, halved, quantiles
from capsieve.paper.mask import CircularMask
from capsieve.paper.working_frame import resample

__all__ = ["View", "view_of"]

_MUCOSA = np.array([170.0, 110.0, 80.0], np.float32)
"""The colour that the median of the field of view is brought to: a common one of mucosa."""
_LEAST = 1.0  # grey levels; a field darker than this is black
_LARGEST_GAIN = 20.0
_STRONGEST_DETAIL = np.float32(0.1)  # of the median light: highlights are no texture
_LEAST_DETAIL = np.float32(0.003)
_LEAST_LIGHT = np.float32(0.02)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A frame as features see it; planes of rows x columns, float32.

    Attributes
    ----------
    outline
        The circular mask.
    gray
        0..255, as the camera gave it.
    gray_median
        Its median in the mask.
    light
        f of the paper (even light, extended beyond the mask), over its median in the mask.
    fine, smooth
        The light behind Gaussians of 1.5 and 2 pixels.
    a
        Of CIE Lab, with each colour scaled so that the median is a common one of mucosa.
    white
        The smallest of red, green and blue: highlights are bright in all.
    detail
        Logarithm of the local fine detail, as a share of the local light.
    texture_max
        T_max.
    """

    outline: Outline
    gray: Plane
    gray_median: float
    light: Plane
    fine: Plane
    smooth: Plane
    a: Plane
    white: Plane
    detail: Plane
    texture_max: float

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The circular mask."""
        return self.outline.mask

    @property
    def distance(self) -> Plane:
        """From the mask's centre, in radii of the mask."""
        return self.outline.distance

    def inside(self, plane: Plane) -> Plane:
        """Return the values of a plane in the mask, one after the other."""
        return _inside(plane, self.outline)


def view_of(
    pixels: NDArray[Any], grid: Placement, disc: CircularMask, frame: Plane, texture_max: float
) -> View:
    """Return the planes of a frame.

    Parameters
    ----------
    pixels
        Of the source.
    grid, disc, frame
        The working grid, the mask and the pre-processed frame.
    texture_max
        T_max.
    """
    rows, cols = frame.shape[0] // 2, frame.shape[1] // 2
    seen = outline(rows, cols, *disc.centre, disc.radius)
    colours = _colours(pixels, grid, rows, cols)
    balanced = np.empty_like(colours)
    gray, white = (np.empty((rows, cols), np.float32) for _ in range(2))
    kernels.balance(
        colours.reshape(-1, 3),
        _gains(colours, seen),
        balanced.reshape(-1, 3),
        gray.ravel(),
        white.ravel(),
    )
    lab = cv2.cvtColor(balanced, cv2.COLOR_RGB2LAB)
    light = halved(frame)
    typical = max(quantiles(_inside(light, seen), 0.5)[0], _LEAST)
    light /= np.float32(typical)
    np.maximum(light, _LEAST_LIGHT, out=light)
    fine, smooth = blurred(light, 1.5), blurred(light, 2.0)
    return View(
        outline=seen,
        gray=gray,
        gray_median=quantiles(_inside(gray, seen), 0.5)[0],
        light=light,
        fine=fine,
        smooth=smooth,
        a=np.asarray(cv2.extractChannel(lab, 1), np.float32),
        white=white,
        detail=_detail(light, fine, smooth),
        texture_max=texture_max,
    )


def _gains(colours: NDArray[np.float32], seen: Outline) -> NDArray[np.float32]:
    """Return by how much each colour is scaled."""
    medians = [quantiles(_inside(colours, seen, channel), 0.5)[0] for channel in range(3)]
    return np.minimum(_MUCOSA / np.maximum(medians, _LEAST), _LARGEST_GAIN).astype(np.float32)


def _inside(plane: NDArray[np.float32], seen: Outline, channel: int = 0) -> Plane:
    found = np.empty(seen.count, np.float32)
    step = plane.shape[2] if plane.ndim == 3 else 1
    flat = plane.reshape(len(plane), -1)
    kernels.gather(flat, step, channel, seen.starts, seen.stops, found)
    return found


def _detail(light: Plane, fine: Plane, smooth: Plane) -> Plane:
    found = np.empty_like(light)
    kernels.cut_detail(light.ravel(), fine.ravel(), _STRONGEST_DETAIL, found.ravel())
    strength = blurred(found, 2.0)
    kernels.log_detail(strength.ravel(), smooth.ravel(), _LEAST_DETAIL, found.ravel())
    return found


def _colours(pixels: NDArray[Any], place: Placement, rows: int, cols: int) -> NDArray[np.float32]:
    halved = Placement(
        rows=rows,
        cols=cols,
        row_scale=2.0 * place.row_scale,
        col_scale=2.0 * place.col_scale,
        row_offset=place.row_offset + 0.5 * place.row_scale,
        col_offset=place.col_offset + 0.5 * place.col_scale,
    )
    found = resample(pixels, halved)
    if found is pixels:
        found = pixels.astype(np.float32)
    else:  # bicubic enlargement of a small source overshoots
        kernels.clip_bytes(found.ravel())
    return found if found.ndim == 3 else np.repeat(found[:, :, None], 3, axis=2)
