"""Colours of the whole field of view, by differences and quantiles.

How red or yellow the mucosa is as such is left out: on frames of other exams it misleads.
"""

from capsieve.learned.features.description import described
from capsieve.learned.features.kernels.statistics import count_beyond
from capsieve.learned.features.planes import quantiles
from capsieve.learned.features.view import View

__all__ = ["DESCRIPTIONS", "colour_values"]

DESCRIPTIONS = described(
    "colour",
    ("a-range", "Lab a", "Range from the greenest to the reddest tenth of the view."),
    ("red-share", "share", "Share of the view that is clearly redder than the rest."),
    ("green-share", "share", "Share of the view that is clearly greener than the rest: content."),
)

_CLEARLY = 8.0  # steps of Lab a


def colour_values(view: View) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`."""
    inside = view.inside(view.a)
    low, middle, high = quantiles(inside, 0.1, 0.5, 0.9)
    green, red = count_beyond(inside, middle - _CLEARLY, middle + _CLEARLY)
    return [high - low, red / inside.size, green / inside.size]
