"""Results of a detector on one frame."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import Placement

Label = Literal["polyp", "normal"]

Reason = Literal["polyp", "texture-low", "texture-high", "no-feature", "radius-low", "score-low"]
"""The rule that decided: the first one that the frame failed, or "polyp".

"score-low" is the rule of detectors other than the paper's: the score is below the threshold.
"""

REJECTED: tuple[Reason, ...] = ("texture-low", "texture-high", "no-feature")
"""Rules of the paper that reject a frame before it is scored (R_max = 0): it is never flagged."""

Rejection = Literal["", "size-low", "size-high", "eccentricity"]
"""The rule that a feature failed; empty for a feature of K_G."""


class Spot(NamedTuple):
    """A disc to which a detector points, in 0-based pixels of the source."""

    row: float
    col: float
    radius: float


class Property(NamedTuple):
    """A measured property of a frame: name, description, unit, value and usual range."""

    name: str
    words: str
    unit: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Why a detector that fits no ball gave its score.

    Attributes
    ----------
    map
        Of the size of the source: higher at pixels that are more like a polyp, in units of the
        detector; None if the detector has no map.
    place
        The disc to which the map points.
    properties
        They describe the frame and do not explain the score.
    """

    map: NDArray[np.float32] | None = None
    place: Spot | None = None
    properties: tuple[Property, ...] = ()


class Feature(NamedTuple):
    """One connected component s^(k) of the segmentation, in 0-based working pixels.

    Attributes
    ----------
    number
        k, counted from 1, column by column.
    size
        S, pixels.
    eccentricity
        E, the ratio of the eigenvalues of the tensor of inertia; infinite for a line.
    row, col
        Centre of mass (c_y, c_x).
    ball_row, ball_col
        Centre of mass weighted with u, the centre of the ball.
    radius
        R_opt of the best-fit ball; 0 if the feature was rejected.
    rejected
        The rule that the feature failed, or "".
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
    """The result for one frame.

    Attributes
    ----------
    label
        "polyp" or "normal".
    reason
        The rule that decided.
    score
        The number that thresholds apply to; R_max for the paper's detector.
    texture_max
        T_max.
    radius_max
        R_max; 0 if pre-selection or geometry rejected the frame.
    features
        Every connected component; empty if pre-selection rejected the frame.
    placement
        The map from working pixels to pixels of the source.
    midpass_max, segmentation_threshold
        max u and Theta; None if pre-selection rejected the frame.
    values
        Numbers that the detector measured, in the order of its `value_names`; empty for the
        paper's.
    found
        The disc to which a detector that fits no ball points; None for the paper's.

    Notes
    -----
    A detector without the paper's steps has NaN as `texture_max`, 0 as `radius_max` and no
    `features`.
    """

    label: Label
    reason: Reason
    score: float
    texture_max: float
    radius_max: int
    features: tuple[Feature, ...]
    placement: Placement
    midpass_max: float | None = None
    segmentation_threshold: float | None = None
    values: tuple[float, ...] = ()
    found: Spot | None = None

    @property
    def place(self) -> Spot | None:
        """The suspect disc: `found`, otherwise the best ball in pixels of the source."""
        best = self.best
        if self.found is not None or best is None:
            return self.found
        row, col = self.placement.to_source(best.ball_row, best.ball_col)
        return Spot(row, col, self.placement.length_to_source(best.radius))

    @property
    def best(self) -> Feature | None:
        """The feature with the largest ball, the first of equals; None if there is no ball."""
        fitted = [feature for feature in self.features if feature.radius]
        return max(fitted, key=lambda feature: feature.radius, default=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explanation(FrameResult):
    """A :class:`FrameResult` with every intermediate image, in working pixels.

    Features, midpass_max and segmentation_threshold are computed even if pre-selection rejected
    the frame. label, reason, score and radius_max are those of the detector.

    Attributes
    ----------
    frame
        The working frame in colour, uint8 RGB, for display.
    mask
        The circular mask.
    gray
        The analysed channel, 0..255 (panel b).
    corrected
        After vignetting correction; as in gray outside the mask (panel c).
    extended
        f, the pre-processed frame (panel d).
    texture
        t of the whole frame (panel e).
    energy
        T, zero outside the mask (panel f).
    midpass
        u, zero outside the mask (panel g).
    segmentation
        s (panel h).
    labels
        The number k of the feature at each pixel, 0 for none.
    """

    frame: NDArray[np.uint8]
    mask: NDArray[np.bool_]
    gray: NDArray[np.float32]
    corrected: NDArray[np.float32]
    extended: NDArray[np.float32]
    texture: NDArray[np.float32]
    energy: NDArray[np.float32]
    midpass: NDArray[np.float32]
    segmentation: NDArray[np.bool_]
    labels: NDArray[np.int32]

    # Comparing the images element by element has no single answer.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)
