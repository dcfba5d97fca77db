"""`analyze` and `analyze_each` on one frame, relative to one 61-tap filter of OpenCV.

The paper as inferred is measured on the same frames and compared with the paper as printed.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import thread_time_ns
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from tests.support.polyp_frames import polyp_frame

import capsieve
from benchmarks.timing import medians
from capsieve.evaluation.robustness import plan_changes
from capsieve.paper.algorithm import algorithm1
from capsieve.paper.many_settings import analyze_each
from capsieve.paper.steps import STEPS, Steps

CAPSULE = Path(__file__).parents[2] / "shared" / "data" / "capsule"
FRAMES = 12
ROUNDS = 60
WIDTH = 256
PASSES, REJECTED = "passes pre-selection", "rejected by texture"
INFERRED = capsieve.Parameters.inferred()


def main() -> None:
    cv2.setNumThreads(1)
    passing, rejected = find_frames()
    table: dict[str, list[float]] = defaultdict(list)
    timed = TimedSteps()
    paper = capsieve.Parameters()
    changed = [change.parameters for change in plan_changes(paper, percents=[10])]
    eight = [paper, *(each for each in changed if each is not None)]
    low = np.linspace(0.08, 0.14, 30).tolist()
    thirty = [capsieve.Parameters(threshold_low=m, threshold_high=m + 0.05) for m in low]
    for frame, other in zip(passing, rejected, strict=True):
        runs = {
            "one 61-tap filter (OpenCV)": one_filter(),
            f"analyze, {PASSES}": lambda frame=frame: capsieve.analyze(frame),
            f"analyze, {REJECTED}": lambda other=other: capsieve.analyze(other),
            f"as inferred, {PASSES}": lambda frame=frame: capsieve.analyze(frame, INFERRED),
            f"as inferred, {REJECTED}": lambda other=other: capsieve.analyze(other, INFERRED),
            f"analyze_each, {len(eight)} settings": lambda frame=frame: analyze_each(frame, eight),
            "analyze_each, 30 thresholds": lambda frame=frame: analyze_each(frame, thirty),
            "steps": lambda frame=frame: algorithm1(frame, paper, step=timed),
        }
        for name, time in medians(runs, rounds=ROUNDS).items():
            table[name].append(time)
    times = {name: float(np.median(found)) for name, found in table.items() if name != "steps"}
    yardstick = next(iter(times.values()))
    for name, found in timed.times.items():
        per_frame = len(found) / (len(passing) * (ROUNDS + 1))
        times[f"  {name}"] = float(np.median(found)) / 1000 * per_frame
    kind = "real" if CAPSULE.is_dir() else "synthetic"
    print(f"{len(passing)} + {len(rejected)} {kind} frames of {WIDTH} x {WIDTH}, {ROUNDS} runs\n")
    print(f"{'':<34}{'microseconds':>12}{'filters':>10}")
    for name, time in times.items():
        print(f"{name:<34}{time:12.0f}{time / yardstick:10.2f}")
    print()
    for kind in (PASSES, REJECTED):
        ratio = times[f"as inferred, {kind}"] / times[f"analyze, {kind}"]
        print(f"as inferred / as printed, {kind}: {ratio:.2f}")


class TimedSteps(Steps):
    """The steps of Algorithm 1; collects the nanoseconds of each call by name."""

    def __init__(self) -> None:
        self.times: dict[str, list[int]] = defaultdict(list)
        self._replace_each(STEPS, self._timed)

    def _timed(self, name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            started = thread_time_ns()
            result = step(*arguments)
            self.times[name].append(thread_time_ns() - started)
            return result

        return timed


def find_frames() -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]]:
    """Return frames that pass pre-selection in both readings, and as many that do not."""
    passing: list[NDArray[np.uint8]] = []
    rejected: list[NDArray[np.uint8]] = []
    for frame in real_frames() if CAPSULE.is_dir() else synthetic_frames():
        found = [capsieve.analyze(frame), capsieve.analyze(frame, INFERRED)]
        by_texture = sum(result.reason.startswith("texture") for result in found)
        if by_texture != 1:
            (rejected if by_texture else passing).append(frame)
        if min(len(passing), len(rejected)) >= FRAMES:
            break
    count = min(len(passing), len(rejected), FRAMES)
    return passing[:count], rejected[:count]


def real_frames() -> Iterator[NDArray[np.uint8]]:
    """Yield real frames from the whole collection, at the working width."""
    with (CAPSULE / "frames.csv").open() as table:
        files = [row["file"] for row in csv.DictReader(table)]
    for file in files[::97]:
        with Image.open(CAPSULE / file) as image:
            sized = image.convert("RGB").resize((WIDTH, WIDTH), Image.Resampling.BICUBIC)
        yield np.asarray(sized)


def synthetic_frames() -> Iterator[NDArray[np.uint8]]:
    """Yield synthetic frames, each with and nearly without texture."""
    for seed in range(3 * FRAMES):
        frame = polyp_frame(seed=seed, size=WIDTH)
        yield frame
        yield np.asarray(cv2.GaussianBlur(frame, (0, 0), 12), np.uint8)


def one_filter() -> Callable[[], object]:
    half = 30
    taps = np.exp(-(np.arange(-half, half + 1) ** 2) / (2.0 * half**2))
    taps = (taps / taps.sum()).astype(np.float32)
    frame = np.random.default_rng(0).uniform(0, 255, (WIDTH, WIDTH)).astype(np.float32)
    out = np.empty_like(frame)
    return lambda: cv2.sepFilter2D(
        frame, cv2.CV_32F, taps, taps, dst=out, borderType=cv2.BORDER_REFLECT
    )
