"""What the detector says about a frame."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import Placement

__all__ = [
    "Evidence",
    "Explanation",
    "Feature",
    "FrameResult",
    "Label",
    "Reason",
    "Rejection",
    "Spot",
]

Label = Literal["polyp", "normal"]

Reason = Literal[
    "polyp",
    "texture-low",
    "texture-high",
    "no-feature",
    "radius-low",
    "score-low",
]
"""The rule that decided: the first one that the frame failed, or "polyp".

"score-low" is the rule of detectors other than the paper's: the score is below the threshold.
"""

Rejection = Literal["", "size-low", "size-high", "eccentricity"]
"""The rule at which a feature fell; empty for a feature of K_G."""


class Spot(NamedTuple):
    """Where a detector points, in the source's pixels: a disc, 0-based."""

    row: float
    col: float
    radius: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Why a detector that fits no ball gave its score.

    Attributes
    ----------
    map
        Of the source's rows and columns: higher where the frame looks more like a polyp, in units
        of the detector; None where the detector draws none.
    """

    map: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One connected component s^(k) of the segmentation, in 0-based working pixels.

    Attributes
    ----------
    number
        k, counted from 1, column by column as the paper's labelling does.
    size
        S, pixels.
    eccentricity
        E, the ratio of the eigenvalues of the tensor of inertia; infinite for a line.
    row, col
        Centre of mass (c_y, c_x).
    ball_row, ball_col
        Centre of mass weighted with u, where the ball is placed.
    radius
        R_opt of the best-fit ball; 0 where the feature was rejected.
    rejected
        The rule at which the feature fell, or "".
    moment_rr, moment_rc, moment_cc
        Central second moments: sums of squared (and mixed) row and column offsets.
    """

    number: int
    size: int
    eccentricity: float
    row: float
    col: float
    ball_row: float
    ball_col: float
    radius: int
    rejected: Rejection
    moment_rr: float
    moment_rc: float
    moment_cc: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameResult:
    """The outcome for one frame.

    Attributes
    ----------
    label
        "polyp" or "normal".
    reason
        The rule that decided.
    score
        What thresholds apply to; for the paper's detector R_max.
    texture_max
        T_max.
    radius_max
        R_max; 0 where pre-selection or geometry rejected the frame.
    features
        Every connected component; empty where pre-selection stopped the frame.
    placement
        The map from working pixels to the source's pixels.
    midpass_max, threshold
        max u and Theta; None where pre-selection stopped the frame.
    values
        Numbers that the detector looked at, in the order of its `value_names`; empty for the
        paper's.
    found
        Where a detector that fits no ball points; None for the paper's.

    Notes
    -----
    A detector that does not take the paper's steps leaves `texture_max` NaN, `radius_max` 0 and
    `features` empty.
    """

    label: Label
    reason: Reason
    score: float
    texture_max: float
    radius_max: int
    features: tuple[Feature, ...]
    placement: Placement
    midpass_max: float | None = None
    threshold: float | None = None
    values: tuple[float, ...] = ()
    found: Spot | None = None

    @property
    def place(self) -> Spot | None:
        """Where the frame is suspect: `found`, else the best ball in the source's pixels."""
        best = self.best
        if self.found is not None or best is None:
            return self.found
        row, col = self.placement.to_source(best.ball_row, best.ball_col)
        return Spot(row, col, self.placement.length_to_source(best.radius))

    @property
    def best(self) -> Feature | None:
        """The feature with the largest ball, the first of equals; None where there is no ball."""
        fitted = [feature for feature in self.features if feature.radius]
        return max(fitted, key=lambda feature: feature.radius, default=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explanation(FrameResult):
    """A :class:`FrameResult` with every intermediate image, in working pixels.

    Pre-selection does not stop the computation here: features, midpass_max and threshold are those
    that the frame would have had. label, reason, score and radius_max are the detector's.

    Attributes
    ----------
    frame
        The working frame in colour, uint8 RGB, for display.
    gray
        The channel that the sieve looks at, 0..255 (panel b).
    corrected
        After vignetting correction; outside the mask as in gray (panel c).
    extended
        f, the pre-processed frame (panel d).
    cartoon, texture
        f = c + t over the whole frame (panel e: t).
    energy
        T, zero outside the mask (panel f).
    midpass
        u, zero outside the mask (panel g).
    segmentation
        s (panel h).
    labels
        The number k of the feature at each pixel, 0 for none.
    mask
        The circular mask.
    falloff
        exp(W), the fall-off of light that was divided out, at radii 0, 1, 2, ... pixels.
    """

    frame: NDArray[np.uint8]
    gray: NDArray[np.float32]
    corrected: NDArray[np.float32]
    extended: NDArray[np.float32]
    cartoon: NDArray[np.float32]
    texture: NDArray[np.float32]
    energy: NDArray[np.float32]
    midpass: NDArray[np.float32]
    segmentation: NDArray[np.bool_]
    labels: NDArray[np.int32]
    mask: NDArray[np.bool_]
    falloff: NDArray[np.float64]

    # Two explanations with other images must not pass for equal, nor arrays be compared unasked.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)
