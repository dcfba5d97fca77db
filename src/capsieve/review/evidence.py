"""Why a frame was flagged or not: evidence on request, computed for one frame at a time."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from cachetools import LRUCache

from capsieve.compiling import is_compiled, mark_compiled
from capsieve.detector import Detector
from capsieve.report.evidence import FrameEvidence, frame_evidence
from capsieve.report.words import frame_flag
from capsieve.review.catalogue import ExamFacts
from capsieve.review.errors import CancelledRequestError
from capsieve.review.frame_service import FrameService
from capsieve.screening.exam_detector import exam_detector
from capsieve.store.exam import Exam

_KEPT = 12  # frames; the maps of a large frame take some megabytes
_STEP = 0.2  # seconds between two looks at a process


class EvidenceService:
    """Computes evidence in a thread of its own, one frame after the other.

    A detector keeps a core busy, and a reader who moves through frames needs only the last one:
    requests that were cancelled are skipped.
    """

    def __init__(self, frames: FrameService) -> None:
        self._threads = ThreadPoolExecutor(1, "evidence")
        self._frames = frames
        self._kept: LRUCache[tuple[Any, ...], FrameEvidence] = LRUCache(_KEPT)
        self._detector: tuple[tuple[str, str], Detector] | None = None  # a model is large
        self._compiling: subprocess.Popen[bytes] | None = None
        self._closed = False

    async def evidence(
        self, facts: ExamFacts, head: int, frame: int, wanted: Callable[[], bool]
    ) -> FrameEvidence:
        """Return the evidence for a frame.

        Parameters
        ----------
        wanted
            Whether somebody still waits for it.

        Raises
        ------
        CapsieveError
            The frame, its source, the detector that screened it or an optional package is missing.
        CancelledRequestError
            Nobody waits for it.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._evidence, facts, head, frame, wanted)

    def _evidence(
        self, facts: ExamFacts, head: int, frame: int, wanted: Callable[[], bool]
    ) -> FrameEvidence:
        key = (facts.exam, facts.stamp, head, frame)
        if key not in self._kept:
            if not wanted():
                raise CancelledRequestError
            exam = Exam(facts.folder)
            self._compile(exam, head, frame, wanted)
            if self._detector is None or self._detector[0] != key[:2]:
                self._detector = key[:2], exam_detector(exam)
            pixels = self._frames.pixels(facts, head, frame)
            self._kept[key] = _evidence(exam, head, frame, self._detector[1], pixels)
        return self._kept[key]

    def close(self) -> None:
        """End the work without waiting for it."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._compiling is not None:
            self._compiling.kill()

    def _compile(self, exam: Exam, head: int, frame: int, wanted: Callable[[], bool]) -> None:
        """Compile the detector's loops in a process of its own, unless they are in the cache.

        After an installation that takes a minute. In this process it would delay the frames.
        """
        if is_compiled(_work(exam)):
            return
        if self._compiling is None:
            command = [sys.executable, "-P", "-m", "capsieve.review.evidence"]
            command += [str(exam.folder), str(head), str(frame)]
            nothing = subprocess.DEVNULL
            with suppress(OSError):
                self._compiling = subprocess.Popen(
                    command, stdin=nothing, stdout=nothing, stderr=nothing
                )
        while self._compiling is not None and self._compiling.poll() is None:
            if self._closed or not wanted():  # the process continues for the next request
                raise CancelledRequestError
            time.sleep(_STEP)
        self._compiling = None


def _evidence(exam: Exam, head: int, frame: int, detector: Detector, pixels: Any) -> FrameEvidence:
    field_of_view = exam.field_of_view(head, *pixels.shape[:2])
    flag = frame_flag(exam, exam.row(frame, head))
    return frame_evidence(pixels, field_of_view, detector, flag=flag)


def _work(exam: Exam) -> str:
    """Return the name of what is compiled."""
    name = exam.record["detector"].get("name")
    return f"evidence-{name if name in ('paper', 'curvature') else 'model'}"


def _compile_all(folder: str, head: str, frame: str) -> None:
    """Compute the evidence of a frame and of the best frame of its exam, which needs all loops."""
    exam = Exam(folder)
    detector, reader = exam_detector(exam), exam.reader(int(head))
    best = exam.columns("head", "best_frame", table="events").to_pylist()
    frames = {int(frame), *[row["best_frame"] for row in best if row["head"] == int(head)][:1]}
    for number in frames:
        _evidence(exam, int(head), number, detector, reader.pixels(number))
    mark_compiled(_work(exam))


if __name__ == "__main__":
    _compile_all(*sys.argv[1:])
