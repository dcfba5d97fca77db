"""What the geometry of a frame tells at many thresholds at once, kept so that rules cost nothing.

The stages up to the mid-pass filter are dear. Behind them everything is cheap to ask again, if the
answers are kept: the texture maximum T_max for the rules T_L and T_U, and for every segmentation
threshold Theta that may occur the connected components with size, eccentricity and best-fit ball,
for the rules M_L, M_U, S_L, S_U and E_max. Theta is M_L, M_U or half of max u (equation 11), so
that a list of levels for M_L and M_U and one more segmentation at max u / 2 are all that there is.

Scores read from the evidence are those of :func:`capsieve.analyze` to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.kernels.search import largest_radius
from capsieve.errors import ParameterError
from capsieve.paper.geometry import Components
from capsieve.parameters import Parameters

__all__ = [
    "Bounds",
    "Evidence",
    "FrameEvidence",
    "Levels",
    "frame_evidence",
    "joined",
    "scores_of",
]


@dataclass(frozen=True, slots=True)
class Levels:
    """Values that the thresholds of the segmentation may take, each list growing.

    Attributes
    ----------
    low, high
        Of M_L and of M_U.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """All of them, growing."""
        return tuple(sorted({*self.low, *self.high}))

    def occurs(self, theta: float, half: float) -> bool:
        """Return whether Theta may be this level on a frame whose max u / 2 is `half`.

        Theta is M_L only where max u / 2 lies below it, and M_U only where it lies above.
        """
        return (theta in self.low and half < theta) or (theta in self.high and half > theta)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The widest rules that will ever be asked for: what lies outside is not kept.

    Attributes
    ----------
    size_low, size_high, eccentricity_max
        Of a feature, in working pixels.
    """

    size_low: int
    size_high: int
    eccentricity_max: float


@dataclass(frozen=True, slots=True, eq=False)
class FrameEvidence:
    """The features of one frame at all levels.

    Attributes
    ----------
    midpass_max
        max u.
    level
        Per feature the place of its level; one behind the last stands for max u / 2.
    size, eccentricity, radius
        Per feature.
    """

    midpass_max: float
    level: NDArray[np.uint8]
    size: NDArray[np.int32]
    eccentricity: NDArray[np.float64]
    radius: NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The features of many frames.

    Attributes
    ----------
    levels
        Values that M_L and M_U may take, growing; features are kept only at those that occur.
    midpass_max
        Per frame; NaN where it could not be analysed.
    start
        Where the features of each frame begin; one more entry than frames.
    level, size, eccentricity, radius
        Per feature, as in :class:`FrameEvidence`.
    """

    levels: tuple[float, ...]
    midpass_max: NDArray[np.float64]
    start: NDArray[np.int64]
    level: NDArray[np.uint8]
    size: NDArray[np.int32]
    eccentricity: NDArray[np.float64]
    radius: NDArray[np.uint16]


def frame_evidence(
    midpass: NDArray[np.float32],
    midpass_max: float,
    levels: Levels,
    bounds: Bounds,
    *,
    radius_search: int,
) -> FrameEvidence:
    """Return the features of a frame at all levels.

    Parameters
    ----------
    midpass, midpass_max
        u and its maximum.
    levels
        Values that M_L and M_U may take.
    bounds
        The widest rules on features.
    radius_search
        The largest radius of a ball.
    """
    rows: list[tuple[int, int, float, int]] = []
    half = 0.5 * midpass_max
    values = levels.values
    wanted = [(place, theta) for place, theta in enumerate(values) if levels.occurs(theta, half)]
    if levels.low[0] <= half <= levels.high[-1]:
        wanted.append((len(values), half))
    for place, theta in wanted:
        found = Components(midpass, theta, radius_search=radius_search).features(
            size_low=bounds.size_low,
            size_high=bounds.size_high,
            eccentricity_max=bounds.eccentricity_max,
        )
        rows += [
            (place, feature.size, feature.eccentricity, feature.radius)
            for feature in found
            if not feature.rejected
        ]
    level, size, eccentricity, radius = zip(*rows, strict=True) if rows else ((), (), (), ())
    return FrameEvidence(
        midpass_max=midpass_max,
        level=np.array(level, np.uint8),
        size=np.array(size, np.int32),
        eccentricity=np.array(eccentricity, np.float64),
        radius=np.array(radius, np.uint16),
    )


def joined(levels: Levels, frames: Sequence[FrameEvidence | None]) -> Evidence:
    """Return the evidence of many frames as one; None stands for a frame that was not analysed."""
    nothing = FrameEvidence(
        np.nan,
        np.empty(0, np.uint8),
        np.empty(0, np.int32),
        np.empty(0, np.float64),
        np.empty(0, np.uint16),
    )
    every = [nothing if frame is None else frame for frame in frames]
    columns = {
        name: np.concatenate([getattr(nothing, name), *(getattr(each, name) for each in every)])
        for name in ("level", "size", "eccentricity", "radius")
    }
    return Evidence(
        levels=levels.values,
        midpass_max=np.array([each.midpass_max for each in every], np.float64),
        start=np.cumsum([0, *(len(each.level) for each in every)], dtype=np.int64),
        **columns,
    )


def scores_of(
    evidence: Evidence, parameters: Parameters, texture_max: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the score R_max of every frame under a setting; NaN where it was not analysed.

    Parameters
    ----------
    evidence
        Of the setting's geometry. M_L and M_U must be among its levels, and the rules on size and
        eccentricity within the bounds that it was made with.
    parameters
        The setting.
    texture_max
        T_max of every frame under the setting.
    """
    low, high = parameters.threshold_low, parameters.threshold_high
    for name in ("threshold_low", "threshold_high"):
        if getattr(parameters, name) not in evidence.levels:
            raise ParameterError(name, "no evidence was kept at this threshold")
    half = 0.5 * evidence.midpass_max
    # Theta = max(min(max u / 2, M_U), M_L), as the place of a level.
    level = np.full(len(half), len(evidence.levels), np.uint8)
    level[half > high] = evidence.levels.index(high)
    level[half < low] = evidence.levels.index(low)
    derived = parameters.derived
    score = largest_radius(
        evidence.start,
        evidence.level,
        evidence.size,
        evidence.eccentricity,
        evidence.radius,
        level,
        derived.size_low,
        derived.size_high,
        parameters.eccentricity_max,
    )
    passed = (texture_max >= parameters.texture_low) & (texture_max <= parameters.texture_high)
    score[~passed] = 0.0
    score[np.isnan(evidence.midpass_max)] = np.nan
    return score
