"""The range of inputs that a detector was calibrated on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["MEASURES", "ReferenceRange", "paper_range"]

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
def paper_range() -> ReferenceRange:
    """The range of the paper's detector: the demo study of the phantom."""
    text = files("capsieve.paper").joinpath("reference_range.json").read_text(encoding="utf-8")
    content = json.loads(text)
    quantiles = {name: (low, high) for name, (low, high) in content["quantiles"].items()}
    return ReferenceRange(content["reference"], quantiles)
