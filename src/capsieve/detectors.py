"""Detectors: whatever scores a frame, behind one interface."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from capsieve.aperture.field import FieldOfView
from capsieve.errors import ParameterError
from capsieve.frames import FrameLike
from capsieve.parameters import Parameters
from capsieve.reference_range import ReferenceRange, paper_range
from capsieve.results import FrameResult

__all__ = ["Detector", "PaperDetector", "load_detector"]


class Detector(Protocol):
    """Scores frames. It can be pickled, and then scores the same elsewhere."""

    @property
    def name(self) -> str:
        """How it is called on the command line."""
        ...

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides about its scores, as plain numbers and texts."""
        ...

    @property
    def parameters(self) -> Parameters:
        """The parameters of the paper's steps in it."""
        ...

    @property
    def reference(self) -> ReferenceRange:
        """The range of inputs that it was calibrated on."""
        ...

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the outcome for one frame."""
        ...


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
        return {"name": self.name, "parameters": self.parameters.to_dict()}

    @property
    def reference(self) -> ReferenceRange:
        """The demo study of the phantom, until somebody calibrates it."""
        return paper_range()

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the outcome for one frame."""
        from capsieve.paper.detector import analyze

        return analyze(frame, self.parameters, field_of_view)


def load_detector(name: str | Path = "paper", *, parameters: Parameters | None = None) -> Detector:
    """Return a detector.

    Parameters
    ----------
    name
        ``"paper"``, the published algorithm.
    parameters
        Its parameters; the paper's table by default.

    Raises
    ------
    ParameterError
        There is no such detector.

    Examples
    --------
    >>> import capsieve
    >>> capsieve.load_detector("paper").score(capsieve.phantom.polyp_frame()).label
    'polyp'
    """
    if str(name) != "paper":
        raise ParameterError(
            "detector", f"there is no detector {str(name)!r}; this version knows: paper"
        )
    return PaperDetector(Parameters() if parameters is None else parameters)
