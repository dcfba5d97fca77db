"""Measure CPU time.

The time of the calling thread is measured, not that of the clock: other work on the machine has
little influence. The contestants take turns, because the frequency of the processor changes.
"""

from collections.abc import Callable, Mapping
from statistics import median
from time import thread_time_ns

__all__ = ["medians"]


def medians(contestants: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Return the median CPU time of each contestant in microseconds."""
    for run in contestants.values():  # compile, and fill the caches
        run()
    times: dict[str, list[int]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            started = thread_time_ns()
            run()
            times[name].append(thread_time_ns() - started)
    return {name: median(values) / 1000 for name, values in times.items()}
