"""What a training screens exams with: the paper's result, and beside it every feature."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from capsieve.curvature.domes import Constants
from capsieve.detector import ReferenceRange, demo_range, score_each
from capsieve.errors import FrameError
from capsieve.frames import FieldOfView, FrameLike
from capsieve.learned.features import NAMES, VERSION, frame_features
from capsieve.paper.detector import PaperDetector
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

__all__ = ["FeaturesDetector"]


@dataclass(frozen=True, slots=True)
class FeaturesDetector:
    """The paper's detector as printed, with the features of each frame as its values."""

    @property
    def name(self) -> str:
        """How it is called."""
        return "features"

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides about its values."""
        constants = asdict(Constants())
        return {
            "name": self.name,
            "features": VERSION,
            # Their order too: values are known by their place.
            "feature names": sha256("\n".join(NAMES).encode()).hexdigest(),
            # Of the domes among the features; a list, as JSON gives it back.
            "constants": constants | {"scales": list(constants["scales"])},
            "parameters": PaperDetector(self.parameters).identity["parameters"],
        }

    @property
    def parameters(self) -> Parameters:
        """The paper's table: features are measured with nothing else."""
        return Parameters()

    @property
    def reference(self) -> ReferenceRange:
        """That of the paper's detector."""
        return demo_range()

    @property
    def score_threshold(self) -> float:
        """R_P."""
        return float(self.parameters.radius_threshold)

    @property
    def value_names(self) -> tuple[str, ...]:
        """The names of the features."""
        return NAMES

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the paper's outcome for one frame, with its features."""
        measured = frame_features(frame, field_of_view)
        return replace(measured.result, values=tuple(measured.values.tolist()))

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame what :meth:`score` returns, or the error that it raises."""
        return score_each(self, frames, fields_of_view)
