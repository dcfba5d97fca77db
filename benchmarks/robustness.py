"""A frame under many settings: once for all of them, against one run for each."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray
from tests.support.polyp_frames import polyp_frame

from benchmarks.frame import CAPSULE, WIDTH, real_frames
from benchmarks.timing import medians
from capsieve import Parameters, analyze
from capsieve.paper.many_settings import analyze_each
from capsieve.statistics.perturbation import plan_changes

FRAMES = 12
ROUNDS = 5


def main() -> None:
    cv2.setNumThreads(1)
    paper = Parameters()
    eight = [paper, *_settings([10])]
    sets = {
        "base and +10 %": eight,
        "base, +10 % and -10 %": [paper, *_settings([10, -10])],
        "thresholds M_L, M_U": _thresholds(30),
    }
    print(f"{FRAMES} frames each, {ROUNDS} rounds; ratio: one by one / together\n")
    print(f"{'frames, settings':<48}{'one by one':>12}{'together':>12}{'ratio':>8}")
    for kind, frames in _frames().items():
        for name, settings in sets.items():
            apart, together = _times(frames, settings)
            label = f"{kind}, {name} ({len(settings)})"
            ratio = apart / together
            print(f"{label:<48}{apart / 1000:9.1f} ms{together / 1000:9.1f} ms{ratio:8.1f}")


def _times(
    frames: Sequence[NDArray[np.uint8]], settings: Sequence[Parameters]
) -> tuple[float, float]:
    """Return the times of a frame in microseconds: one by one, and together."""
    apart: list[float] = []
    together: list[float] = []
    for frame in frames:
        assert analyze_each(frame, settings) == [analyze(frame, each) for each in settings]
        runs: dict[str, Callable[[], object]] = {
            "apart": lambda frame=frame: [analyze(frame, each) for each in settings],
            "together": lambda frame=frame: analyze_each(frame, settings),
        }
        times = medians(runs, rounds=ROUNDS)
        apart.append(times["apart"])
        together.append(times["together"])
    # The mean over frames: a study pays for all of them, those that pre-selection stops as well.
    return float(np.mean(apart)), float(np.mean(together))


def _settings(percents: Sequence[float]) -> Iterator[Parameters]:
    for change in plan_changes(Parameters(), percents=percents):
        assert change.parameters is not None
        yield change.parameters


def _thresholds(count: int) -> list[Parameters]:
    steps = np.linspace(0.08, 0.14, count)
    return [Parameters(threshold_low=low, threshold_high=low + 0.05) for low in steps.tolist()]


def _frames() -> dict[str, list[NDArray[np.uint8]]]:
    """Return synthetic frames that pass pre-selection, and real frames as they come."""
    kinds = {"phantom": [polyp_frame(seed=seed, size=WIDTH) for seed in range(FRAMES)]}
    if CAPSULE.is_dir():
        kinds["real"] = list(itertools.islice(real_frames(), FRAMES))
    return kinds
