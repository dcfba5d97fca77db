"""The frames of galleries: their pixels, and the steps of Algorithm 1, from the screened exams."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.detectors import rule_parameter
from capsieve.errors import CapsieveError
from capsieve.evaluation.results import LabelledResults
from capsieve.paper.algorithm import explain
from capsieve.report.galleries import FrameImages
from capsieve.results import Explanation
from capsieve.store.exam import Exam

__all__ = ["gallery_images"]


def gallery_images(
    read: LabelledResults, flagged: NDArray[np.bool_], stack: ExitStack
) -> FrameImages:
    """Return functions that read and explain the labelled frames of screened exams.

    Parameters
    ----------
    read
        Results of ``capsieve screen``.
    flagged
        The frames that the evaluation flags.
    stack
        It closes the sources of the exams.
    """
    exams = [Exam(folder) for folder in read.folders]
    frames, readers = read.frames, {}

    def pixels(row: int) -> NDArray[Any] | None:
        code, head = int(frames.exam.code[row]), int(frames.head[row])
        try:
            if (code, head) not in readers:
                readers[code, head] = None  # if the source is missing, it is not tried again
                readers[code, head] = stack.enter_context(exams[code].reader(head))
            reader = readers[code, head]
            return None if reader is None else reader.pixels(int(frames.frame[row]))
        except CapsieveError:
            return None

    def explained(row: int) -> Explanation | None:
        frame, exam = pixels(row), exams[frames.exam.code[row]]
        if frame is None:
            return None
        place = exam.field_of_view(int(frames.head[row]), *frame.shape[:2])
        try:
            found = explain(frame, exam.parameters, place)
        except CapsieveError:
            return None
        return replace(found, label="polyp" if flagged[row] else "normal")

    if not rule_parameter(read.detector):
        return FrameImages(pixels=pixels)
    components, fold = _count_components(read, exams)
    return FrameImages(pixels=pixels, explain=explained, components=components, fold=fold)


def _count_components(
    read: LabelledResults, exams: list[Exam]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of components of each frame, and the size of its largest stretched one."""
    frames = read.frames
    number, largest = np.zeros((2, len(frames)), np.int64)
    for code, exam in enumerate(exams):
        own = np.flatnonzero(frames.exam.code == code)
        keys = zip(frames.head[own].tolist(), frames.frame[own].tolist(), strict=True)
        places = dict(zip(keys, own.tolist(), strict=True))
        table = exam.columns("head", "frame", "size", "rejected", table="features")
        columns = (column.to_pylist() for column in table.columns)
        for head, frame, size, rejected in zip(*columns, strict=True):
            row = places[head, frame]
            number[row] += 1
            if rejected == "eccentricity":
                largest[row] = max(largest[row], size)
    return number, largest
