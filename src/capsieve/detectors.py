"""Detectors: whatever scores a frame, behind one interface."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capsieve.detector import Detector, ReferenceRange, demo_range, score_each
from capsieve.errors import FrameError, ParameterError
from capsieve.frames import FieldOfView, FrameLike
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

__all__ = ["PaperDetector", "load_detector"]

_NAMED = ("paper", "curvature", "learned")


@dataclass(frozen=True, slots=True)
class PaperDetector:
    """The paper's Algorithm 1. See :func:`capsieve.analyze`."""

    parameters: Parameters = field(default_factory=Parameters)

    @property
    def name(self) -> str:
        """How it is called on the command line."""
        return "paper"

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides about its scores."""
        parameters = self.parameters.to_dict()
        # It is not read here: results do not become others for it.
        del parameters["score_threshold"]
        return {"name": self.name, "parameters": parameters}

    @property
    def reference(self) -> ReferenceRange:
        """The demo study of the phantom, until somebody calibrates it."""
        return demo_range()

    @property
    def score_threshold(self) -> float:
        """R_P."""
        return float(self.parameters.radius_threshold)

    @property
    def value_names(self) -> tuple[str, ...]:
        """None: its features say more."""
        return ()

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the outcome for one frame."""
        from capsieve.paper.detector import analyze

        return analyze(frame, self.parameters, field_of_view)

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame what :meth:`score` returns, or the error that it raises."""
        return score_each(self, frames, fields_of_view)


def load_detector(name: str | Path = "paper", *, parameters: Parameters | None = None) -> Detector:
    """Return a detector.

    Parameters
    ----------
    name
        ``"paper"``, the published algorithm; ``"curvature"``, the way that the paper argues
        against; ``"learned"``, the model that capsieve ships with; or the path of a model file.
    parameters
        Of the paper's steps in it, and its threshold; the paper's table by default.

    Raises
    ------
    ParameterError
        There is no such detector.
    FileError
        The file cannot be read, or holds no model.

    Examples
    --------
    >>> import capsieve
    >>> capsieve.load_detector("paper").score(capsieve.phantom.polyp_frame()).label
    'polyp'
    """
    parameters = Parameters() if parameters is None else parameters
    if str(name) == "paper":
        return PaperDetector(parameters)
    if str(name) == "curvature":
        from capsieve.curvature.detector import CurvatureDetector

        return CurvatureDetector(parameters)
    if str(name) == "learned":
        from capsieve.learned.detector import shipped_detector

        return shipped_detector(parameters)
    path = Path(name)
    if path.suffix.lower() == ".onnx" or path.is_file():
        from capsieve.learned.detector import model_detector

        return model_detector(path, parameters)
    raise ParameterError(
        "detector",
        f"there is no detector {str(name)!r}; this version knows: {', '.join(_NAMED)}, "
        "or the path of a model file",
    )
