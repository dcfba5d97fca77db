r"""Effects of a small change of a parameter: the paper's robustness study.

.. math:: \delta(SPEC) = |SPEC_{changed} - SPEC_{base}| / SPEC_{base} \cdot 100\%

and the same for SENS, with one changed parameter at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from capsieve.frame_table import NORMAL, POLYP, LabelledFrames, Mask
from capsieve.statistics.rates import RATES, Rate, rates


@dataclass(frozen=True, slots=True)
class Effect:
    """What a changed setting does, compared with the base.

    Attributes
    ----------
    rates
        Rates of the changed setting, by the keys :data:`~capsieve.statistics.rates.RATES`.
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


def effect(frames: LabelledFrames, base: Mask, changed: Mask) -> Effect:
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
    """Return delta in percent, |changed - base| / base * 100 (equation 36 of the paper), or None.

    It is not defined without both values, or if the base is 0.
    """
    if changed is None or base is None or base == 0:
        return None
    return abs(changed - base) / base * 100
