"""A number with its definition, its counts and its intervals."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["LEVEL", "Interval", "Metric", "Unit"]

LEVEL = 0.95
"""Every interval is meant to hold the true value in this share of studies."""

Unit = Literal["share", "area", "frames", "events", "polyps", "minutes", "seconds", "score"]


@dataclass(frozen=True, slots=True)
class Interval:
    """How far off a number may be.

    Attributes
    ----------
    method
        For people: "Wilson", "bootstrap over patients", ...
    low, high
        The bounds; None where no honest interval can be given.
    why
        Why there is none, or what to keep in mind; one sentence without a final stop, or "".
    units
        How many independent units it rests on: frames, polyps, patients.
    rounds
        Bootstrap rounds; None where nothing was resampled.
    """

    method: str
    low: float | None
    high: float | None
    why: str = ""
    units: int | None = None
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a reviewer can use without asking what it means.

    Attributes
    ----------
    key
        Its stable name in metrics.json, such as "frames.all.sensitivity".
    name
        For people: "Sensitivity per frame".
    value
        None where it is not defined, for instance without a single polyp frame.
    definition
        One sentence.
    unit
        What the value is: a share of 1, an area of 1, a count, ...
    numerator, denominator
        The counts of a share; None for what is no share.
    intervals
        All that were computed, the one to quote first.
    note
        What a careful reader must know, or why there is no value; or "".
    """

    key: str
    name: str
    value: float | None
    definition: str
    unit: Unit = "share"
    numerator: int | None = None
    denominator: int | None = None
    intervals: tuple[Interval, ...] = ()
    note: str = ""
