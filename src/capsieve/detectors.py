"""Find a detector by its name, a model file or an entry point; compare detectors of results."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from capsieve.detector import Detector, ReferenceRange
from capsieve.errors import FrameError, ParameterError
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_array
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

ENTRY_POINTS = "capsieve.detectors"
"""Group of entry points by which other packages offer detectors."""

NO_IDENTITY = {"scores_known_by": "name only"}
"""Identity of a detector that states none, next to its name: its results are never used again."""

_SCORE_KEYS = ("model", "spec", "constants")
"""Keys of a detector's identity that determine its scores."""


def load_detector(
    name: str | Path = "paper", *, parameters: Parameters | None = None, provider: str = "cpu"
) -> Detector:
    """Return a detector.

    Parameters
    ----------
    name
        ``"paper"``, the published algorithm; ``"curvature"``, the baseline that the paper argues
        against; ``"learned"``, the model that comes with capsieve; the name of an entry point of
        the group ``capsieve.detectors``, see :func:`as_detector`; or the path of a model file. A
        name wins over a file of that name, whose path is then ``"./learned"``.
    parameters
        Parameters of the paper's steps; the paper's table by default. Only ``"paper"`` and
        ``"curvature"`` use others.
    provider
        Execution provider of onnxruntime for models, such as ``"cuda"``.

    Raises
    ------
    ParameterError
        There is no such detector, it does not use the parameters, or onnxruntime does not have the
        provider.
    FileError
        The model file cannot be read.

    Examples
    --------
    >>> import capsieve
    >>> capsieve.load_detector("paper").score(capsieve.phantom.polyp_frame()).label
    'polyp'
    """
    if str(name) == "paper":
        from capsieve.paper.detector import PaperDetector

        return PaperDetector(parameters or Parameters())
    if str(name) == "curvature":
        from capsieve.curvature.detector import CurvatureDetector

        return CurvatureDetector(parameters or Parameters())
    detector = _other_detector(name, provider)
    check_parameters(detector, parameters)
    return detector


def _other_detector(name: str | Path, provider: str) -> Detector:
    if str(name) == "learned":
        from capsieve.learned.detector import shipped_detector

        return shipped_detector(provider=provider)
    others = entry_points(group=ENTRY_POINTS)
    if str(name) in others.names:
        return as_detector(others[str(name)].load()())
    path = Path(name)
    if path.suffix.lower() == ".onnx" or path.is_file():
        from capsieve.learned.detector import model_detector

        return model_detector(path, provider=provider)
    known = ", ".join(["paper", "curvature", "learned", *sorted(others.names)])
    raise ParameterError(
        "detector", f"there is no detector {str(name)!r}; use {known}, or the path of a model file"
    )


def parameters_of(detector: Detector) -> Parameters:
    """Return the parameters of the paper's steps that a detector uses: the paper's table if none.

    A model may measure frames with the steps; it uses the paper's table.
    """
    return getattr(detector, "parameters", None) or Parameters()


def check_parameters(detector: Detector, parameters: Parameters | None) -> None:
    """Raise ParameterError if parameters were given that the detector does not use."""
    used = parameters_of(detector)
    for each in fields(parameters or used):
        value = getattr(parameters or used, each.name)
        if value != getattr(used, each.name):
            raise ParameterError(
                each.name,
                f"has no effect on the detector {detector.name} (it is {value!r}); leave the "
                "parameters out",
            )


def as_detector(scorer: Any) -> Detector:
    """Return a :class:`Detector` for an object that has at least a name and a method `score`.

    Parameters
    ----------
    scorer
        Has ``name`` and ``score(frame, field_of_view)``, which returns a number or a
        :class:`~capsieve.FrameResult`. It may have every other member of a detector; without
        ``identity``, its results and unfinished work are never used again. An entry point is a
        class or function that returns such an object when it is called without arguments.

    Raises
    ------
    ParameterError
        The object is a class, or has no name or no method `score`.
    """
    if isinstance(scorer, type):
        raise ParameterError("detector", f"{scorer!r} is a class; pass an object of it")
    missing: list[str] = []
    if not isinstance(getattr(scorer, "name", None), str):
        missing.append("no text `name`")
    if not callable(getattr(scorer, "score", None)):
        missing.append("no method `score(frame, field_of_view)`")
    if missing:
        raise ParameterError("detector", f"{scorer!r} has {' and '.join(missing)}")
    return scorer if isinstance(scorer, Detector) else _Adapter(scorer)


@dataclass(frozen=True)
class _Adapter:
    """A detector made of an object with fewer members."""

    scorer: Any

    def __getattr__(self, name: str) -> Any:  # optional members
        if name.startswith("_") or name == "scorer":  # not yet set while it is unpickled
            raise AttributeError(name)
        member = getattr(self.scorer, name)
        return partial(self._score_batch, member) if name == "score_batch" else member

    @property
    def name(self) -> str:
        return self.scorer.name

    @property
    def identity(self) -> dict[str, Any]:
        return {"name": self.name, **(getattr(self.scorer, "identity", None) or NO_IDENTITY)}

    @property
    def reference(self) -> ReferenceRange:
        return getattr(self.scorer, "reference", ReferenceRange("not stated", {}))

    @property
    def score_threshold(self) -> float | None:
        own = getattr(self.scorer, "score_threshold", None)
        return None if own is None else float(own)

    @property
    def value_names(self) -> tuple[str, ...]:
        return tuple(getattr(self.scorer, "value_names", ()))

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        return self._result(self.scorer.score(frame, field_of_view), frame)

    def _score_batch(
        self,
        score_batch: Callable[..., Sequence[Any]],
        frames: Sequence[FrameLike],
        fields_of_view: Sequence[FieldOfView | None],
    ) -> list[FrameResult | FrameError]:
        return [
            scored if isinstance(scored, FrameError) else self._result(scored, frame)
            for scored, frame in zip(score_batch(frames, fields_of_view), frames, strict=True)
        ]

    def _result(self, scored: Any, frame: FrameLike) -> FrameResult:
        if isinstance(scored, FrameResult):
            return scored
        score = float(scored)
        threshold = self.score_threshold
        flagged = threshold is not None and score >= threshold
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


def same_detector(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two identities are of the same detector, with any parameters.

    A model is identified by the hash of its file, not by its name. If only one of them has a hash,
    the names are compared.
    """
    known = [key for key in _SCORE_KEYS if key in first and key in second]
    alike = all(first[key] == second[key] for key in known)
    return alike and ("model" in known or first.get("name") == second.get("name"))


def same_scores(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two identities differ in the scoring version at most."""
    return dict(first) | {"scoring": None} == dict(second) | {"scoring": None}


def rule_parameter(identity: Mapping[str, Any]) -> str | None:
    """Return the parameter by which a detector decides with a rule of its own, or None.

    It is "radius_threshold" (R_P) for the paper's detector. Others have a threshold of the score.
    """
    return identity.get("rule")
