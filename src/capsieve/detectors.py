"""Detectors: whatever scores a frame, behind one interface."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from capsieve.aperture.field import FieldOfView
from capsieve.errors import FrameError, ParameterError
from capsieve.frames import FrameLike
from capsieve.parameters import Parameters
from capsieve.reference_range import ReferenceRange, paper_range
from capsieve.results import FrameResult

__all__ = ["Detector", "PaperDetector", "load_detector", "score_each"]

_NAMED = ("paper", "curvature", "learned")


class Detector(Protocol):
    """Scores frames. It can be pickled, and then scores the same elsewhere.

    A detector may also have ``evidence(frame, field_of_view)``, which returns the
    :class:`~capsieve.results.Evidence` for one frame.
    """

    @property
    def name(self) -> str:
        """How it is called on the command line."""
        ...

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides about its scores and flags, as plain numbers and texts.

        Detectors other than the paper's state their threshold as "threshold".
        """
        ...

    @property
    def parameters(self) -> Parameters:
        """The parameters of the paper's steps in it."""
        ...

    @property
    def reference(self) -> ReferenceRange:
        """The range of inputs that it was calibrated on."""
        ...

    @property
    def threshold(self) -> float:
        """The least score at which it flags a frame."""
        ...

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the numbers in :attr:`capsieve.results.FrameResult.values`."""
        ...

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the outcome for one frame."""
        ...

    def score_many(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame what :meth:`score` returns, or the error that it raises.

        The same frames at once give the same scores. Of a model, the score of a frame among others
        and alone may differ by rounding, for sums are taken in another order: by 2e-7 where it was
        measured.
        """
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
        parameters = self.parameters.to_dict()
        # It is not read here: results do not become others for it.
        del parameters["score_threshold"]
        return {"name": self.name, "parameters": parameters}

    @property
    def reference(self) -> ReferenceRange:
        """The demo study of the phantom, until somebody calibrates it."""
        return paper_range()

    @property
    def threshold(self) -> float:
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

    def score_many(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame what :meth:`score` returns, or the error that it raises."""
        return score_each(self, frames, fields_of_view)


def score_each(
    detector: Detector,
    frames: Sequence[FrameLike],
    fields_of_view: Sequence[FieldOfView | None],
) -> list[FrameResult | FrameError]:
    """Score frames one by one: `score_many` of a detector that gains nothing from batches."""
    outcomes: list[FrameResult | FrameError] = []
    for frame, field_of_view in zip(frames, fields_of_view, strict=True):
        try:
            outcomes.append(detector.score(frame, field_of_view))
        except FrameError as error:
            outcomes.append(error)
    return outcomes


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
