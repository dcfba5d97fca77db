"""Augmented versions of a crop: what a network must not depend on.

A capsule has no up and down, the light and colours of devices differ, and so does the shape of the
field of view. :func:`augment` draws the numbers; each other function makes one change.
"""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Crop = NDArray[np.uint8]
"""S x S x 3, RGB."""

# Ranges are drawn from uniformly. Each was chosen once and is part of the recipe.
_SHIFT = 0.06  # of the side, in rows and columns
_BLUR, _BLUR_CHANCE = (0.4, 1.3), 0.25  # sigma in pixels
_NOISE, _NOISE_CHANCE = (1.0, 9.0), 0.3  # standard deviation in grey levels
_LIGHT, _LIGHT_CHANCE = (-0.3, 0.25), 0.4  # change of the light half a side from its centre
_QUALITY, _QUALITY_CHANCE = (40, 90), 0.2  # of JPEG
_RADIUS, _CIRCLE_CHANCE = (0.88, 1.0), 0.7  # field of view in half sides; otherwise a cut square
_RADII = 13  # distinct radii, so that masks are computed once
_CUT = 1.62  # radii: |row| + |col| at the cut corners
_LEAST_SPREAD = 1e-4  # a channel may have the same value everywhere


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How much a version may differ from its crop; numbers are drawn uniformly.

    Attributes
    ----------
    zoom
        Smallest and largest factor; uniform in the logarithm.
    gamma, gain, channel_gain
        Largest logarithms of the exponent, of the factor of all channels and of each channel.
    saturation
        Smallest and largest; 1 changes nothing, 0 is grey.
    mixing, mixing_chance
        Standard deviation of what a channel takes from the others, and how often it does.
    """

    zoom: tuple[float, float] = (0.85, 1.3)
    gamma: float = 0.45
    gain: float = 0.3
    channel_gain: float = 0.25
    saturation: tuple[float, float] = (0.4, 1.5)
    mixing: float = 0.06
    mixing_chance: float = 0.5


def augment(crop: Crop, rng: np.random.Generator, most: Augmentation | None = None) -> Crop:
    """Return an augmented version of a crop; the same state of `rng` gives the same version."""
    most = most or Augmentation()
    version = _moved(
        crop,
        angle=rng.uniform(0, 360),
        zoom=np.exp(rng.uniform(*np.log(most.zoom))),
        shift=rng.uniform(-_SHIFT, _SHIFT, 2),
        mirrored=rng.random() < 0.5,
    )
    channels = rng.uniform(-most.channel_gain, most.channel_gain, 3)
    gamma = np.exp(rng.uniform(-most.gamma, most.gamma))
    gains = np.exp(rng.uniform(-most.gain, most.gain) + channels)
    saturation = rng.uniform(*most.saturation)
    mixing = np.zeros((3, 3))
    if rng.random() < most.mixing_chance:
        mixing = rng.normal(0, most.mixing, (3, 3))
    version = _recoloured(version, gamma, gains, saturation, mixing)
    if rng.random() < _BLUR_CHANCE:
        version = np.asarray(cv2.GaussianBlur(version, (0, 0), rng.uniform(*_BLUR)), np.uint8)
    if rng.random() < _NOISE_CHANCE:
        deviation = rng.uniform(*_NOISE)
        noise = rng.standard_normal(crop.shape, dtype=np.float32)
        noisy = cv2.addWeighted(version, 1, noise, deviation, 0, dtype=cv2.CV_8U)
        version = np.asarray(noisy, np.uint8)
    if rng.random() < _LIGHT_CHANCE:
        version = _lit(version, rng.uniform(*_LIGHT), rng.uniform(-0.4, 0.4, 2))
    if rng.random() < _QUALITY_CHANCE:
        version = _compressed(version, int(rng.integers(*_QUALITY, endpoint=True)))
    radius = float(np.linspace(*_RADIUS, _RADII)[rng.integers(_RADII)])
    mask = _field_of_view(len(crop), radius, bool(rng.random() < _CIRCLE_CHANCE))
    return np.asarray(cv2.bitwise_and(version, version, mask=mask), np.uint8)


def _moved(
    crop: Crop, *, angle: float, zoom: float, shift: NDArray[np.float64], mirrored: bool
) -> Crop:
    """Rotate by degrees about the centre, zoom, shift (rows, columns; in sides) and mirror."""
    size = len(crop)
    middle = (size - 1) / 2
    matrix = np.eye(3)
    matrix[:2] = cv2.getRotationMatrix2D((middle, middle), angle, zoom)
    matrix[:2, 2] += shift[::-1] * size
    if mirrored:
        matrix = matrix @ np.array([[-1, 0, size - 1], [0, 1, 0], [0, 0, 1.0]])
    moved = cv2.warpAffine(crop, matrix[:2], (size, size), flags=cv2.INTER_LINEAR)
    return np.asarray(moved, np.uint8)


def _recoloured(
    crop: Crop,
    gamma: float,
    gains: NDArray[np.float64],
    saturation: float,
    mixing: NDArray[np.float64],
) -> Crop:
    """Apply gains[c] * 255 (v / 255) ** gamma per channel, then saturation and mixing."""
    curve = 255 * (np.arange(256) / 255) ** gamma
    table = np.clip(np.rint(curve[:, None] * gains), 0, 255).astype(np.uint8)
    matrix = (saturation * np.eye(3) + (1 - saturation) / 3) @ (np.eye(3) + mixing)
    return np.asarray(cv2.transform(cv2.LUT(crop, table[None]), matrix), np.uint8)


def _lit(crop: Crop, change: float, centre: NDArray[np.float64]) -> Crop:
    """Multiply by 1 + change * distance^2 from a centre (row, column); distances in half sides."""
    along = np.linspace(-1, 1, len(crop))
    distance = (along[:, None] - centre[0]) ** 2 + (along - centre[1]) ** 2
    factor = np.maximum(1 + change * distance, 0).astype(np.float32)
    return np.asarray(cv2.multiply(crop, cv2.merge([factor] * 3), dtype=cv2.CV_8U), np.uint8)


def _compressed(crop: Crop, quality: int) -> Crop:
    _, stored = cv2.imencode(".jpg", crop[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    read = cv2.imdecode(stored, cv2.IMREAD_COLOR)
    assert read is not None
    return np.ascontiguousarray(read[..., ::-1], np.uint8)


@lru_cache(maxsize=64)
def _field_of_view(size: int, radius: float, circle: bool) -> NDArray[np.uint8]:
    """Return 255 inside a circle or a square with cut corners, otherwise 0."""
    offset = np.abs(np.arange(size) - (size - 1) / 2) * 2 / size
    rows, cols = offset[:, None], offset
    if circle:
        inside = rows**2 + cols**2 <= radius**2
    else:
        inside = (np.maximum(rows, cols) <= radius) & (rows + cols <= _CUT * radius)
    mask = np.where(inside, np.uint8(255), np.uint8(0))
    mask.setflags(write=False)  # it is shared
    return mask


def mix_styles(
    features: NDArray[np.float32], rng: np.random.Generator, *, chance: float, beta: float
) -> NDArray[np.float32]:
    """Move the channel statistics of feature maps towards those of others in the batch [1]_.

    Mean and standard deviation of the channels carry the light, colours and contrast of an exam or
    a device. A network that sees frames with the statistics of others relies less on them.

    Parameters
    ----------
    features
        N x C x H x W.
    rng
        Source of all random numbers.
    chance
        Probability that a frame is changed.
    beta
        Both parameters of the beta distribution of the share that a changed frame keeps of its own
        statistics; below 1 it keeps nearly all or nearly nothing.

    References
    ----------
    .. [1] K. Zhou, Y. Yang, Y. Qiao, T. Xiang, "Domain generalization with MixStyle", ICLR 2021,
       arXiv:2104.02008.
    """
    shape = (len(features), 1, 1, 1)
    mean = features.mean((2, 3), keepdims=True)
    spread = features.std((2, 3), keepdims=True) + np.float32(_LEAST_SPREAD)
    other = rng.permutation(len(features))
    share = rng.beta(beta, beta, shape)
    own = np.where(rng.random(shape) < chance, share, 1).astype(np.float32)
    new_mean = own * mean + (1 - own) * mean[other]
    new_spread = own * spread + (1 - own) * spread[other]
    return (features - mean) / spread * new_spread + new_mean
