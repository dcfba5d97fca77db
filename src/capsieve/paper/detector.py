"""Algorithm 1 of the paper: a thin composer over its steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView, FrameLike
from capsieve.paper.resample import resample
from capsieve.paper.staged import Stages, analyze_each
from capsieve.parameters import Parameters
from capsieve.results import Explanation, FrameResult

__all__ = ["analyze", "explain"]

_PAPER = Parameters()


def analyze(
    frame: FrameLike,
    parameters: Parameters = _PAPER,
    field_of_view: FieldOfView | None = None,
    value_range: tuple[float, float] | None = None,
) -> FrameResult:
    """Run the paper's Algorithm 1 on one frame.

    Parameters
    ----------
    frame
        A :class:`~capsieve.Frame` or its pixels: grey, RGB or RGBA, of any size.
    parameters
        The paper's table by default.
    field_of_view
        Where the image lies on the frame, from :func:`capsieve.find_field_of_view`. Its circle
        gets the radius Nx/2 about the paper's centre. Without it, or where its confidence is 0, the
        whole frame is brought to the working width.
    value_range
        The values of black and white; must be stated for floating-point pixels.

    Returns
    -------
    FrameResult
        Label, named reason, score, T_max, R_max and every feature.

    Raises
    ------
    FrameError
        The frame cannot be analysed.

    Examples
    --------
    >>> import capsieve
    >>> capsieve.analyze(capsieve.phantom.polyp_frame()).label
    'polyp'
    """
    (result,) = analyze_each(frame, (parameters,), field_of_view, value_range)
    return result


def explain(
    frame: FrameLike,
    parameters: Parameters = _PAPER,
    field_of_view: FieldOfView | None = None,
    value_range: tuple[float, float] | None = None,
) -> Explanation:
    """Run Algorithm 1 on one frame and keep every intermediate image.

    The arguments are those of :func:`analyze`, and so is the outcome; but the geometry is computed
    even where pre-selection rejects the frame.
    """
    images: dict[str, Any] = {}
    with Stages(frame, field_of_view, value_range, images=images) as stages:
        stages.check(parameters)
        result = stages.result(parameters)
        found = stages.geometry(parameters)  # fills the images, whatever pre-selection says
    shown = _for_display(resample(stages.pixels, result.placement))
    return Explanation(
        label=result.label,
        reason=result.reason,
        score=result.score,
        texture_max=result.texture_max,
        radius_max=result.radius_max,
        features=found.features,
        placement=result.placement,
        midpass_max=found.midpass_max,
        threshold=found.threshold,
        frame=shown,
        **images,
    )


def _for_display(working: NDArray[Any]) -> NDArray[np.uint8]:
    shown = working if working.dtype == np.uint8 else np.round(working).astype(np.uint8)
    return shown.copy() if shown.ndim == 3 else np.repeat(shown[:, :, None], 3, axis=2)
