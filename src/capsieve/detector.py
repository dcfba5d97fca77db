"""The interface of detectors, and the range of inputs that a detector was tuned on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from capsieve.frames import FieldOfView, FrameLike
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

    A detector may also have

    ``score_batch(frames, fields_of_view)``
        Returns for each frame the result of :meth:`score`, or the FrameError that it raises. The
        same batch always gives the same scores. A model's score of a frame alone and in a batch
        may differ by rounding (2e-7 was measured).
    ``evidence(frame, field_of_view)``
        Returns the :class:`~capsieve.results.Evidence` of one frame.
    ``default_read``
        The reading list if the user chooses neither a list nor a threshold, such as "10%".
    ``parameters``
        The :class:`~capsieve.Parameters` of the paper's steps that it uses.
    """

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines its scores, as numbers and texts; no threshold.

        The entry "scoring" is a version that is raised with any change of the scores. The entry
        "rule" is the field of the parameters that is its threshold, if the detector decides by a
        rule of its own: "radius_threshold" for the paper's (R_max >= R_P).
        """
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
