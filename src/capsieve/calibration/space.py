"""The search space: every field of the parameters, what it may be, and why.

Fields come in three kinds. *Dear* ones change the frame up to the mid-pass filter or the texture
energy: each new value costs an analysis of all frames. *Free* ones are rules on what was measured
(:mod:`capsieve.calibration.search_evidence`): any number of values costs next to nothing. *Fixed*
ones keep the value of the base.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_evidence import Bounds, Levels
from capsieve.paper.staged import fields_read
from capsieve.parameters import Parameters

__all__ = [
    "CHOICES",
    "DEAR",
    "FIXED",
    "FREE",
    "NO_LIMIT",
    "Choice",
    "base_rules",
    "bounds_of",
    "geometry_of",
    "levels_of",
    "texture_of",
    "values_of",
]


@dataclass(frozen=True, slots=True)
class Choice:
    """A field that the search may set.

    Attributes
    ----------
    name
        Of the field.
    values
        What it may be. Numbers are ordered; words and truth values are not.
    why
        Why these.
    """

    name: str
    values: tuple[Any, ...]
    why: str

    @property
    def ordered(self) -> bool:
        """Whether neighbouring values are alike."""
        return not isinstance(self.values[0], str | bool)


DEAR = (
    Choice(
        "channel",
        ("gray", "red", "lab-a"),
        "the paper names red and Lab a as channels to study",
    ),
    Choice("vignetting", (True, False), "newer capsules correct the fall-off of light themselves"),
    Choice(
        "mask_radius",
        (0.39, 0.42, 0.45, 0.48),
        "a smaller mask leaves out the dark rim, a larger one sees polyps at the edge",
    ),
    Choice(
        "midpass_fine",
        (3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 14.0),
        "below 3 noise is segmented; above 14 neighbouring folds melt together",
    ),
    Choice(
        "midpass_coarse",
        (18.0, 22.0, 26.0, 30.0, 36.0, 42.0, 50.0, 60.0),
        "the size of the largest protrusion that stands out from its surround",
    ),
    Choice(
        "texture_sigma",
        (3.0, 5.0, 8.0),
        "what counts as texture: fine speckle, or folds of the mucosa too",
    ),
    Choice("energy_sigma", (5.0, 11.0, 20.0), "how large a textured patch has to be"),
    Choice("energy_power", (0.5, 0.8, 1.2), "how much a few strong edges count"),
)
"""Each new value takes an analysis of all frames."""

FREE = (
    Choice(
        "threshold_low",
        (0.03, 0.045, 0.065, 0.09, 0.11, 0.16),
        "contrast in grey; on Lab a an eighth of it, as much as contrast is less there",
    ),
    Choice(
        "threshold_high",
        (0.09, 0.11, 0.16, 0.22, 0.3, 0.42),
        "as for M_L, and above it",
    ),
    Choice(
        "size_low",
        (100, 200, 292, 450, 700, 1000),
        "a feature of fewer than 100 pixels of 256 x 256 has no shape",
    ),
    Choice(
        "size_high",
        (1600, 2400, 3237, 4500, 6500, 9000),
        "more than 9,000 pixels of 256 x 256 are a wall, and not a protrusion",
    ),
    Choice(
        "eccentricity_max",
        (2.0, 3.0, 4.5, 6.5, 9.0, 14.0),
        "a polyp seen from the side is long; what is longer than 14 is a fold",
    ),
    Choice(
        "texture_low",
        (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
        "as the share of frames below it: T_max has another scale for every channel and power",
    ),
    Choice(
        "texture_high",
        (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0),
        "as the share of frames that are not above it",
    ),
)
"""Rules on what was measured. Those on T_max are shares of the frames that are searched on."""

FIXED: Mapping[str, str] = {
    "width": "the unit of all others: another width is the same search with other numbers",
    "texture_iterations": "it converges; more iterations cost time and change little",
    "extension_slope": "it acts beyond the rim of the mask alone",
    "radius_threshold": "not searched but chosen, as the paper does: the smallest that reaches "
    "the target specificity",
    "score_threshold": "the paper's detector does not read it",
}
"""What the search leaves as it is, and why."""

CHOICES: Mapping[str, Choice] = {choice.name: choice for choice in (*DEAR, *FREE)}

NO_LIMIT = 1e6
"""T_U where no frame is rejected for too much texture."""

_PRINTED_WIDTH = 256
_LAB_CONTRAST = 8.0
_THRESHOLDS = ("threshold_low", "threshold_high")
_SIZES = ("size_low", "size_high")
_TEXTURE = ("texture_low", "texture_high")


def levels_of(setting: Parameters, base: Parameters) -> Levels:
    """Return the values that M_L and M_U may take on a setting's channel."""
    low, high = (values_of(name, setting, base) for name in _THRESHOLDS)
    return Levels(low, high)


def values_of(
    name: str,
    setting: Parameters,
    base: Parameters,
    texture_max: NDArray[np.float64] | None = None,
) -> tuple[Any, ...]:
    """Return what a free field may be beside the dear fields of a setting; the base's value too.

    Parameters
    ----------
    name
        Of the field.
    setting
        Its dear fields count.
    base
        Where the search began.
    texture_max
        T_max of the frames that are searched on, for the rules on it.
    """
    values: tuple[Any, ...] = CHOICES[name].values
    if name in _TEXTURE:
        assert texture_max is not None
        values = tuple(_texture_rule(share, texture_max) for share in values)
    elif name in _THRESHOLDS and setting.channel == "lab-a":
        values = tuple(value / _LAB_CONTRAST for value in values)
    elif name in _SIZES:
        scale = (base.width / _PRINTED_WIDTH) ** 2
        values = tuple(max(1, round(value * scale)) for value in values)
    return tuple(sorted({*values, base_rules(setting, base)[name]}))


def base_rules(setting: Parameters, base: Parameters) -> dict[str, Any]:
    """Return the base's rules beside the dear fields of a setting.

    Thresholds follow the contrast of the channel. Where T_max is another quantity than in the
    base, the base's T_L and T_U mean nothing, and all frames pass.
    """
    contrast = {"lab-a": _LAB_CONTRAST}
    scale = contrast.get(base.channel, 1.0) / contrast.get(setting.channel, 1.0)
    same = texture_of(setting, base) == base
    return {
        "threshold_low": base.threshold_low * scale,
        "threshold_high": base.threshold_high * scale,
        "size_low": base.derived.size_low,
        "size_high": base.derived.size_high,
        "eccentricity_max": base.eccentricity_max,
        "texture_low": base.texture_low if same else 0.0,
        "texture_high": base.texture_high if same else NO_LIMIT,
    }


def bounds_of(base: Parameters) -> Bounds:
    """Return the widest rules that the search will ask for."""
    return Bounds(
        size_low=min(values_of("size_low", base, base)),
        size_high=max(values_of("size_high", base, base)),
        eccentricity_max=max(values_of("eccentricity_max", base, base)),
    )


def geometry_of(setting: Parameters, base: Parameters) -> Parameters:
    """Return a setting with all that does not change u as in the base: what u is known by."""
    return _reduced(setting, base, "mid-pass")


def texture_of(setting: Parameters, base: Parameters) -> Parameters:
    """Return a setting with all that does not change T_max as in the base."""
    return _reduced(setting, base, "texture")


def _texture_rule(share: float, texture_max: NDArray[np.float64]) -> float:
    """Return the T_max that this share of the frames lies below, in digits fit to print."""
    measured = texture_max[~np.isnan(texture_max)]
    if share in (0.0, 1.0) or not len(measured):
        return NO_LIMIT if share else 0.0
    return float(f"{np.quantile(measured, share):.4g}")


def _reduced(setting: Parameters, base: Parameters, stage: str) -> Parameters:
    kept = {name: getattr(setting, name) for name in fields_read(stage)}
    if kept.get("energy_sigma") == base.derived.energy_sigma:
        kept["energy_sigma"] = base.energy_sigma  # None where the paper's formula gives it
    return replace(base, **kept)
