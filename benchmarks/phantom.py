"""How fast the synthetic colon renders; ``benchmarks.realism`` measures how real its frames are."""

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import cv2

from capsieve.phantom import ExamPlan, plan_study, render_frame


def main() -> None:
    plans = [exam.plan for exam in plan_study("demo").exams[:2]]
    jobs = [(plan, number) for plan in plans for number in range(plan.frames)]
    with ProcessPoolExecutor(None, get_context("spawn"), cv2.setNumThreads, (1,)) as pool:
        list(pool.map(render_time, jobs[::4], chunksize=2))  # compile, and fill the caches
        rate = len(jobs) / sum(pool.map(render_time, jobs, chunksize=4))
    print(f"{rate:.1f} frames of 512 x 512 per second of CPU time")


def render_time(job: tuple[ExamPlan, int]) -> float:
    """Render a frame and return the CPU time in seconds."""
    started = time.thread_time()
    render_frame(*job)
    return time.thread_time() - started


if __name__ == "__main__":
    main()
