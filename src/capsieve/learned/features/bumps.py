"""The paper's quantities at several scales, whatever pre-selection says."""

import math
from collections.abc import Callable
from functools import cache

from capsieve.learned.features.description import described
from capsieve.learned.features.kernels.regions import region_sums
from capsieve.learned.features.view import View
from capsieve.parameters import Parameters
from capsieve.results import Feature, FrameResult

__all__ = ["DESCRIPTIONS", "SCALES", "bump_values", "scale_parameters"]

SCALES = {"small": (3.5, 15.0, 0.5), "middle": (7.0, 30.0, 1.0), "large": (10.0, 43.0, 1.43)}
"""sigma_1 and sigma_2 of the mid-pass filter, and the factor on the bounds of a bump's diameter."""

_ENTRIES = (
    ("max", "share", "How much the brightest {} bump outshines its surround (max u)."),
    ("count", "bumps", "How many {} bumps have the size and shape of a polyp (K_G)."),
    ("radius", "pixels", "Radius of the largest ball that fits a {} bump (R_max); 0: none."),
    ("size", "share", "Area of that {} bump, as a share of the field of view; 0: none."),
    ("roundness", "0..1", "Roundness of that {} bump, 1 for a disc, near 0 for a fold; 0: none."),
    ("contrast", "log", "Brightness of that {} bump against the ring around it; 0: none."),
    ("distance", "0..1", "Distance of that {} bump from the centre of the view; 1: none."),
)

DESCRIPTIONS = (
    *described(
        "bump", ("texture", "levels", "Strongest texture in the field of view (the paper's T_max).")
    ),
    *described(
        "bump",
        *(
            (f"{what}-{scale}", unit, words.format(scale))
            for scale in SCALES
            for what, unit, words in _ENTRIES
        ),
    ),
)


_PAPER = Parameters()
_INSIDE = 0.85  # radii: the rim itself belongs to neither
_RING = (1.2, 1.75)
_FLOOR = 1e-3


@cache
def scale_parameters(scale: str) -> Parameters:
    """Return the paper's parameters with the mid-pass filter of a scale."""
    fine, coarse, factor = SCALES[scale]
    if scale == "middle":
        return _PAPER
    derived = _PAPER.derived
    return Parameters(
        midpass_fine=fine,
        midpass_coarse=coarse,
        size_low=round(derived.size_low * factor**2),
        size_high=round(derived.size_high * factor**2),
    )


def bump_values(view: View, rows: int, analyse: Callable[[Parameters], FrameResult]) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`.

    Parameters
    ----------
    view
        The planes of the frame.
    rows
        Rows of the working frame.
    analyse
        Algorithm 1 on the frame, with features even if pre-selection rejects it.
    """
    values = [view.texture_max]
    for scale in SCALES:
        parameters = scale_parameters(scale)
        fits = rows >= parameters.derived.smallest_side
        values += _scale_values(analyse(parameters), view) if fits else [0.0, 0.0, *_NONE]
    return values


def _scale_values(result: FrameResult, view: View) -> list[float]:
    count = sum(feature.radius > 0 for feature in result.features)
    best = _NONE if result.best is None else _best_values(result.best, view)
    return [result.midpass_max or 0.0, float(count), *best]


_NONE = (0.0, 0.0, 0.0, 0.0, 1.0)


def _best_values(bump: Feature, view: View) -> list[float]:
    # The disc of the bump's own area: R_opt mixes size and height.
    radius = 0.5 * math.sqrt(bump.size / math.pi)
    row, col = 0.5 * bump.ball_row - 0.25, 0.5 * bump.ball_col - 0.25
    area = 4.0 * view.outline.count
    rows, cols = view.mask.shape
    place = view.distance[min(max(round(row), 0), rows - 1), min(max(round(col), 0), cols - 1)]
    return [
        float(bump.radius),
        bump.size / area,
        1.0 / bump.eccentricity,
        _log_contrast(view, row, col, radius),
        float(min(place, 1.0)),
    ]


def _log_contrast(view: View, row: float, col: float, radius: float) -> float:
    """Return log(mean light in a disc / mean light in the ring around it); 0 if one is empty."""
    ring = (_RING[0] * radius) ** 2, (_RING[1] * radius) ** 2
    sums = region_sums(view.light, view.mask, row, col, (_INSIDE * radius) ** 2, ring)
    (inside, light), (around, light_around) = sums.tolist()
    if not inside or not around:
        return 0.0
    return math.log((light / inside + _FLOOR) / (light_around / around + _FLOOR))
