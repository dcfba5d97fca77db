"""Evidence on demand: one frame at a time, the last ones kept, the detector loaded once."""

import threading
from collections import OrderedDict
from typing import Any

from capsieve.detectors import Detector, load_detector
from capsieve.review.catalogue import ExamFacts
from capsieve.review.evidence_maps import overlay_png
from capsieve.review.evidence_view import EvidenceView, evidence_view
from capsieve.store.recall import recall
from capsieve.store.record import read_record

__all__ = ["EvidenceDesk"]

_KEPT = 12  # frames; the maps of a large one are some megabytes


class EvidenceDesk:
    """Finds the evidence for frames. It may be asked from several threads.

    Work goes one by one: detectors use all that a core has, and a reader who leafs through frames
    wants the last one, not ten at once.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], EvidenceView] = OrderedDict()
        self._detectors: dict[tuple[str, str], Detector] = {}
        self._work = threading.Lock()

    def evidence(self, facts: ExamFacts, head: int, frame: int) -> EvidenceView:
        """Return the evidence for a frame.

        Raises
        ------
        CapsieveError
            The frame, its source, the model or an optional package is not there.
        """
        key = (facts.exam, facts.stamp, head, frame)
        with self._work:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            recalled = recall(facts.folder, frame, head=head)
            view = evidence_view(recalled, self._detector(facts, recalled.parameters))
            self._kept[key] = view
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return view

    def overlay(self, facts: ExamFacts, head: int, frame: int, name: str) -> bytes | None:
        """Return a map as a picture; None where there is no map of that name."""
        found = self.evidence(facts, head, frame).maps.get(name)
        return None if found is None else overlay_png(found)

    def _detector(self, facts: ExamFacts, parameters: Any) -> Detector:
        key = (facts.exam, facts.stamp)
        if key not in self._detectors:
            name = str(read_record(facts.folder)["detector"].get("name", "paper"))
            self._detectors.clear()  # a model is large, and readers read one exam at a time
            self._detectors[key] = load_detector(name, parameters=parameters)
        return self._detectors[key]
