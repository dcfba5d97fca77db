"""The values that tell an informative frame: sharpness, spots, exposure and texture.

Colour, bumps and patches are left out on purpose: what looks at them could learn polyps.
"""

import math

from capsieve.learned.features import sharpness, spots
from capsieve.learned.features.description import FeatureDescription, described
from capsieve.learned.features.view import View

__all__ = ["DESCRIPTIONS", "NAMES", "VERSION", "informative_values"]

VERSION = 1
"""Raised with any change of a value, and the weights are trained anew. The features that models
learn from have another version: they may grow without a change here."""

_BURNT = 250.0  # grey levels: nothing can be told above
_BLACK = 20.0  # and below

_OWN = described(
    "exposure",
    ("burnt", "share", "Share of the view that is burnt out to white."),
    ("black", "share", "Share of the view that is too dark to show anything."),
    ("texture", "log", "Strongest texture in the view; log(1 + T_max)."),
)

DESCRIPTIONS: tuple[FeatureDescription, ...] = (
    *sharpness.DESCRIPTIONS,
    *spots.DESCRIPTIONS,
    *_OWN,
)
"""Name, group, unit and words of each value."""

NAMES: tuple[str, ...] = tuple(each.name for each in DESCRIPTIONS)
"""The names alone."""


def informative_values(view: View) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`."""
    inside = view.gray[view.mask]
    return [
        *sharpness.sharpness_values(view),
        *spots.spot_values(view, spots.highlights_of(view)),
        float((inside >= _BURNT).mean()),
        float((inside <= _BLACK).mean()),
        math.log1p(view.texture_max),
    ]
