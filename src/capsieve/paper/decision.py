"""The binary classifier with pre-selection: steps 2 and 6 of Algorithm 1."""

from collections.abc import Sequence

from capsieve.parameters import Parameters
from capsieve.results import Feature, Label, Reason

__all__ = ["decide", "preselection"]


def preselection(texture_max: float, parameters: Parameters) -> Reason | None:
    """Return which bound of T_L <= T_max <= T_U a frame fails, or None if it passes."""
    if texture_max < parameters.texture_low:
        return "texture-low"
    return "texture-high" if texture_max > parameters.texture_high else None


def decide(features: Sequence[Feature], parameters: Parameters) -> tuple[Label, Reason, int]:
    """Return label, reason and R_max of a frame that passed pre-selection.

    R_max is the largest R_opt over K_G, 0 where K_G is empty; the frame is a polyp frame if
    R_max >= R_P.
    """
    radius_max = max((feature.radius for feature in features), default=0)
    if radius_max == 0:
        return "normal", "no-feature", 0
    if radius_max < parameters.radius_threshold:
        return "normal", "radius-low", radius_max
    return "polyp", "polyp", radius_max
