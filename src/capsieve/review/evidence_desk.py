"""Evidence on demand: one frame at a time, the last ones kept, the detector loaded once."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from capsieve.detector import Detector
from capsieve.review.catalogue import ExamFacts
from capsieve.review.evidence_detector import screening_detector
from capsieve.review.evidence_maps import overlay_png
from capsieve.review.evidence_view import EvidenceView, evidence_view
from capsieve.review.frame_desk import FrameDesk
from capsieve.review.refusals import NotWantedError
from capsieve.review.warming import Warming
from capsieve.store.recall import Recalled, as_scored, frame_row
from capsieve.store.record import Record, read_record

__all__ = ["EvidenceDesk"]

_KEPT = 12  # frames; the maps of a large one are some megabytes


class EvidenceDesk:
    """Finds the evidence for frames. It may be asked from several threads.

    Work goes one by one: detectors use all that a core has, and a reader who leafs through frames
    wants the last one, not ten at once. Those before it are not begun.

    Parameters
    ----------
    frames
        Gives the pixels: those that were scored, or none.
    warming
        Makes detectors ready; who asks meanwhile waits for it rather than compile the same twice.
    """

    def __init__(self, frames: FrameDesk, warming: Warming) -> None:
        self._frames = frames
        self._warming = warming
        self._kept: OrderedDict[tuple[Any, ...], EvidenceView] = OrderedDict()
        self._detectors: dict[tuple[str, str], Detector] = {}
        self._work = threading.Lock()

    def evidence(
        self,
        facts: ExamFacts,
        head: int,
        frame: int,
        *,
        wanted: Callable[[], bool] = lambda: True,
    ) -> EvidenceView:
        """Return the evidence for a frame.

        Parameters
        ----------
        facts, head, frame
            Which frame of which exam.
        wanted
            Asked when it is this frame's turn: whether somebody still waits for it.

        Raises
        ------
        CapsieveError
            The frame, its source, the detector that screened it or an optional package is not
            there.
        NotWantedError
            Nobody waits any more.
        """
        key = (facts.exam, facts.stamp, head, frame)
        with self._work:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            if not (self._warming.wait(wanted) and wanted()):
                raise NotWantedError
            record = read_record(facts.folder)
            detector = self._detector(facts, record)
            view = evidence_view(self._recalled(facts, record, head, frame), detector)
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
        """Return a map as a picture; None where there is no map of that name."""
        found = self.evidence(facts, head, frame, wanted=wanted).maps.get(name)
        return None if found is None else overlay_png(found)

    def _recalled(self, facts: ExamFacts, record: Record, head: int, frame: int) -> Recalled:
        pixels = self._frames.frames(facts).frame(head, frame)
        row = frame_row(facts.folder, record, frame, head)
        return as_scored(record, row, pixels, source=facts.exam)

    def _detector(self, facts: ExamFacts, record: Record) -> Detector:
        key = (facts.exam, facts.stamp)
        if key not in self._detectors:
            found = screening_detector(facts.folder, record)
            self._detectors.clear()  # a model is large, and readers read one exam at a time
            self._detectors[key] = found
        return self._detectors[key]
