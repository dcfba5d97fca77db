"""Random streams, smooth random fields and the smooth step."""

import math
from functools import reduce
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return the random stream of one part of an exam.

    Every part has its own stream, so a change of one part does not alter the others.
    """
    key = reduce(lambda value, name: crc32(str(name).encode(), value), names, 0)
    return np.random.default_rng([seed, key])


def field(
    rng: np.random.Generator, shape: tuple[int, ...], scale: float | tuple[float, ...]
) -> NDArray[np.float32]:
    """Return periodic Gaussian noise with mean 0 and standard deviation 1.

    Parameters
    ----------
    rng
        Random stream.
    shape
        Size of one or two axes.
    scale
        Sigma in samples of the Gaussian that smooths white noise, for all axes or one per axis.
    """
    scales = (scale,) * len(shape) if isinstance(scale, int | float) else scale
    exponent = np.zeros(())
    for axis, (count, width) in enumerate(zip(shape, scales, strict=True)):
        last = axis == len(shape) - 1
        frequency = np.fft.rfftfreq(count) if last else np.fft.fftfreq(count)
        exponent = exponent[..., np.newaxis] - 2 * (math.pi * width * frequency) ** 2
    white = rng.standard_normal(shape)
    axes = tuple(range(len(shape)))
    smooth = np.fft.irfftn(np.fft.rfftn(white, axes=axes) * np.exp(exponent), s=shape, axes=axes)
    smooth -= smooth.mean()
    return (smooth / smooth.std()).astype(np.float32)


def wave(rng: np.random.Generator, terms: int, slowest: float, fastest: float) -> NDArray[Any]:
    """Return a smooth random function of one variable as rows of amplitude, frequency, phase.

    The sum of amplitude * sin(frequency * x + phase) has standard deviation 1. It needs no table,
    so memory does not grow with the length of an exam.
    """
    frequency = np.geomspace(slowest, fastest, terms) * rng.uniform(0.85, 1.18, terms)
    amplitude = rng.uniform(0.6, 1.4, terms)
    amplitude *= math.sqrt(2 / np.sum(amplitude**2))
    return np.stack([amplitude, frequency, rng.uniform(0, 2 * math.pi, terms)], axis=1)


def smoothstep(x: NDArray[Any] | float, low: float = 0, high: float = 1) -> NDArray[Any]:
    """Return 0 below `low`, 1 above `high` and a smooth transition between them."""
    t = np.clip((np.asarray(x, np.float64) - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)
