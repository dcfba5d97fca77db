"""The synthetic colon: how fast it renders, and whether the sieve sees it as it sees real frames.

``python -m benchmarks.phantom [seed]`` measures on the demo study of that seed. Real values are the
10, 50 and 90 % quantiles of normal frames of Kvasir-Capsule, measured on whole frames.
"""

import multiprocessing
import sys
import time
from collections.abc import Iterator
from itertools import starmap

import cv2
import numpy as np
from numpy.typing import NDArray

import capsieve
from capsieve.phantom import ExamPlan, plan_study, render_frame

QUANTILES = (0.1, 0.5, 0.9)
REAL = {"T_max": (3.0, 5.1, 13.7), "max u": (0.09, 0.16, 0.34)}
WITHIN = 0.30
SPECIFICITY = 0.9


def main(seed: int = 0) -> None:
    plans = [exam.plan for exam in plan_study("demo", seed=seed).exams]
    print(f"the demo study, seed {seed}: {len(plans)} exams, 512 x 512\n")
    workers = multiprocessing.cpu_count()
    jobs = [(plan, number) for plan in plans for number in range(plan.frames)]
    with multiprocessing.get_context("spawn").Pool(workers, initializer=warm_up) as pool:
        # One exam after the other, as in real work.
        chosen = jobs[: plans[0].frames + plans[1].frames]
        pool.map(render_only, chosen[::4], chunksize=2)
        start = time.perf_counter()
        pool.map(render_only, chosen, chunksize=4)
        rate = len(chosen) / (time.perf_counter() - start)
        print(f"{workers} processes: {rate:.1f} frames per second")
        rows = np.array(pool.starmap(measured, jobs, chunksize=8))
    alone = [time_of(*job) for job in jobs[:: max(len(jobs) // 24, 1)]]
    print(f"one process: {1000 * np.median(alone):.0f} ms a frame (median)\n")
    report(rows)


def warm_up() -> None:
    cv2.setNumThreads(1)


def render_only(job: tuple[ExamPlan, int]) -> None:
    render_frame(*job)


def time_of(plan: ExamPlan, number: int) -> float:
    render_frame(plan, number)  # the tables of its exam
    start = time.perf_counter()
    render_frame(plan, number)
    return time.perf_counter() - start


def measured(plan: ExamPlan, number: int) -> tuple[float, ...]:
    """Return polyp or not, T_max, max u, the score, and whether anything spoils the frame."""
    frame = render_frame(plan, number)
    found = capsieve.explain(frame.pixels)
    spoiled = len(frame.truth.spoiled) > 0
    score = capsieve.analyze(frame.pixels).score
    polyp = frame.truth.label == "polyp"
    return polyp, found.texture_max, found.midpass_max or 0.0, score, spoiled


def report(rows: NDArray[np.float64]) -> None:
    polyp, spoiled = rows[:, 0] > 0, rows[:, 4] > 0
    print(f"{np.count_nonzero(polyp)} polyp frames, {np.count_nonzero(~polyp)} normal frames, ")
    print(f"{np.mean(spoiled):.0%} of all spoiled\n")
    print(f"{'normal frames':<16}{'10 %':>14}{'50 %':>14}{'90 %':>14}")
    for column, (name, real) in enumerate(REAL.items(), start=1):
        ours = np.quantile(rows[~polyp, column], QUANTILES)
        print(f"{name + ', real':<16}" + "".join(f"{value:14.2f}" for value in real))
        cells = starmap(cell, zip(ours, real, strict=True))
        print(f"{name + ', ours':<16}" + "".join(cells))
    print()
    for specificity, threshold, sensitivity in operating_points(rows[polyp, 3], rows[~polyp, 3]):
        print(
            f"score >= {threshold:.1f}: specificity {specificity:.1%}, "
            f"sensitivity per frame {sensitivity:.1%}"
        )


def cell(ours: float, real: float) -> str:
    off = ours / real - 1
    return f"{ours:7.2f} {off:+4.0%}{' ' if abs(off) <= WITHIN else '!'} "


def operating_points(
    polyp: NDArray[np.float64], normal: NDArray[np.float64]
) -> Iterator[tuple[float, float, float]]:
    """Yield the two thresholds on either side of the wanted specificity: scores are whole."""
    thresholds = np.unique(np.concatenate([[0.5], normal + 1]))
    specificities = np.array([np.mean(normal < threshold) for threshold in thresholds])
    first = int(np.argmax(specificities >= SPECIFICITY))
    for k in (first - 1, first):
        if k >= 0:
            yield specificities[k], thresholds[k], float(np.mean(polyp >= thresholds[k]))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
