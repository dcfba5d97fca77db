"""``--detector curvature``: frames by the largest dome of the surface that their light draws.

The paper's introduction names this way and argues against it: curvatures are unstable under noise
and take small highly curved protrusions for polyps. It stands here so that the argument can be
checked. Shape index and curvedness find the domes (there yoshida2001three); mean and Gaussian
curvature measure them (there figueiredo2011automatic). There is no pre-selection.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import cv2
import numpy as np

from capsieve.curvature.constants import Constants
from capsieve.curvature.domes import best_dome
from capsieve.detector import ReferenceRange, demo_range, score_each
from capsieve.errors import FrameError
from capsieve.frames import FieldOfView, FrameLike, checked_pixels
from capsieve.paper.algorithm import preprocess
from capsieve.parameters import Parameters
from capsieve.results import Evidence, FrameResult, Spot

__all__ = ["CurvatureDetector"]

_READ = ("width", "mask_radius", "channel", "vignetting", "extension_slope")
_SMALLEST_SIDE = 16  # working pixels; less has no room for a dome


@dataclass(frozen=True, slots=True)
class CurvatureDetector:
    """The largest dome of a frame, as the radius of a half-ball in working pixels.

    Parameters
    ----------
    parameters
        Of them those of the paper's pre-processing count, and `score_threshold`.
    constants
        What counts as a dome.
    """

    parameters: Parameters = field(default_factory=Parameters)
    constants: Constants = field(default_factory=Constants)

    @property
    def name(self) -> str:
        """How it is called on the command line."""
        return "curvature"

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides about its scores and flags."""
        constants = asdict(self.constants)
        return {
            "name": self.name,
            "threshold": self.score_threshold,
            "constants": constants | {"scales": list(self.constants.scales)},
            "parameters": {each: getattr(self.parameters, each) for each in _READ},
        }

    @property
    def reference(self) -> ReferenceRange:
        """The demo study of the phantom, on which its constants were chosen."""
        return demo_range()

    @property
    def score_threshold(self) -> float:
        """`score_threshold`, or the radius that the constants give, in working pixels."""
        chosen = self.parameters.score_threshold
        return self.constants.least_radius * self.parameters.width if chosen is None else chosen

    @property
    def value_names(self) -> tuple[str, ...]:
        """The measures of the best dome; all but the second are 0 where there is none.

        total_curvature
            Integral of the Gaussian curvature, in half-balls.
        peak_curvature
            The largest scale times root of the Gaussian curvature of any point of any dome.
        area
            Working pixels that it covers.
        shape_index, curvedness
            Means over it; the curvedness times the scale.
        scale
            Standard deviation of the Gaussian that shows it, in working pixels.
        """
        return (
            "total_curvature",
            "peak_curvature",
            "area",
            "shape_index",
            "curvedness",
            "scale",
        )

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the outcome for one frame."""
        pixels = checked_pixels(frame)
        placement, mask, surface = preprocess(
            pixels, self.parameters, field_of_view, _SMALLEST_SIDE
        )
        dome, peak, _ = best_dome(surface, mask.inside, self.constants)
        score, found, values = 0.0, None, (0.0, peak, 0.0, 0.0, 0.0, 0.0)
        if dome is not None:
            score = dome.radius
            reach = placement.length_to_source(math.sqrt(dome.pixels / math.pi))
            found = Spot(*placement.to_source(dome.row, dome.col), reach)
            measures = (float(dome.pixels), dome.shape, dome.curvedness, dome.sigma)
            values = (dome.total, peak, *measures)
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
            found=found,
        )

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame what :meth:`score` returns, or the error that it raises."""
        return score_each(self, frames, fields_of_view)

    def evidence(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> Evidence:
        """Return what each pixel of the source adds to the radius of its dome, per working pixel.

        Domes that are not the best are shown as well.
        """
        pixels = checked_pixels(frame)
        placement, mask, surface = preprocess(
            pixels, self.parameters, field_of_view, _SMALLEST_SIDE
        )
        _, _, density = best_dome(surface, mask.inside, self.constants)
        rows, cols = pixels.shape[:2]
        # From the source's (col, row) to the working frame's, as warpAffine wants it here.
        to_working = np.array(
            [
                [1 / placement.col_scale, 0, -placement.col_offset / placement.col_scale],
                [0, 1 / placement.row_scale, -placement.row_offset / placement.row_scale],
            ]
        )
        how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        shown = np.zeros((rows, cols), np.float32)
        cv2.warpAffine(density, to_working, (cols, rows), dst=shown, flags=how)
        return Evidence(map=shown)
