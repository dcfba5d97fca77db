"""An exam of 50,000 frames, made by looping a short clip: figures, and memory that stays flat."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from capsieve.review.frames import ExamFrames, timeline_bytes
from support.looped_video import CLIP, FRAMES, SIZE, looped


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


@pytest.mark.soak
@pytest.mark.parametrize(("apart", "frames"), [(60, FRAMES), (120, 2_400)])
def test_a_long_exam_is_read_in_any_order(
    apart: int, frames: int, tmp_path: Path, make_looped_exam
) -> None:
    path = looped(tmp_path, apart=apart, frames=frames)
    folder = tmp_path / "exam"
    count = make_looped_exam(folder, path, tmp_path / "clip.mp4")
    assert count == frames // CLIP * CLIP
    figures = {"index and proxy": timed(ExamFrames(folder).prepare)}
    opened = ExamFrames(folder)

    def again() -> None:
        nonlocal opened
        opened = ExamFrames(folder)
        opened.prepare()
        opened.frame(0, 0)

    figures["open, and show the first frame"] = timed(again)
    figures["timeline"] = timed(lambda: timeline_bytes(folder, head=0))
    places = np.random.default_rng(0).integers(0, count, 100).tolist()
    jumps = [timed(lambda n=n: opened.encoded(0, n)) for n in places]
    figures["jump, median"], figures["jump, 95 %"] = np.quantile(jumps, (0.5, 0.95)).tolist()
    middle = count // 2
    for name, step in (("forward", 1), ("backward", -1)):
        run = opened.numbers(0, middle + 600 * step, 300, step)
        figures[f"{name}, frames per second"] = 300_000 / timed(lambda r=run: opened.pack(0, r))
    for name, value in figures.items():
        print(f"{apart} apart, {count} frames: {name}: {value:.1f}")
    caches = opened._caches
    for number in range(min(count, 10_000)):
        opened.frame(0, number)
        assert caches.groups.bytes <= caches.groups.limit
        assert len(caches.groups) <= 1 + caches.groups.limit // (apart * SIZE * SIZE)
