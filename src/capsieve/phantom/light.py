"""Colour of the mucosa, lamps, automatic exposure and sensor: from linear light to pixels."""

import math
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.camera import Lens
from capsieve.phantom.kernels.shade import develop
from capsieve.phantom.noise import generator

__all__ = ["APPEARANCE", "SURROUNDS", "expose", "light_at", "make_appearance"]

SURROUNDS = {"black": (0, 0, 0), "grey": (88, 88, 88), "blue": (18, 38, 92)}

APPEARANCE = (
    *("pink_r", "pink_g", "pink_b", "amber_r", "amber_g", "amber_b"),  # range of colours
    *("amber", "patches", "grain", "vessels", "wet", "relief"),  # amount of each
    *("power", "ring_mm2", "glare", "sharpness", "around", "shift_row", "shift_col"),
)
"""Numbers that describe the appearance of an exam, in the order in which the kernel reads them."""

_POWER, _RING, _GLARE = (APPEARANCE.index(name) for name in ("power", "ring_mm2", "glare"))
_CURVE = 1024
_NOISE = (1.5, 2.2)  # standard deviation in grey levels, in the dark and in full light


@lru_cache(maxsize=8)
def make_appearance(seed: int) -> NDArray[np.float32]:
    """Return the appearance of an exam: patients differ in colour, vessels and gloss."""
    rng = generator(seed, "look")
    pink = np.array([0.66, 0.255, 0.165]) * rng.uniform(0.95, 1.05, 3)
    amber = np.array([0.66, 0.270, 0.075]) * rng.uniform(0.95, 1.05, 3)
    rough = math.exp(rng.uniform(math.log(0.65), math.log(2.0)))
    values = {
        **dict(zip(APPEARANCE[:3], pink, strict=True)),
        **dict(zip(APPEARANCE[3:6], amber, strict=True)),
        "amber": rng.uniform(0.1, 0.8),
        "patches": 0.045,
        "grain": 0.0010 * rough,
        "vessels": 0.0026 * rng.uniform(0.3, 1.6),
        "wet": 0.3 * rng.uniform(0.4, 1.6),
        "relief": 0.0018 * rough,
        "power": 400.0,
        "ring_mm2": 72.0,
        "glare": rng.uniform(0.06, 0.20),
        "sharpness": 900.0,
        "around": rng.uniform(0.18, 0.42),
        "shift_row": rng.uniform(0, 1),
        "shift_col": rng.uniform(0, 1),
    }
    return np.array([values[name] for name in APPEARANCE], np.float32)


def light_at(appearance: NDArray[np.float32], distance: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the light on a white surface at distances in mm."""
    return appearance[_POWER] / (distance**2 + appearance[_RING])


def expose(
    image: NDArray[np.float32],
    lens: Lens,
    appearance: NDArray[np.float32],
    *,
    smear: NDArray[Any],
    key: int,
    surround: str,
) -> NDArray[np.uint8]:
    """Expose a frame: blur of lens and motion, gain, glare, tone curve and noise.

    Parameters
    ----------
    image
        Linear RGB; overwritten.
    lens, appearance
        Lens; appearance of the exam.
    smear
        Shift of the image during the exposure, in rows and columns.
    key
        Seed of the noise.
    surround
        A key of `SURROUNDS`.
    """
    gain = _gain(image, lens)
    step = max(lens.size // 64, 1)
    part = image[::step, ::step][lens.inside[::step, ::step]]
    # A wet dome spreads a part of the mean light over the whole field.
    glare = float(appearance[_GLARE]) * gain * np.minimum(part, 1 / gain).mean(axis=0)
    if float(np.hypot(*smear)) > 1.0:
        cv2.filter2D(image, -1, _streak(smear), dst=image)
    cv2.GaussianBlur(image, (0, 0), max(0.85 * lens.size / 512, 0.4), dst=image)
    pixels = np.empty(image.shape, np.uint8)
    develop(
        image, lens.inside, lens.falloff, np.float32(gain), np.array(glare, np.float32), _curve(),
        np.array(_NOISE, np.float32), np.uint64(key), np.array(SURROUNDS[surround], np.uint8),
        pixels,
    )  # fmt: skip
    return pixels


def _gain(image: NDArray[np.float32], lens: Lens) -> float:
    """Automatic exposure: bring the bright part of the field to a set value."""
    step = max(lens.size // 64, 1)
    field = lens.inside[::step, ::step]
    red = (image[::step, ::step, 0] * lens.falloff[::step, ::step])[field]
    green = (image[::step, ::step, 1] * lens.falloff[::step, ::step])[field]
    grey = 0.4 * red + 0.6 * green
    metered = 0.6 * float(np.quantile(grey, 0.8)) + 0.4 * float(np.mean(grey))
    return min(0.30 / max(metered, 1e-4), 12.0)


@lru_cache(maxsize=1)
def _curve() -> NDArray[np.float32]:
    """Tone curve over the square root of light from 0 to 2: a soft shoulder, then gamma."""
    light = np.linspace(0, 2, _CURVE) ** 2
    soft = np.where(light < 0.5, light, 0.5 + 0.5 * np.tanh((light - 0.5) / 0.5))
    return (255 * soft ** (1 / 2.2)).astype(np.float32)


def _streak(smear: NDArray[Any]) -> NDArray[np.float32]:
    """Filter kernel of a straight, uniform motion."""
    half = math.ceil(float(np.abs(smear).max()) / 2)
    kernel = np.zeros((2 * half + 1, 2 * half + 1), np.float32)
    for part in np.linspace(-0.5, 0.5, 8 * half + 1):
        row, col = (half + round(float(part * shift)) for shift in smear)
        kernel[row, col] += 1
    return kernel / kernel.sum()
