"""All features of one frame: a thin composer over the groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView, FrameLike
from capsieve.learned.features.bumps import bump_values
from capsieve.learned.features.colour import colour_values
from capsieve.learned.features.domes import dome_values
from capsieve.learned.features.sharpness import sharpness_values
from capsieve.learned.features.spots import spot_values
from capsieve.learned.features.view import view_of
from capsieve.paper.staged import Stages
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
    with Stages(frame, field_of_view, value_range, keep_smoothed=False) as stages:
        stages.check(_PAPER)
        view = view_of(stages, _PAPER)
        result = stages.result(_PAPER)
        bumps = bump_values(stages, view)
    values = [
        *bumps,
        *dome_values(view),
        *colour_values(view),
        *sharpness_values(view),
        *spot_values(view),
    ]
    return FrameFeatures(np.array(values, np.float32), result)
