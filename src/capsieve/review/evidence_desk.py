"""Evidence on request: computed for one frame at a time and cached; the detector is loaded once."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from capsieve.detector import Detector
from capsieve.report.evidence import FrameEvidence, frame_evidence
from capsieve.report.words import frame_flag
from capsieve.review.catalogue import ExamFacts
from capsieve.review.frame_service import FrameService
from capsieve.review.refusals import NotWantedError
from capsieve.review.warming import Warming
from capsieve.screening.exam_detector import exam_detector
from capsieve.store.exam import Exam

__all__ = ["EvidenceDesk"]

_KEPT = 12  # frames; the maps of a large frame take some megabytes


class EvidenceDesk:
    """Computes the evidence for frames. Threads may share it.

    Frames are processed one after the other, because a detector keeps a core busy and a reader who
    moves through frames needs only the last one. Requests that were cancelled are skipped.

    Parameters
    ----------
    frames
        Reads the scored pixels.
    warming
        Compiles detectors; requests wait for it instead of compiling the same code twice.
    """

    def __init__(self, frames: FrameService, warming: Warming) -> None:
        self._frames = frames
        self._warming = warming
        self._kept: OrderedDict[tuple[Any, ...], FrameEvidence] = OrderedDict()
        self._detectors: dict[tuple[str, str], Detector] = {}
        self._work = threading.Lock()

    def evidence(
        self,
        facts: ExamFacts,
        head: int,
        frame: int,
        *,
        wanted: Callable[[], bool] = lambda: True,
    ) -> FrameEvidence:
        """Return the evidence for a frame.

        Parameters
        ----------
        facts, head, frame
            Which frame of which exam.
        wanted
            Called before the work starts: whether the request is still open.

        Raises
        ------
        CapsieveError
            The frame, its source, the detector that screened it or an optional package is
            missing.
        NotWantedError
            The request was cancelled.
        """
        key = (facts.exam, facts.stamp, head, frame)
        with self._work:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            if not (self._warming.wait(wanted) and wanted()):
                raise NotWantedError
            view = self._view(facts, head, frame)
            self._kept[key] = view
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return view

    def overlay(
        self,
        facts: ExamFacts,
        head: int,
        frame: int,
        name: str,
        *,
        wanted: Callable[[], bool] = lambda: True,
    ) -> bytes | None:
        """Return a map as a PNG file; None if there is no map of that name."""
        return self.evidence(facts, head, frame, wanted=wanted).overlay(name)

    def _view(self, facts: ExamFacts, head: int, frame: int) -> FrameEvidence:
        exam = Exam(facts.folder)
        detector = self._detector(facts, exam)
        pixels = self._frames.pixels(facts, head, frame)
        field_of_view = exam.field_of_view(head, *pixels.shape[:2])
        flag = frame_flag(exam, exam.row(frame, head))
        return frame_evidence(pixels, field_of_view, detector, flag=flag)

    def _detector(self, facts: ExamFacts, exam: Exam) -> Detector:
        key = (facts.exam, facts.stamp)
        if key not in self._detectors:
            found = exam_detector(exam)
            self._detectors.clear()  # a model is large, and readers read one exam at a time
            self._detectors[key] = found
        return self._detectors[key]
