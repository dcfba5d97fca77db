r"""Effects of a small change of a parameter: the paper's robustness study.

.. math:: \delta(SPEC) = |SPEC_{changed} - SPEC_{base}| / SPEC_{base} \cdot 100\%

and the same for SENS, with one changed parameter at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.frame_table import NORMAL, POLYP, LabelledFrames
from capsieve.statistics.frames import polyp_scores

__all__ = ["RATES", "Effect", "Rate", "effect", "rates", "relative_change"]

RATES = ("frames.specificity", "frames.sensitivity", "polyps.sensitivity")
"""Keys of the rates that a study compares."""


class Rate(NamedTuple):
    """A count and its total."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """The proportion; None if the total is 0."""
        return self.hits / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a changed setting does, compared with the base.

    Attributes
    ----------
    rates
        Of the changed setting, by the keys :data:`RATES`.
    delta
        Relative changes in percent by the same keys; None if the base is 0 or not defined.
    gained, lost
        Frames that only the changed setting flags, and that only the base flags, by "polyp" and
        "normal". A small delta can hide many frames that cancel.
    """

    rates: Mapping[str, Rate]
    delta: Mapping[str, float | None]
    gained: Mapping[str, int]
    lost: Mapping[str, int]


def rates(frames: LabelledFrames, flagged: NDArray[np.bool_]) -> dict[str, Rate]:
    """Return specificity, sensitivity per frame and sensitivity per polyp as counts.

    A polyp frame without a score is missed, a normal frame without a score is left out.
    """
    normal, polyp = frames.normal_frames, frames.polyp_frames
    found = polyp_scores(frames).found(flagged)
    values = (
        Rate(int((normal & ~flagged).sum()), int(normal.sum())),
        Rate(int((polyp & flagged).sum()), int(polyp.sum())),
        Rate(int(found.sum()), len(found)),
    )
    return dict(zip(RATES, values, strict=True))


def effect(frames: LabelledFrames, base: NDArray[np.bool_], changed: NDArray[np.bool_]) -> Effect:
    """Compare the frames that two settings flag."""
    before, after = rates(frames, base), rates(frames, changed)
    classes = {"polyp": frames.truth == POLYP, "normal": frames.truth == NORMAL}
    return Effect(
        after,
        {key: relative_change(after[key].value, before[key].value) for key in RATES},
        {name: int((mask & changed & ~base).sum()) for name, mask in classes.items()},
        {name: int((mask & base & ~changed).sum()) for name, mask in classes.items()},
    )


def relative_change(changed: float | None, base: float | None) -> float | None:
    """Return delta in percent, |changed - base| / base * 100; None if it is not defined."""
    if changed is None or base is None or base == 0:
        return None
    return abs(changed - base) / base * 100
