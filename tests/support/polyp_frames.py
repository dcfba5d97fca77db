"""A single artificial capsule frame: a polyp on folded mucosa, seen through a round window."""

import math

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FrameError

__all__ = ["polyp_frame"]

_Image = NDArray[np.float64]

_MUCOSA = np.array([0.84, 0.53, 0.38])
_POLYP = np.array([0.93, 0.49, 0.37])
_VESSEL = np.array([0.66, 0.24, 0.19])


def polyp_frame(*, seed: int = 0, size: int = 512) -> NDArray[np.uint8]:
    """Draw a capsule frame with one polyp.

    A height map (tube, folds, dome) is lit by a lamp beside the camera: light falls off with the
    distance and with the slope. Pits on the dome and fine vessels on the mucosa give it texture;
    glints, vignetting, noise and a black surround give it the look of a capsule's camera.

    Parameters
    ----------
    seed
        The same seed gives the same frame.
    size
        Rows and columns, from 64.

    Returns
    -------
    array
        size x size x 3, uint8 RGB.
    """
    if size < 64:
        raise FrameError(f"an artificial frame has at least 64 rows and columns, not {size}")
    rng = np.random.default_rng(seed)
    axis = (np.arange(size) - (size - 1) / 2) / (size / 2)
    x, y = (grid.astype(np.float64) for grid in np.meshgrid(axis, axis))
    radius = np.hypot(x, y)

    dome, dome_height = _dome(rng, x, y)
    folds = _folds(rng, x, y) * (1 - dome)
    height = 0.17 * folds + dome_height + 0.25 * radius**2
    height += 0.006 * _noise(rng, size, size / 40)
    slope_y, slope_x = (_slope(height, along) * (size / 2) for along in (0, 1))
    facing = 1 / np.sqrt(1 + 0.50 * (slope_x**2 + slope_y**2))

    albedo = _albedo(rng, size, dome)
    # High points are near the lamp, points at the edge of the field of view far from it.
    light = facing * (1.0 + 1.2 * dome_height + 0.22 * folds) / (1 + 0.45 * radius**2)
    image = albedo * (0.86 * light)[..., np.newaxis]
    rim = 4 * dome * (1 - dome)  # the crease around the polyp is in shade
    image += ((1 - rim) * _glints(rng, x, y, slope_x, slope_y))[..., np.newaxis]
    image *= (1 - 0.32 * radius**4)[..., np.newaxis]
    image += rng.normal(0, 0.004, image.shape)

    window = np.clip((0.965 - radius) * size / 3, 0, 1)
    image = np.clip(image, 0, 1) ** 0.9 * window[..., np.newaxis]
    return np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8)


def _dome(rng: np.random.Generator, x: _Image, y: _Image) -> tuple[_Image, _Image]:
    """Return where the polyp is (0..1, soft rim) and its height."""
    angle = rng.uniform(0, 2 * math.pi)
    centre_x, centre_y = 0.24 * math.cos(angle), 0.24 * math.sin(angle)
    turn = rng.uniform(0, math.pi)
    along = (x - centre_x) * math.cos(turn) + (y - centre_y) * math.sin(turn)
    across = (y - centre_y) * math.cos(turn) - (x - centre_x) * math.sin(turn)
    bearing = np.arctan2(across, along)
    wobble = 1 + 0.05 * np.sin(3 * bearing + rng.uniform(0, 6)) + 0.03 * np.sin(5 * bearing)
    distance = np.hypot(along / 1.12, across) / (0.27 * wobble)
    inside = np.clip(1 - distance**2, 0, 1)
    return 1 / (1 + np.exp((distance - 0.97) * 11)), 0.34 * inside**0.9


def _folds(rng: np.random.Generator, x: _Image, y: _Image) -> _Image:
    """Soft ridges in arcs around a far point, as in a tube seen at an angle; 0..1."""
    angle = rng.uniform(0, 2 * math.pi)
    away = np.hypot(x - 1.5 * math.cos(angle), y - 1.5 * math.sin(angle))
    bend = 0.05 * _noise(rng, x.shape[0], x.shape[0] / 7)
    return (0.5 + 0.5 * np.cos(2 * math.pi * (away + bend) / 0.62 + rng.uniform(0, 6))) ** 2


def _albedo(rng: np.random.Generator, size: int, dome: _Image) -> _Image:
    patches = 1 + 0.05 * _noise(rng, size, size / 14)
    # Zero crossings of smooth noise make thin wandering lines: vessels.
    vessels = np.exp(-((_noise(rng, size, size / 26) / 0.10) ** 2)) * (1 - dome)
    pits = _noise(rng, size, size / 210) * dome
    grain = _noise(rng, size, size / 150) * (1 - dome)
    colour = _MUCOSA + dome[..., np.newaxis] * (_POLYP - _MUCOSA)
    colour = colour + (0.30 * vessels)[..., np.newaxis] * (_VESSEL - colour)
    return colour * (patches * (1 + 0.10 * pits + 0.03 * grain))[..., np.newaxis]


def _glints(
    rng: np.random.Generator, x: _Image, y: _Image, slope_x: _Image, slope_y: _Image
) -> _Image:
    """Wet highlights where the surface faces the lamp, broken up by small ripples."""
    size = x.shape[0]
    ripple_x, ripple_y = _noise(rng, size, size / 60), _noise(rng, size, size / 60)
    off_x, off_y = slope_x - 0.9 * x + 0.13 * ripple_x, slope_y - 0.9 * y + 0.13 * ripple_y
    wet = np.clip(_noise(rng, size, size / 20) - 0.3, 0, 1)
    return 0.55 * wet * np.exp(-(off_x**2 + off_y**2) / 0.006)


def _slope(height: _Image, along: int) -> _Image:
    """Central differences; the black surround hides that they wrap around."""
    return (np.roll(height, -1, axis=along) - np.roll(height, 1, axis=along)) / 2


def _noise(rng: np.random.Generator, size: int, scale: float) -> _Image:
    """Smooth noise with mean 0 and deviation 1; scale is the Gaussian's width in pixels."""
    frequency = np.fft.fftfreq(size)
    distance = frequency[:, np.newaxis] ** 2 + frequency**2
    spectrum = np.fft.fft2(rng.standard_normal((size, size)))
    smooth = np.fft.ifft2(spectrum * np.exp(-2 * (math.pi * scale) ** 2 * distance)).real
    smooth -= smooth.mean()
    return smooth / smooth.std()
