"""Rendering by several processes, in order, with a bounded number of frames under way."""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

from capsieve.phantom.exam import PhantomFrame, render_frame
from capsieve.phantom.plan import ExamPlan
from capsieve.processes import prepare_worker

__all__ = ["Crew"]

_AHEAD = 4  # frames under way for each worker: memory does not grow with the exam


class Crew:
    """Processes that render; use it in a ``with`` statement.

    Parameters
    ----------
    workers
        How many processes; 1 renders in this one, None takes one per core.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = max(1, workers or len(os.sched_getaffinity(0)))
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Crew":
        if self.workers > 1:
            self._pool = ProcessPoolExecutor(
                self.workers,
                mp_context=get_context("spawn"),
                initializer=prepare_worker,
                initargs=(os.getpid(),),
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def frames(self, plan: ExamPlan, *, depth: bool = False) -> Iterator[PhantomFrame]:
        """Yield every frame of an exam in order; with two heads both of each moment."""
        wanted = ((number, head) for number in range(plan.frames) for head in range(plan.heads))
        if self._pool is None:
            for number, head in wanted:
                yield render_frame(plan, number, head, depth=depth)
            return
        under_way: deque[Future[PhantomFrame]] = deque()
        for number, head in wanted:
            under_way.append(self._pool.submit(render_frame, plan, number, head, depth=depth))
            if len(under_way) >= _AHEAD * self.workers:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
