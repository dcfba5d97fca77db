"""The frames of galleries: their pixels, and the steps of Algorithm 1, from the screened exams."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.detectors import rule_parameter
from capsieve.errors import CapsieveError
from capsieve.evaluation.results import LabelledResults
from capsieve.frame_table import Integers, LabelledFrames, Mask
from capsieve.paper.algorithm import explain
from capsieve.report.galleries import FrameImages
from capsieve.results import Explanation
from capsieve.sources.reader import FrameReader
from capsieve.store.exam import Exam


@contextmanager
def gallery_images(read: LabelledResults, flagged: Mask) -> Iterator[FrameImages]:
    """Yield functions that read and explain the labelled frames of screened exams.

    One source is open at a time, because each may keep many decoded pictures. Frames that are asked
    for in the order of their rows open every source once.

    Parameters
    ----------
    read
        Results of ``capsieve screen``.
    flagged
        The frames that the evaluation flags.
    """
    frames, exams = read.frames, [Exam(folder) for folder in read.scored.folders]
    sources = _Sources(exams, frames)

    def explained(row: int) -> Explanation | None:
        pixels, exam = sources.pixels(row), exams[frames.exam.code[row]]
        if pixels is None:
            return None
        field_of_view = exam.field_of_view(int(frames.head[row]), *pixels.shape[:2])
        try:
            explanation = explain(pixels, exam.parameters, field_of_view)
        except CapsieveError:
            return None
        return replace(explanation, label="polyp" if flagged[row] else "normal")

    try:
        if not rule_parameter(read.scored.detector):
            yield FrameImages(pixels=sources.pixels)
            return
        components, fold = _count_components(read, exams)
        yield FrameImages(
            pixels=sources.pixels, explain=explained, components=components, fold=fold
        )
    finally:
        sources.close()


class _Sources:
    """The sources of exams, of which the one that was used last is open."""

    def __init__(self, exams: Sequence[Exam], frames: LabelledFrames) -> None:
        self._exams = exams
        self._frames = frames
        self._opened: tuple[int, int] | None = None  # code of the exam, and head
        self._reader: FrameReader | None = None  # None if the source is missing

    def pixels(self, row: int) -> NDArray[Any] | None:
        """Return the pixels of a frame; None if it cannot be read."""
        source = int(self._frames.exam.code[row]), int(self._frames.head[row])
        try:
            if source != self._opened:
                self.close()
                self._opened = source
                self._reader = self._exams[source[0]].reader(source[1])
            return self._reader and self._reader.pixels(int(self._frames.frame[row]))
        except CapsieveError:
            return None

    def close(self) -> None:
        """Close the open source."""
        if self._reader is not None:
            self._reader.close()
        self._reader = self._opened = None


def _count_components(read: LabelledResults, exams: list[Exam]) -> tuple[Integers, Integers]:
    """Return the number of components of each frame, and the size of its largest stretched one."""
    frames = read.frames
    number, largest = np.zeros((2, len(frames)), np.int64)
    for code, exam in enumerate(exams):
        own = np.flatnonzero(frames.exam.code == code)
        keys = zip(frames.head[own].tolist(), frames.frame[own].tolist(), strict=True)
        row_of = dict(zip(keys, own.tolist(), strict=True))
        table = exam.columns("head", "frame", "size", "rejected", table="features")
        columns = (column.to_pylist() for column in table.columns)
        for head, frame, size, rejected in zip(*columns, strict=True):
            row = row_of[head, frame]
            number[row] += 1
            if rejected == "eccentricity":
                largest[row] = max(largest[row], size)
    return number, largest
