"""Find a detector by its name, a model file or an entry point."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from capsieve.detector import Detector, ReferenceRange, score_each
from capsieve.errors import FrameError, ParameterError
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_array
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

__all__ = ["ENTRY_POINTS", "as_detector", "load_detector"]

ENTRY_POINTS = "capsieve.detectors"
"""Group of entry points by which other packages offer detectors."""


def load_detector(name: str | Path = "paper", *, parameters: Parameters | None = None) -> Detector:
    """Return a detector.

    Parameters
    ----------
    name
        ``"paper"``, the published algorithm; ``"curvature"``, the baseline that the paper argues
        against; ``"learned"``, the model that comes with capsieve; the path of a model file; or the
        name of an entry point of the group ``capsieve.detectors``, see :func:`as_detector`.
    parameters
        Parameters of the paper's steps, and the threshold; the paper's table by default.

    Raises
    ------
    ParameterError
        There is no such detector.
    FileError
        The model file cannot be read.

    Examples
    --------
    >>> import capsieve
    >>> capsieve.load_detector("paper").score(capsieve.phantom.polyp_frame()).label
    'polyp'
    """
    parameters = Parameters() if parameters is None else parameters
    if str(name) == "paper":
        from capsieve.paper.detector import PaperDetector

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
    others = entry_points(group=ENTRY_POINTS)
    if str(name) in others.names:
        return as_detector(others[str(name)].load()(), parameters=parameters)
    known = ", ".join(["paper", "curvature", "learned", *sorted(others.names)])
    raise ParameterError(
        "detector", f"there is no detector {str(name)!r}; use {known}, or the path of a model file"
    )


def as_detector(scorer: Any, *, parameters: Parameters | None = None) -> Detector:
    """Return a :class:`Detector` for an object that has at least a name and a method `score`.

    Parameters
    ----------
    scorer
        Has ``name`` and ``score(frame, field_of_view)``, which returns a number or a
        :class:`~capsieve.FrameResult`. It may have every other member of a detector; an entry point
        is a class or function that returns such an object when it is called without arguments.
    parameters
        Its ``score_threshold`` replaces that of the object.

    Raises
    ------
    ParameterError
        The object has no name or no method `score`, or there is no score threshold.
    """
    if isinstance(scorer, Detector):
        return scorer
    if not (isinstance(getattr(scorer, "name", None), str) and hasattr(scorer, "score")):
        raise ParameterError("detector", f"{scorer!r} needs a name and a method score")
    parameters = Parameters() if parameters is None else parameters
    if parameters.score_threshold is None and getattr(scorer, "score_threshold", None) is None:
        raise ParameterError(
            "score_threshold", f"the detector {scorer.name!r} has none; state one in the parameters"
        )
    return _Adapter(scorer, parameters)


@dataclass(frozen=True)
class _Adapter:
    """A detector made of an object with fewer members."""

    scorer: Any
    parameters: Parameters

    def __getattr__(self, name: str) -> Any:  # evidence and other optional members
        if name.startswith("_") or name == "scorer":  # not yet set while it is unpickled
            raise AttributeError(name)
        return getattr(self.scorer, name)

    @property
    def name(self) -> str:
        return self.scorer.name

    @property
    def identity(self) -> dict[str, Any]:
        given = getattr(self.scorer, "identity", {})
        return {"name": self.name, **given, "threshold": self.score_threshold}

    @property
    def reference(self) -> ReferenceRange:
        return getattr(self.scorer, "reference", ReferenceRange("not stated", {}))

    @property
    def score_threshold(self) -> float:
        chosen = self.parameters.score_threshold
        return float(self.scorer.score_threshold if chosen is None else chosen)

    @property
    def value_names(self) -> tuple[str, ...]:
        return tuple(getattr(self.scorer, "value_names", ()))

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        return self._result(self.scorer.score(frame, field_of_view), frame)

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        if not hasattr(self.scorer, "score_batch"):
            return score_each(self, frames, fields_of_view)
        scored = self.scorer.score_batch(frames, fields_of_view)
        return [
            one if isinstance(one, FrameError) else self._result(one, frame)
            for one, frame in zip(scored, frames, strict=True)
        ]

    def _result(self, scored: Any, frame: FrameLike) -> FrameResult:
        if isinstance(scored, FrameResult):
            return scored
        score = float(scored)
        flagged = score >= self.score_threshold
        rows, cols = checked_array(frame).shape[:2]
        return FrameResult(
            label="polyp" if flagged else "normal",
            reason="polyp" if flagged else "score-low",
            score=score,
            texture_max=math.nan,
            radius_max=0,
            features=(),
            placement=Placement(rows, cols, 1.0, 1.0, 0.0, 0.0),
        )
