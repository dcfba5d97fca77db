"""Round numbers along an axis."""

import math

from capsieve.report.text import clock, count

__all__ = ["frame_ticks", "score_ticks", "time_ticks"]

_TIME_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)


def time_ticks(end: float, *, most: int) -> list[tuple[float, str]]:
    """Return times from 0 to the end in seconds, and how they are written."""
    step = next((step for step in _TIME_STEPS if end / step <= most), 0.0)
    step = step or 14400.0 * math.ceil(end / 14400.0 / most)
    return [
        (k * step, clock(k * step, fraction=step < 1)) for k in range(math.floor(end / step) + 1)
    ]


def frame_ticks(start: float, end: float, *, most: int) -> list[tuple[float, str]]:
    """Return whole numbers of frames from the start to the end, and how they are written."""
    step = max(1, _round_step((end - start) / most))
    first = math.ceil(start / step)
    return [(k * step, count(int(k * step))) for k in range(first, math.floor(end / step) + 1)]


def score_ticks(low: float, high: float, *, most: int) -> list[tuple[float, str]]:
    """Return round scores between two bounds, and how they are written."""
    step = _round_step((high - low) / most)
    first = math.ceil(low / step)
    return [(k * step, f"{k * step:g}") for k in range(first, math.floor(high / step) + 1)]


def _round_step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least as large."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999)
