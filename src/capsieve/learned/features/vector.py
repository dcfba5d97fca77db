"""All features of one frame: a thin composer over the groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView, FrameLike, checked_pixels
from capsieve.learned.features.bumps import bump_values
from capsieve.learned.features.colour import colour_values
from capsieve.learned.features.domes import dome_values
from capsieve.learned.features.sharpness import sharpness_values
from capsieve.learned.features.spots import spot_values
from capsieve.learned.features.view import view_of
from capsieve.paper import steps
from capsieve.paper.algorithm import algorithm1, preprocess
from capsieve.paper.many_settings import Memoised
from capsieve.parameters import Parameters
from capsieve.results import FrameResult

__all__ = ["FrameFeatures", "frame_features"]

_PAPER = Parameters()


@dataclass(frozen=True, slots=True, eq=False)
class FrameFeatures:
    """What is measured on a frame.

    Attributes
    ----------
    values
        One for each of :data:`capsieve.learned.features.registry.FEATURES`; all finite.
    result
        What :func:`capsieve.analyze` says with the paper's parameters.
    """

    values: NDArray[np.float32]
    result: FrameResult


def frame_features(
    frame: FrameLike,
    field_of_view: FieldOfView | None = None,
    *,
    value_range: tuple[float, float] | None = None,
) -> FrameFeatures:
    """Measure a frame.

    Parameters
    ----------
    frame, field_of_view, value_range
        See :func:`capsieve.analyze`.

    Raises
    ------
    FrameError
        The frame cannot be analysed.

    Examples
    --------
    >>> import capsieve
    >>> from capsieve.learned.features.registry import NAMES
    >>> from capsieve.learned.features.vector import frame_features
    >>> measured = frame_features(capsieve.phantom.polyp_frame())
    >>> dict(zip(NAMES, measured.values))["bump.count-middle"].item()
    1.0
    """
    pixels, step = checked_pixels(frame, value_range=value_range), Memoised(steps)

    def analyse(parameters: Parameters) -> FrameResult:
        return algorithm1(pixels, parameters, field_of_view, step=step, stop_early=False)

    result = algorithm1(pixels, _PAPER, field_of_view, step=step)
    side = _PAPER.derived.smallest_side
    grid, mask, even = preprocess(pixels, _PAPER, field_of_view, side, step=step)
    view = view_of(pixels, grid, mask, even, result.texture_max)
    values = [
        *bump_values(view, grid.rows, analyse),
        *dome_values(view),
        *colour_values(view),
        *sharpness_values(view),
        *spot_values(view),
    ]
    return FrameFeatures(np.array(values, np.float32), result)
