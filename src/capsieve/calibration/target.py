"""What an operating point must reach: one target, on one axis."""

import math
from dataclasses import dataclass
from typing import Literal

from capsieve.errors import ParameterError

__all__ = ["Kind", "Scale", "Target"]

Kind = Literal["specificity", "frames", "sensitivity"]


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked of a threshold.

    Attributes
    ----------
    kind
        "specificity": at least this share of the normal frames is not flagged, the paper's way.
        "frames": at most so many frames to read per exam, in the mean.
        "sensitivity": at least this share of the polyps is found.
    value
        A share of 1, or frames.
    """

    kind: Kind = "specificity"
    value: float = 0.9

    def __post_init__(self) -> None:
        if self.kind == "frames":
            good, rule = math.isfinite(self.value) and self.value > 0, "a number above 0"
        else:
            good, rule = 0 < self.value <= 1, "a share above 0, up to 1"
        if not good:
            raise ParameterError(self.kind, f"must be {rule}, not {self.value!r}")

    @property
    def number(self) -> str:
        """The number alone, for people: "90 %", "1,500"."""
        if self.kind == "frames":
            return f"{self.value:,.12g}"
        return f"{round(100 * self.value, 10):.12g} %"

    def words(self, unit: str) -> str:
        """Return the target for people; `unit` is what stands for a polyp."""
        if self.kind == "frames":
            noun = "frame" if self.value == 1 else "frames"
            return f"at most {self.number} {noun} to read per exam"
        what = "specificity" if self.kind == "specificity" else f"of the {unit}s"
        return f"at least {self.number} {what}"


@dataclass(frozen=True, slots=True)
class Scale:
    """The thresholds that a detector can take.

    Attributes
    ----------
    name
        For people: "R_P" or "score threshold".
    step
        Thresholds are whole multiples of this: 1 for the paper's R_P. None where they are observed
        scores.
    highest
        No frame scores higher, so that a threshold above it flags nothing, ever: for R_P the
        largest radius that is tried. Infinite where no bound is known.
    """

    name: str
    step: float | None
    highest: float = math.inf

    @property
    def lowest(self) -> float:
        """The least threshold that there is: every positive score reaches it."""
        return math.ulp(0.0) if self.step is None else self.step
