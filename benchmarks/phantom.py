"""The synthetic colon: how fast it renders, and how its frames compare with real ones.

``python -m benchmarks.phantom [SEED]`` measures on the demo study of a seed. Real values are the
10, 50 and 90 % quantiles of normal frames of Kvasir-Capsule, measured on whole frames.
"""

import multiprocessing
import sys
import time

import cv2
import numpy as np

import capsieve
from capsieve.phantom import ExamPlan, plan_study, render_frame

REAL = {"T_max": (3.0, 5.1, 13.7), "max u": (0.09, 0.16, 0.34)}
SPECIFICITY = 0.9


def main(seed: int = 0) -> None:
    plans = [exam.plan for exam in plan_study("demo", seed=seed).exams]
    jobs = [(plan, number) for plan in plans for number in range(plan.frames)]
    workers = multiprocessing.cpu_count()
    with multiprocessing.get_context("spawn").Pool(workers, cv2.setNumThreads, (1,)) as pool:
        timed = jobs[: plans[0].frames + plans[1].frames]
        pool.map(render_time, timed[::4], chunksize=2)  # compile, and fill the caches
        rate = len(timed) / sum(pool.map(render_time, timed, chunksize=4))
        rows = np.array(pool.starmap(measure, jobs, chunksize=8))
    print(f"{rate:.1f} frames of 512 x 512 per second of CPU time\n")
    polyp, spoiled, score = rows[:, 0] > 0, rows[:, 1], rows[:, 2]
    print(f"{polyp.sum()} of {len(rows)} frames show a polyp, {spoiled.mean():.0%} are spoiled")
    print(f"{'normal frames':<20}{'10 %':>8}{'50 %':>8}{'90 %':>8}")
    for column, (name, real) in enumerate(REAL.items(), start=3):
        ours = np.quantile(rows[~polyp, column], (0.1, 0.5, 0.9))
        for kind, values in (("real", real), ("phantom", ours)):
            print(f"{name + ', ' + kind:<20}" + "".join(f"{value:8.2f}" for value in values))
    threshold = np.ceil(np.quantile(score[~polyp], SPECIFICITY, method="higher"))
    print(
        f"score >= {threshold:.0f}: specificity {np.mean(score[~polyp] < threshold):.1%}, "
        f"sensitivity per frame {np.mean(score[polyp] >= threshold):.1%}"
    )


def render_time(job: tuple[ExamPlan, int]) -> float:
    """Render a frame and return the CPU time in seconds."""
    started = time.thread_time()
    render_frame(*job)
    return time.thread_time() - started


def measure(plan: ExamPlan, number: int) -> tuple[float, ...]:
    """Return polyp or not, spoiled or not, score, T_max, max u."""
    frame = render_frame(plan, number)
    found = capsieve.explain(frame.pixels)
    polyp, spoiled = frame.truth.label == "polyp", bool(frame.truth.spoiled)
    return polyp, spoiled, found.score, found.texture_max, found.midpass_max or 0.0


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
