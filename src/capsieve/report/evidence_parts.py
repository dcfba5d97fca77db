"""Evidence on a page: the map as a veil over the picture, and bars for what weighed most."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from capsieve.report.formats import number
from capsieve.report.score_words import change_text, value_name
from capsieve.results import Weight

__all__ = ["VEIL", "Bar", "map_address", "veil", "weight_bars"]

VEIL = (0, 229, 255)
"""Colour of the veil: tissue never has it, and it is told from the yellow circle by anybody."""

_STRONGEST = 0.5  # share of the veil's colour where the map is highest: the tissue stays visible
_MOST_BARS = 4
_HALF = 50.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A value of the frame: its name, what it is against what is common, and what it changed.

    Attributes
    ----------
    name, value, typical, change
        Texts.
    drawing
        A bar to the right where the value speaks for a polyp, to the left where against.
    """

    name: str
    value: str
    typical: str
    change: str
    drawing: Markup


def weight_bars(weights: Sequence[Weight], words: Mapping[str, str] | None) -> tuple[Bar, ...]:
    """Return bars for the strongest weights, on one scale."""
    shown = weights[:_MOST_BARS]
    longest = max((abs(weight.change) for weight in shown), default=0.0) or 1.0
    return tuple(
        Bar(
            name=value_name(weight.name, words),
            value=number(weight.value),
            typical=number(weight.typical),
            change=change_text(weight.change),
            drawing=_bar(weight.change / longest),
        )
        for weight in shown
    )


def map_address(png: bytes) -> str:
    """Return a kept map as the address of a veil; "" where there is none."""
    from PIL import Image

    if not png:
        return ""
    with Image.open(io.BytesIO(png)) as image:
        levels = np.asarray(image.convert("L"), np.float32) / np.float32(255)
    with io.BytesIO() as file:
        Image.fromarray(veil(levels), "RGBA").save(file, "PNG", optimize=True)
        encoded = base64.b64encode(file.getvalue()).decode("ascii")
    return f"data:image/png;base64,{encoded}"


def veil(levels: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return levels of 0 to 1 as RGBA: one colour, the more opaque the higher.

    Opacity goes with the square: middling levels of a coarse map would cover most of the frame.
    """
    pixels = np.empty((*levels.shape, 4), np.uint8)
    pixels[..., :3] = VEIL
    pixels[..., 3] = np.rint(255 * _STRONGEST * levels**2)
    return pixels


def _bar(share: float) -> Markup:
    width = abs(share) * _HALF
    left = _HALF if share > 0 else _HALF - width
    return Markup(
        '<svg class="weight" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="{}" x="{:.1f}" y="1" width="{:.1f}" height="8"/>'
        '<path class="base" d="M50 0V10"/></svg>'
    ).format("for" if share > 0 else "against", left, width)
