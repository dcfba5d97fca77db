"""Colour of the mucosa, lamps, automatic exposure and sensor: from linear light to pixels."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.camera import Lens
from capsieve.phantom.kernels.shade import develop
from capsieve.phantom.noise import generator

SURROUNDS = {"black": (0, 0, 0), "grey": (88, 88, 88), "blue": (18, 38, 92)}
_CURVE = 1024
_NOISE = (2.2, 3.6)  # standard deviation in grey levels, in the dark and in full light


class Appearance(NamedTuple):
    """Appearance of an exam, in single precision."""

    # The two colours of the mucosa (linear RGB), and the share of the second.
    pink: tuple[np.float32, ...]
    amber: tuple[np.float32, ...]
    amber_share: np.float32
    # Amounts on the wall: variation of the share and of brightness along it, and of both with the
    # grain; vessels; relief; darkness of creases; gloss, and how closely it follows the relief.
    hue: np.float32
    patches: np.float32
    grain: np.float32
    grain_hue: np.float32
    vessels: np.float32
    relief: np.float32
    creases: np.float32
    wet: np.float32
    film: np.float32
    # The same on polyps.
    polyp_grain: np.float32
    polyp_vessels: np.float32
    polyp_relief: np.float32
    # Power of the lamps, square of their distance from the lens, sharpness of their reflections;
    # share of light from all sides, and of light that a wet dome spreads over the field; grey level
    # that the exposure aims at, as linear light, and how much the recorder sharpens.
    power: np.float32
    ring_mm2: np.float32
    glare: np.float32
    sharpness: np.float32
    around: np.float32
    exposure: np.float32
    edges: np.float32
    # Position of the texture on the wall.
    shift_row: np.float32
    shift_col: np.float32


@lru_cache(maxsize=8)
def make_appearance(seed: int) -> Appearance:
    """Return the appearance of an exam: patients differ in colour, vessels and gloss."""
    rng = generator(seed, "look")
    pink, amber = (
        tuple((np.array(colour) * rng.uniform(0.92, 1.08, 3)).astype(np.float32))
        for colour in ([0.66, 0.220, 0.100], [0.66, 0.232, 0.026])
    )
    rough = math.exp(rng.uniform(math.log(0.35), math.log(1.6)))
    amounts = {
        "amber_share": rng.uniform(0.05, 0.95),
        "hue": 0.35,
        "patches": 0.10,
        "grain": 0.0016 * rough,
        "grain_hue": 0.0040 * rough,
        "vessels": 0.0015 * rng.uniform(0.2, 1.6),
        "relief": 0.0030 * rough,
        "creases": rng.uniform(0.5, 1.0),
        "wet": 0.35 * rng.uniform(0.15, 1.6),
        "film": 0.3,
        "polyp_grain": 0.0019,
        "polyp_vessels": 0.0026,
        "polyp_relief": 0.0036,
        "power": 400.0,
        "ring_mm2": 72.0,
        "glare": rng.uniform(0.01, 0.05),
        "sharpness": 3500.0,
        "around": rng.uniform(0.10, 0.25),
        "exposure": 0.25 * math.exp(rng.normal(0, 0.15)),
        "edges": rng.uniform(0.8, 1.8),
        "shift_row": rng.uniform(0, 1),
        "shift_col": rng.uniform(0, 1),
    }
    return Appearance(pink, amber, **{name: np.float32(amounts[name]) for name in amounts})


def expose(
    image: NDArray[np.float32],
    lens: Lens,
    appearance: Appearance,
    *,
    smear: NDArray[Any],
    blur: float,
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
    blur
        Sigma of the lens's blur in pixels at 512.
    key
        Seed of the noise.
    surround
        A key of `SURROUNDS`.
    """
    some = (slice(None, None, max(lens.size // 64, 1)),) * 2
    part = image[some][lens.inside[some]]
    falloff = lens.falloff[some][lens.inside[some]][:, np.newaxis]
    gain = _gain(float(appearance.exposure), part * falloff)
    # A wet dome spreads a part of the mean light over the whole field.
    glare = float(appearance.glare) * gain * np.minimum(part, 1 / gain).mean(axis=0)
    if float(np.hypot(*smear)) > 1.0:
        cv2.filter2D(image, -1, _streak(smear), dst=image)
    cv2.GaussianBlur(image, (0, 0), max(blur * lens.size / 512, 0.4), dst=image)
    # The recorder sharpens, as most do: edges get a dark and a bright side.
    soft = cv2.GaussianBlur(image, (0, 0), max(2.2 * lens.size / 512, 0.6))
    edges = float(appearance.edges)
    cv2.addWeighted(image, 1 + edges, soft, -edges, 0, dst=image)
    return develop(
        image, lens.inside, lens.falloff, np.float32(gain), np.array(glare, np.float32), _curve(),
        np.array(_NOISE, np.float32), np.uint64(key), np.array(SURROUNDS[surround], np.uint8),
    )  # fmt: skip


def _gain(target: float, light: NDArray[np.float32]) -> float:
    """Automatic exposure: bring the bright part of the field near a set value, not quite to it."""
    grey = 0.4 * light[:, 0] + 0.6 * light[:, 1]
    metered = 0.6 * float(np.quantile(grey, 0.8)) + 0.4 * float(np.mean(grey))
    return min(target * max(metered, 1e-4) ** -0.9, 12.0)


@lru_cache(maxsize=1)
def _curve() -> NDArray[np.float32]:
    """Tone curve over the square root of light from 0 to 2: a soft shoulder, black level, gamma."""
    light = np.linspace(0, 2, _CURVE) ** 2
    soft = np.where(light < 0.5, light, 0.5 + 0.5 * np.tanh((light - 0.5) / 0.5))
    return (255 * np.maximum(soft - 0.006, 0) ** (1 / 2.1)).astype(np.float32)


def _streak(smear: NDArray[Any]) -> NDArray[np.float32]:
    """Filter kernel of a straight, uniform motion."""
    half = math.ceil(float(np.abs(smear).max()) / 2)
    kernel = np.zeros((2 * half + 1, 2 * half + 1), np.float32)
    for part in np.linspace(-0.5, 0.5, 8 * half + 1):
        row, col = (half + round(float(part * shift)) for shift in smear)
        kernel[row, col] += 1
    return kernel / kernel.sum()
