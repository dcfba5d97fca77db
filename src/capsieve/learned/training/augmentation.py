"""Changed versions of a frame, from which a network learns what does not matter.

A capsule has no up and no down, every maker's light and colours differ, and the shape of the view
must tell nothing. Each function changes one thing by given numbers; :func:`augment` draws them.
"""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Augmentation",
    "add_noise",
    "augment",
    "blur",
    "compress",
    "fall_off",
    "recolour",
    "turn",
    "view_mask",
]

Crop = NDArray[np.uint8]
"""S x S x 3 bytes, RGB."""

_RADII = 13  # distinct radii of masks, so that they are drawn once and kept


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How far a version may be from its frame; every range is drawn from evenly.

    Attributes
    ----------
    zoom
        Lowest and highest, evenly in its logarithm.
    shift
        Largest, in both directions, as a share of the side.
    gamma, gain, channel_gain
        Largest logarithm of the exponent, of the brightness and of each channel's brightness.
    saturation
        Lowest and highest; 1 leaves it, 0 is gray.
    mixing, mixing_chance
        Standard deviation of what each channel takes from the others, and how often it does.
    blur, blur_chance
        Lowest and highest standard deviation in pixels.
    noise, noise_chance
        Lowest and highest standard deviation in gray levels.
    fall_off, fall_off_chance
        Lowest and highest change of the light half a side away from its centre.
    quality, quality_chance
        Lowest and highest quality of JPEG.
    view, circle_chance
        Lowest and highest radius of the view in half sides; how often it is a circle and not a
        square with cut corners.
    """

    zoom: tuple[float, float] = (0.85, 1.3)
    shift: float = 0.06
    gamma: float = 0.45
    gain: float = 0.3
    channel_gain: float = 0.25
    saturation: tuple[float, float] = (0.4, 1.5)
    mixing: float = 0.06
    mixing_chance: float = 0.5
    blur: tuple[float, float] = (0.4, 1.3)
    blur_chance: float = 0.25
    noise: tuple[float, float] = (1.0, 9.0)
    noise_chance: float = 0.3
    fall_off: tuple[float, float] = (-0.3, 0.25)
    fall_off_chance: float = 0.4
    quality: tuple[int, int] = (40, 90)
    quality_chance: float = 0.2
    view: tuple[float, float] = (0.88, 1.0)
    circle_chance: float = 0.7


def augment(crop: Crop, rng: np.random.Generator, *, ranges: Augmentation | None = None) -> Crop:
    """Return a version of a crop.

    Parameters
    ----------
    crop
        S x S x 3 bytes, RGB.
    rng
        Where all chance comes from: the same state gives the same version.
    ranges
        How far to go; the defaults of :class:`Augmentation` where None.
    """
    to = ranges or Augmentation()
    version = turn(
        crop,
        angle=rng.uniform(0, 360),
        zoom=np.exp(rng.uniform(*np.log(to.zoom))),
        shift=rng.uniform(-to.shift, to.shift, 2),
        mirrored=rng.random() < 0.5,
    )
    channels = rng.uniform(-to.channel_gain, to.channel_gain, 3)
    mixing = np.zeros((3, 3))
    gamma = np.exp(rng.uniform(-to.gamma, to.gamma))
    gains = np.exp(rng.uniform(-to.gain, to.gain) + channels)
    saturation = rng.uniform(*to.saturation)
    if rng.random() < to.mixing_chance:
        mixing = rng.normal(0, to.mixing, (3, 3))
    version = recolour(version, gamma=gamma, gains=gains, saturation=saturation, mixing=mixing)
    if rng.random() < to.blur_chance:
        version = blur(version, rng.uniform(*to.blur))
    if rng.random() < to.noise_chance:
        version = add_noise(version, rng.uniform(*to.noise), rng)
    if rng.random() < to.fall_off_chance:
        version = fall_off(version, rng.uniform(*to.fall_off), centre=rng.uniform(-0.4, 0.4, 2))
    if rng.random() < to.quality_chance:
        version = compress(version, int(rng.integers(*to.quality, endpoint=True)))
    radius = float(np.linspace(*to.view, _RADII)[rng.integers(_RADII)])
    mask = view_mask(len(crop), radius, circle=bool(rng.random() < to.circle_chance))
    return _bytes(cv2.bitwise_and(version, version, mask=mask))


def turn(
    crop: Crop, *, angle: float, zoom: float, shift: NDArray[np.float64], mirrored: bool
) -> Crop:
    """Rotate by degrees about the centre, zoom, shift (rows, columns; in sides) and mirror."""
    size = len(crop)
    middle = (size - 1) / 2
    matrix = np.eye(3)
    matrix[:2] = cv2.getRotationMatrix2D((middle, middle), angle, zoom)
    matrix[:2, 2] += np.asarray(shift)[::-1] * size
    if mirrored:
        matrix = matrix @ np.array([[-1, 0, size - 1], [0, 1, 0], [0, 0, 1.0]])
    return _bytes(cv2.warpAffine(crop, matrix[:2], (size, size), flags=cv2.INTER_LINEAR))


def recolour(
    crop: Crop,
    *,
    gamma: float,
    gains: NDArray[np.float64],
    saturation: float,
    mixing: NDArray[np.float64],
) -> Crop:
    """Apply an exponent and a factor per channel, then a saturation and a mix of the channels.

    Parameters
    ----------
    gamma, gains
        A value v of channel c becomes gains[c] * 255 (v / 255) ** gamma.
    saturation
        Distance from the mean of the three channels, as a factor.
    mixing
        3 x 3; zeros mix nothing.
    """
    curve = 255 * (np.arange(256) / 255) ** gamma
    table = np.clip(np.rint(curve[:, None] * gains), 0, 255).astype(np.uint8)
    matrix = (saturation * np.eye(3) + (1 - saturation) / 3) @ (np.eye(3) + mixing)
    return _bytes(cv2.transform(cv2.LUT(crop, table[None]), matrix))


def blur(crop: Crop, sigma: float) -> Crop:
    """Smooth by a Gaussian of so many pixels."""
    return _bytes(cv2.GaussianBlur(crop, (0, 0), sigma))


def add_noise(crop: Crop, deviation: float, rng: np.random.Generator) -> Crop:
    """Add normal noise of so many gray levels to every value on its own."""
    noise = rng.standard_normal(crop.shape, dtype=np.float32)
    return _bytes(cv2.addWeighted(crop, 1, noise, deviation, 0, dtype=cv2.CV_8U))


def fall_off(crop: Crop, change: float, *, centre: NDArray[np.float64]) -> Crop:
    """Change the light with the squared distance from its centre (row, column; in half sides).

    The factor is 1 in the centre and 1 + `change` half a side away.
    """
    place = np.linspace(-1, 1, len(crop))
    distance = (place[:, None] - centre[0]) ** 2 + (place - centre[1]) ** 2
    factor = np.maximum(1 + change * distance, 0).astype(np.float32)
    return _bytes(cv2.multiply(crop, cv2.merge([factor] * 3), dtype=cv2.CV_8U))


def compress(crop: Crop, quality: int) -> Crop:
    """Store as JPEG of a quality of 0..100, and read again."""
    _, stored = cv2.imencode(".jpg", crop[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    read = cv2.imdecode(stored, cv2.IMREAD_COLOR)
    assert read is not None
    return _bytes(np.ascontiguousarray(read[..., ::-1]))


@lru_cache(maxsize=64)
def view_mask(size: int, radius: float, *, circle: bool) -> NDArray[np.uint8]:
    """Return 255 inside of a view and 0 outside.

    Parameters
    ----------
    size
        Side in pixels.
    radius
        In half sides.
    circle
        Else a square with cut corners, as some capsules show.
    """
    place = np.abs(np.arange(size) - (size - 1) / 2) * 2 / size
    rows, cols = place[:, None], place
    if circle:
        inside = rows**2 + cols**2 <= radius**2
    else:
        inside = (np.maximum(rows, cols) <= radius) & (rows + cols <= 1.62 * radius)
    mask = np.where(inside, np.uint8(255), np.uint8(0))
    mask.flags.writeable = False
    return mask


def _bytes(image: object) -> Crop:
    return np.asarray(image, dtype=np.uint8)
