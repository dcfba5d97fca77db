"""The interface of detectors, and the range of inputs that a detector was tuned on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from capsieve.errors import FrameError
from capsieve.frames import FieldOfView, FrameLike
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

MEASURES = {
    "texture": "T_max",
    "brightness": "mean of red, green and blue inside the field of view, 0..255",
    "redness": "share of red in red + green + blue",
    "blueness": "share of blue in red + green + blue",
    "field": "diameter of the field of view in the source's pixels",
}
"""The properties of an exam that are compared with the reference range."""


@dataclass(frozen=True, slots=True)
class ReferenceRange:
    """The exams that a detector was tuned on, and their 1 and 99 % quantiles per measure."""

    reference: str
    quantiles: Mapping[str, tuple[float, float]]


@cache
def demo_range(stencil: float = 1.0) -> ReferenceRange:
    """Return the range of the demo study, on which the built-in detectors were tuned.

    T_max depends on the stencil. It was measured for those of the two presets and is left out for
    others.
    """
    path = Path(__file__).with_name("reference_range.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    texture = content["texture"].get(f"{stencil:g}")
    pairs = content["quantiles"] | ({} if texture is None else {"texture": texture})
    quantiles = {name: (pairs[name][0], pairs[name][1]) for name in MEASURES if name in pairs}
    return ReferenceRange(content["reference"], quantiles)


@runtime_checkable
class Detector(Protocol):
    """Scores frames. It can be pickled and gives the same scores in another process.

    A detector may also have ``evidence(frame, field_of_view)``, which returns the
    :class:`~capsieve.results.Evidence` of one frame, and ``default_read``, the reading list to
    make if the user chooses neither a list nor a threshold, such as "10%".
    """

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines its scores, as numbers and texts; no threshold."""
        ...

    @property
    def parameters(self) -> Parameters:
        """The parameters of the paper's steps that it uses."""
        ...

    @property
    def reference(self) -> ReferenceRange:
        """The range of inputs that it was tuned on."""
        ...

    @property
    def score_threshold(self) -> float | None:
        """Its own threshold, the lowest score of a flagged frame; None if it has none."""
        ...

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the numbers in :attr:`capsieve.results.FrameResult.values`."""
        ...

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the result for one frame."""
        ...

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame the result of :meth:`score`, or the error that it raises.

        The same batch always gives the same scores. A model's score of a frame alone and in a
        batch may differ by rounding (2e-7 was measured).
        """
        ...


def score_each(
    detector: Detector, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
) -> list[FrameResult | FrameError]:
    """Score frames one by one: `score_batch` of detectors that gain nothing from batches."""
    outcomes: list[FrameResult | FrameError] = []
    for frame, field_of_view in zip(frames, fields_of_view, strict=True):
        try:
            outcomes.append(detector.score(frame, field_of_view))
        except FrameError as error:
            outcomes.append(error)
    return outcomes
