"""The interface of detectors, and the range of inputs that a detector was tuned on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from capsieve.errors import FrameError
from capsieve.frames import FieldOfView, FrameLike
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

__all__ = ["MEASURES", "Detector", "ReferenceRange", "demo_range", "score_each"]

MEASURES = {
    "texture": "T_max",
    "brightness": "mean of red, green and blue inside the field of view, 0..255",
    "redness": "share of red in red + green + blue",
    "blueness": "share of blue in red + green + blue",
    "field": "diameter of the field of view in the source's pixels",
}
"""What is compared, and what it is."""


@dataclass(frozen=True, slots=True)
class ReferenceRange:
    """The 1 and 99 % quantiles of what the reference exams look like.

    Attributes
    ----------
    reference
        Which exams, in words.
    quantiles
        For each of :data:`MEASURES` the 1 and 99 % quantile over the reference frames.
    """

    reference: str
    quantiles: Mapping[str, tuple[float, float]]


@cache
def demo_range() -> ReferenceRange:
    """Return the range of the demo study, on which the built-in detectors were tuned."""
    path = Path(__file__).with_name("reference_range.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    quantiles = {name: (low, high) for name, (low, high) in content["quantiles"].items()}
    return ReferenceRange(content["reference"], quantiles)


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
    def score_threshold(self) -> float:
        """The least score at which it flags a frame."""
        ...

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the numbers in :attr:`capsieve.results.FrameResult.values`."""
        ...

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the outcome for one frame."""
        ...

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame what :meth:`score` returns, or the error that it raises.

        The same frames at once give the same scores. Of a model, the score of a frame among others
        and alone may differ by rounding, for sums are taken in another order: by 2e-7 where it was
        measured.
        """
        ...


def score_each(
    detector: Detector,
    frames: Sequence[FrameLike],
    fields_of_view: Sequence[FieldOfView | None],
) -> list[FrameResult | FrameError]:
    """Score frames one by one: `score_batch` of a detector that gains nothing from batches."""
    outcomes: list[FrameResult | FrameError] = []
    for frame, field_of_view in zip(frames, fields_of_view, strict=True):
        try:
            outcomes.append(detector.score(frame, field_of_view))
        except FrameError as error:
            outcomes.append(error)
    return outcomes
