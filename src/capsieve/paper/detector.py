"""The paper's algorithm as a detector."""

from dataclasses import dataclass, field
from typing import Any

from capsieve.detector import ReferenceRange, demo_range
from capsieve.frames import FieldOfView, FrameLike
from capsieve.paper.algorithm import analyze
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

SCORING_VERSION = 1
"""Raised with any change of the algorithm that changes scores."""


@dataclass(frozen=True, slots=True)
class PaperDetector:
    """The paper's Algorithm 1. See :func:`capsieve.analyze`."""

    parameters: Parameters = field(default_factory=Parameters)

    name = "paper"
    value_names = ()

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines its scores."""
        parameters = self.parameters.to_dict()
        del parameters["radius_threshold"]  # decides about flags only
        return {
            "name": self.name,
            "scoring": SCORING_VERSION,
            "rule": "radius_threshold",
            "preset": self.parameters.preset,
            "parameters": parameters,
        }

    @property
    def reference(self) -> ReferenceRange:
        """The demo study, measured with the same stencil."""
        return demo_range(self.parameters.stencil)

    @property
    def score_threshold(self) -> float:
        """R_P."""
        return float(self.parameters.radius_threshold)

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the result for one frame."""
        return analyze(frame, self.parameters, field_of_view)
