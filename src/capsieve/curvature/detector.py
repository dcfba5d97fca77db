"""``--detector curvature``: score frames by the largest dome of the surface of grey values.

Section II of the paper argues against this method: curvatures are unstable under noise and mistake
small, highly curved protrusions for polyps. With this detector the argument can be tested. Shape
index and curvedness find the domes (yoshida2001three in the paper); mean and Gaussian curvature
measure them (figueiredo2011automatic). There is no pre-selection.
"""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import cv2
import numpy as np

from capsieve.curvature.domes import Constants, Domes, find_domes
from capsieve.detector import ReferenceRange, demo_range
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_pixels
from capsieve.paper.algorithm import preprocess
from capsieve.parameters import Parameters
from capsieve.results import Evidence, FrameResult, Spot

SCORING_VERSION = 1
"""Raised with any change of the method that changes scores."""

_PREPROCESSING = ("width", "mask_radius", "channel", "vignetting", "extension_slope")
_SMALLEST_SIDE = 16  # working pixels


@dataclass(frozen=True, slots=True)
class CurvatureDetector:
    """Scores a frame by its largest dome, as the radius of a half-ball in working pixels.

    Attributes
    ----------
    parameters
        Those of the paper's pre-processing are used.
    constants
        Rules for domes.
    name
        Its name on the command line.
    value_names
        Measures of the best dome: its total curvature in half-balls; the largest sigma sqrt(K) of
        any point of any dome; its area in working pixels; its mean shape index; its mean
        curvedness times the scale; the scale in working pixels. All but the second are 0 without a
        dome.
    """

    parameters: Parameters = field(default_factory=Parameters)
    constants: Constants = field(default_factory=Constants)

    name = "curvature"
    value_names = (
        *("total_curvature", "peak_curvature", "area", "shape_index", "curvedness", "scale"),
    )

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines its scores."""
        return {
            "name": self.name,
            "scoring": SCORING_VERSION,
            "constants": asdict(self.constants) | {"scales": list(self.constants.scales)},
            "parameters": {each: getattr(self.parameters, each) for each in _PREPROCESSING},
        }

    @property
    def reference(self) -> ReferenceRange:
        """The demo study, on which its constants were chosen."""
        return demo_range()

    @property
    def score_threshold(self) -> float:
        """The radius in the constants, in working pixels."""
        return self.constants.least_radius * self.parameters.width

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the result for one frame."""
        domes, placement, _ = self._domes(frame, field_of_view)
        peak = max(each.peak for each in domes)
        best = _best(domes).best
        score, place, values = 0.0, None, (0.0, peak, 0.0, 0.0, 0.0, 0.0)
        if best is not None:
            score = best.radius
            reach = placement.length_to_source(math.sqrt(best.pixels / math.pi))
            place = Spot(*placement.to_source(best.row, best.col), reach)
            area = float(best.pixels)
            values = (best.total, peak, area, best.shape, best.curvedness, best.sigma)
        flagged = 0.0 < score >= self.score_threshold
        return FrameResult(
            label="polyp" if flagged else "normal",
            reason="polyp" if flagged else "score-low",
            score=score,
            texture_max=math.nan,
            radius_max=0,
            features=(),
            placement=placement,
            values=values,
            found=place,
        )

    def evidence(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> Evidence:
        """Return how much each pixel adds to the radius of its dome, for all domes of a scale."""
        domes, placement, (rows, cols) = self._domes(frame, field_of_view)
        # From (col, row) of the source to the working frame, which WARP_INVERSE_MAP needs.
        to_working = np.array(
            [
                [1 / placement.col_scale, 0, -placement.col_offset / placement.col_scale],
                [0, 1 / placement.row_scale, -placement.row_offset / placement.row_scale],
            ]
        )
        shown = np.zeros((rows, cols), np.float32)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cv2.warpAffine(_best(domes).density, to_working, (cols, rows), dst=shown, flags=flags)
        return Evidence(map=shown)

    def _domes(
        self, frame: FrameLike, field_of_view: FieldOfView | None
    ) -> tuple[list[Domes], Placement, tuple[int, int]]:
        """Domes at each scale, the place of the working frame, and the size of the source."""
        pixels = checked_pixels(frame)
        placement, mask, surface = preprocess(
            pixels, self.parameters, field_of_view, _SMALLEST_SIDE
        )
        domes = find_domes(surface, mask.inside, self.constants)
        return domes, placement, (pixels.shape[0], pixels.shape[1])


def _best(domes: list[Domes]) -> Domes:
    """The scale with the largest dome."""
    return max(domes, key=lambda each: each.best.radius if each.best else 0.0)
