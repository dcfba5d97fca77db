"""One frame under many settings of the dear fields: what they share is computed once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_evidence import Bounds, FrameEvidence, Levels, frame_evidence
from capsieve.frames import FieldOfView, FrameLike
from capsieve.paper.midpass import midpass, smooth_inside
from capsieve.paper.staged import Stages, fields_read
from capsieve.parameters import Parameters

__all__ = ["analyze_dear"]

_PREPROCESSING = fields_read("pre-processing")


def analyze_dear(
    frame: FrameLike,
    geometries: Sequence[tuple[Parameters, Levels]],
    textures: Sequence[Parameters],
    bounds: Bounds,
    field_of_view: FieldOfView | None = None,
) -> tuple[list[FrameEvidence], list[float]]:
    """Return the evidence of a frame for each geometry, and T_max for each texture.

    Parameters
    ----------
    frame, field_of_view
        See :func:`capsieve.analyze`.
    geometries
        Settings that differ up to the mid-pass filter, each with the levels of its thresholds.
    textures
        Settings that differ up to the texture energy.
    bounds
        The widest rules on features.

    Raises
    ------
    FrameError
        The frame cannot be analysed under one of the settings.
    """
    evidence: dict[int, FrameEvidence] = {}
    texture_max: dict[int, float] = {}
    with Stages(frame, field_of_view) as stages:
        for setting in (*(each for each, _ in geometries), *textures):
            stages.check(setting)
        # Stages remember one pre-processed frame: all that share it come one after the other.
        keys = dict.fromkeys(map(_prepared, (*(each for each, _ in geometries), *textures)))
        for key in keys:
            smoothed: dict[float, NDArray[np.float32]] = {}
            for place, (setting, levels) in enumerate(geometries):
                if _prepared(setting) != key:
                    continue
                plane, mask = stages.preprocessed(setting)
                for sigma in (setting.midpass_fine, setting.midpass_coarse):
                    if sigma not in smoothed:
                        smoothed[sigma] = smooth_inside(plane, mask, sigma=sigma)
                u, highest = midpass(
                    smoothed[setting.midpass_fine], smoothed[setting.midpass_coarse], mask,
                    out=np.zeros_like(plane),
                )  # fmt: skip
                evidence[place] = frame_evidence(
                    u, highest, levels, bounds, radius_search=setting.derived.radius_search
                )
            for place, setting in enumerate(textures):
                if _prepared(setting) == key:
                    texture_max[place] = stages.texture_max(setting)
    return (
        [evidence[place] for place in range(len(geometries))],
        [texture_max[place] for place in range(len(textures))],
    )


def _prepared(setting: Parameters) -> tuple[object, ...]:
    return tuple(getattr(setting, name) for name in _PREPROCESSING)
