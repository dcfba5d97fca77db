"""Algorithm 1 of the paper: binary classification of a frame with pre-selection."""

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_pixels
from capsieve.paper.features import component_labels
from capsieve.paper.mask import CircularMask
from capsieve.paper.steps import STEPS, Recorded, Steps
from capsieve.paper.working_frame import resample
from capsieve.parameters import Parameters
from capsieve.results import Explanation, FrameResult

_PAPER = Parameters()


def analyze(
    frame: FrameLike,
    parameters: Parameters = _PAPER,
    field_of_view: FieldOfView | None = None,
    value_range: tuple[float, float] | None = None,
) -> FrameResult:
    """Run Algorithm 1 on one frame.

    Parameters
    ----------
    frame
        Pixels: grey, RGB or RGBA, of any size.
    parameters
        The paper's values by default.
    field_of_view
        Where the image is on the frame, from :func:`capsieve.find_field_of_view`. Without it,
        or if its confidence is 0, the whole frame is analysed.
    value_range
        The values of black and white; required for floating-point pixels.

    Raises
    ------
    FrameError
        The frame cannot be analysed with these parameters.

    Examples
    --------
    >>> import capsieve
    >>> capsieve.analyze(capsieve.phantom.polyp_frame()).label
    'polyp'
    """
    return algorithm1(checked_pixels(frame, value_range=value_range), parameters, field_of_view)


def explain(
    frame: FrameLike,
    parameters: Parameters = _PAPER,
    field_of_view: FieldOfView | None = None,
    value_range: tuple[float, float] | None = None,
) -> Explanation:
    """Run Algorithm 1 on one frame and keep every intermediate image.

    The arguments are those of :func:`analyze`. Features are computed even if pre-selection rejects
    the frame; label, reason, score and R_max are those of :func:`analyze`.
    """
    pixels, step = checked_pixels(frame, value_range=value_range), Recorded()
    result = algorithm1(pixels, parameters, field_of_view, step=step, stop_early=False)
    images, mask = step.results, step.results["circular_mask"]
    shown = np.round(resample(pixels, result.placement)).astype(np.uint8)
    u = images["midpass"][0]
    labels = component_labels(u, images["segmentation_threshold"])
    everywhere = STEPS.circular_mask(mask.rows, mask.cols, math.inf)
    p = parameters
    return Explanation(
        **{each.name: getattr(result, each.name) for each in dataclasses.fields(result)},
        frame=shown if shown.ndim == 3 else np.repeat(shown[:, :, None], 3, axis=2),
        mask=mask.inside,
        gray=images["gray"],
        corrected=np.where(mask.inside, images["extend"], images["gray"]),
        extended=images["extend"],
        texture=STEPS.texture(
            images["extend"], images["spectrum"], p.texture_sigma, p.texture_iterations, everywhere
        ),
        energy=images["texture_energy"][0],
        midpass=u,
        segmentation=labels > 0,
        labels=labels,
    )


def algorithm1(
    pixels: NDArray[Any],
    p: Parameters,
    field_of_view: FieldOfView | None = None,
    *,
    step: Steps = STEPS,
    stop_early: bool = True,
) -> FrameResult:
    """Run Algorithm 1 on checked pixels.

    `step` has the step functions. Unless `stop_early`, features are computed even if pre-selection
    rejects the frame.
    """
    if not isinstance(p, Parameters):
        raise ParameterError("parameters", f"must be Parameters, not {type(p).__name__}")
    d = p.derived

    # Step 1: pre-processing
    grid, mask, f = preprocess(pixels, p, field_of_view, d.smallest_side, step=step)
    spectrum = step.spectrum(f)

    # Step 2: texture, T_max, pre-selection by T_L <= T_max <= T_U
    t = step.texture(f, spectrum, p.texture_sigma, p.texture_iterations, mask)
    _, texture_max = step.texture_energy(t, mask, d.energy_sigma, p.energy_power, p.stencil)
    failed = step.preselection(texture_max, p.texture_low, p.texture_high)
    features, midpass_max, theta = (), None, None

    if not (failed and stop_early):
        # Step 3: mid-pass filter u, segmentation at Theta, connected components
        fine = step.smooth(f, p.midpass_fine, p.stencil, mask, spectrum)
        coarse = step.smooth(f, p.midpass_coarse, p.stencil, mask, spectrum)
        u, midpass_max = step.midpass(fine, coarse, mask)
        theta = step.segmentation_threshold(midpass_max, p.threshold_low, p.threshold_high)
        components = step.components(u, theta)

        # Steps 4 and 5: size and eccentricity; best-fit ball of each component that passes both
        labels = step.component_labels(u, theta) if p.ball_fit == "feature" else None
        rules = (d.size_low, d.size_high, p.eccentricity_max)
        ball = (d.radius_search, p.ball_fit, step.best_ball)
        features = step.features(u, labels, components, *rules, *ball)

    # Step 6: classification by R_max >= R_P
    label, reason, radius_max = step.classify(features, failed, p.radius_threshold)
    return FrameResult(
        label=label,
        reason=reason,
        score=float(radius_max),
        texture_max=texture_max,
        radius_max=radius_max,
        features=features,
        placement=grid,
        midpass_max=midpass_max,
        segmentation_threshold=theta,
    )


def preprocess(
    pixels: NDArray[Any],
    p: Parameters,
    field_of_view: FieldOfView | None,
    smallest_side: int,
    *,
    step: Steps = STEPS,
) -> tuple[Placement, CircularMask, NDArray[np.float32]]:
    """Return the working grid, the mask and the pre-processed frame f (step 1).

    `smallest_side` is the number of rows that later steps need.
    """
    rows, cols = pixels.shape[:2]
    grid = step.working_grid(rows, cols, p.width, smallest_side, field_of_view)
    mask = step.circular_mask(grid.rows, grid.cols, p.derived.mask_radius)
    gray = step.gray(pixels, grid, p.channel)
    even = step.correct_vignetting(gray, mask) if p.vignetting else gray
    return grid, mask, step.extend(even, mask, p.extension_slope)
