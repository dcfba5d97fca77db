"""The learned detector on one thread, against the paper's on the same frames, and its parts."""

from collections.abc import Callable

import cv2
import numpy as np

import capsieve
from benchmarks.frame import WIDTH, find_frames
from benchmarks.timing import medians
from capsieve.learned.crop import crop
from capsieve.learned.detector import LearnedDetector
from capsieve.learned.features import frame_features

BATCH = 16
ROUNDS = 40


def main() -> None:
    cv2.setNumThreads(1)
    detectors = {name: capsieve.load_detector(name) for name in ("paper", "curvature", "learned")}
    learned = detectors["learned"]
    assert isinstance(learned, LearnedDetector)
    passing, rejected = find_frames()
    table: dict[str, list[float]] = {}
    frames = [*passing, *rejected]
    for number, frame in enumerate(frames):
        runs: dict[str, Callable[[], object]] = {
            name: lambda each=each, frame=frame: each.score(frame)
            for name, each in detectors.items()
        }
        runs["  features"] = lambda frame=frame: frame_features(frame)
        runs["  evidence for a flag"] = lambda frame=frame: learned.evidence(frame)
        runs["  crop"] = lambda frame=frame: crop(frame, None, 160)
        for name, time in medians(runs, rounds=ROUNDS).items():
            table.setdefault(name, []).append(time)
        if number % BATCH == 0:
            chunk = [frames[place % len(frames)] for place in range(number, number + BATCH)]
            many = {"learned": lambda chunk=chunk: learned.score_batch(chunk, [None] * len(chunk))}
            time = medians(many, rounds=ROUNDS // 8)["learned"] / BATCH
            table.setdefault(f"learned, {BATCH} at once", []).append(time)
    print(f"{len(frames)} frames, half of them rejected by the paper's texture rule\n")
    means = {name: float(np.mean(times)) for name, times in table.items()}
    print(f"{'':28} {'ms per frame':>12} {'of the paper':>13}")
    for name, time in means.items():
        print(f"{name:28} {time / 1000:12.2f} {time / means['paper']:13.2f}")
    print(f"\nThe working width is {WIDTH}; means over frames of medians over repeats.")
