"""Algorithm 1 of the paper: a thin composer over its steps."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.aperture.field import FieldOfView
from capsieve.errors import FrameError, ParameterError
from capsieve.frames import FrameLike, checked_pixels
from capsieve.paper.decision import decide, preselection
from capsieve.paper.disc import Disc, disc
from capsieve.paper.extension import extend
from capsieve.paper.geometry import find_features
from capsieve.paper.gray import channel_of
from capsieve.paper.midpass import midpass
from capsieve.paper.resample import place_circle, place_frame, resample
from capsieve.paper.scratch import scratch
from capsieve.paper.segmentation import threshold
from capsieve.paper.texture import cartoon_texture, texture_energy
from capsieve.paper.vignetting import correct_vignetting
from capsieve.parameters import Channel, Derived, Parameters
from capsieve.placement import Placement
from capsieve.results import Explanation, FrameResult

__all__ = ["analyze", "explain"]

_PAPER = Parameters()
_SMALLEST_SOURCE = 21  # the width of the texture kernel: less than that is not a picture
_TALLEST = 4  # times the width: the working frame would grow without bound
_CIRCLE_SLACK = 2.0  # pixels by which a found circle may stick out of the frame


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
        Where the picture lies on the frame, from :func:`capsieve.field_of_view`. Its circle gets
        the radius Nx/2 about the paper's centre. Without it, or where its confidence is 0, the
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
    pixels, placement = _placed(frame, parameters, field_of_view, value_range)
    return FrameResult(**_outcome(pixels, placement, parameters), placement=placement)


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
    pixels, placement = _placed(frame, parameters, field_of_view, value_range)
    images: dict[str, Any] = {"frame": _for_display(resample(pixels, placement))}
    outcome = _outcome(pixels, placement, parameters, images)
    return Explanation(**outcome, **images, placement=placement)


@lru_cache(maxsize=64)
def _derived(parameters: Parameters) -> Derived:
    return parameters.derived


def _placed(
    frame: FrameLike,
    parameters: Parameters,
    field_of_view: FieldOfView | None,
    value_range: tuple[float, float] | None,
) -> tuple[NDArray[Any], Placement]:
    """Return the checked pixels, and where the working frame lies on them."""
    _check_kinds(parameters, field_of_view)
    pixels = checked_pixels(frame, value_range=value_range)
    rows, cols = pixels.shape[:2]
    smallest = _derived(parameters).smallest_side
    if field_of_view is None or field_of_view.confidence == 0.0:
        if rows > _TALLEST * cols:
            raise FrameError(
                f"the frame is {rows} x {cols}: more than {_TALLEST} times as high as wide; crop "
                "it, or give a field of view"
            )
        placement = place_frame(rows, cols, width=parameters.width)
    else:
        circle = field_of_view
        _check_circle(rows, cols, circle)
        placement = place_circle(circle.row, circle.col, circle.radius, width=parameters.width)
    if min(rows, cols) < _SMALLEST_SOURCE or placement.rows < smallest:
        raise FrameError(
            f"a frame of {rows} x {cols} pixels is too small: at least {_SMALLEST_SOURCE} each way "
            f"are needed, and {smallest} rows at the working width of {parameters.width}"
        )
    return pixels, placement


def _check_kinds(parameters: object, field_of_view: object) -> None:
    if not isinstance(parameters, Parameters):
        raise ParameterError("parameters", f"must be Parameters, not {type(parameters).__name__}")
    if not isinstance(field_of_view, FieldOfView | None):
        kind = type(field_of_view).__name__
        raise FrameError(f"field_of_view must be a FieldOfView or None, not {kind}")


def _check_circle(rows: int, cols: int, circle: FieldOfView) -> None:
    if 2.0 * circle.radius < _SMALLEST_SOURCE:
        raise FrameError(
            f"a field of view of radius {circle.radius:g} pixels is too small; at least "
            f"{_SMALLEST_SOURCE / 2:g} are needed"
        )
    reach = circle.radius - _CIRCLE_SLACK
    if (
        circle.row - reach < -0.5
        or circle.col - reach < -0.5
        or circle.row + reach > rows - 0.5
        or circle.col + reach > cols - 0.5
    ):
        raise FrameError(
            f"the field of view (row {circle.row:g}, col {circle.col:g}, radius "
            f"{circle.radius:g}) does not fit a frame of {rows} x {cols} pixels; was it found on "
            "frames of another size?"
        )


def _for_display(working: NDArray[Any]) -> NDArray[np.uint8]:
    shown = working if working.dtype == np.uint8 else np.round(working).astype(np.uint8)
    return shown.copy() if shown.ndim == 3 else np.repeat(shown[:, :, None], 3, axis=2)


def _outcome(
    pixels: NDArray[Any],
    placement: Placement,
    parameters: Parameters,
    images: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the fields of a result; with `images`, fill it and go on after a rejection."""
    circle = disc(placement.rows, placement.cols, _derived(parameters).mask_radius)
    frame = _preprocess(pixels, placement, circle, parameters, images)
    texture_max = _texture(frame, circle, parameters, images)
    failed = preselection(texture_max, parameters)
    outcome: dict[str, Any] = {"texture_max": texture_max, "features": ()}
    if not failed or images is not None:
        outcome.update(_geometry(frame, circle, parameters, images))
    label, reason, radius_max = (
        ("normal", failed, 0) if failed else decide(outcome["features"], parameters)
    )
    outcome.update(label=label, reason=reason, radius_max=radius_max, score=float(radius_max))
    return outcome


def _preprocess(
    pixels: NDArray[Any],
    placement: Placement,
    circle: Disc,
    parameters: Parameters,
    images: dict[str, Any] | None,
) -> NDArray[np.float32]:
    """Step 1: grey, even light, extension beyond the mask. Returns f in a scratch buffer."""
    shape = (circle.rows, circle.cols)
    gray = _channel(pixels, placement, parameters.channel)
    frame = scratch("frame", shape)
    log_falloff = np.zeros(1)
    if parameters.vignetting:
        _, log_falloff = correct_vignetting(gray, circle, out=frame)
    else:
        frame[...] = gray
    if images is not None:
        images["gray"] = gray.copy()
        images["corrected"] = np.where(circle.mask, frame, gray)
        images["falloff"] = np.exp(log_falloff)
        images["mask"] = circle.mask
    extend(frame, circle, slope=parameters.extension_slope, out=frame)
    if images is not None:
        images["extended"] = frame.copy()
    return frame


def _channel(pixels: NDArray[Any], placement: Placement, channel: Channel) -> NDArray[np.float32]:
    """The channel of the working frame, in a scratch buffer.

    The paper's way is to bring the colours to the working width and then take the channel. Where
    the working frame is a mean over areas and the channel a weighted sum, the order does not
    matter, and one channel is a third of the work.
    """
    out = scratch("gray", (placement.rows, placement.cols))
    averaged = placement.row_scale > 1.0 and placement.col_scale > 1.0
    if averaged and channel != "lab-a" and pixels.ndim == 3:
        first = channel_of(pixels, channel=channel, out=scratch("source gray", pixels.shape[:2]))
        out[...] = resample(first, placement)
        return out
    return channel_of(resample(pixels, placement), channel=channel, out=out)


def _texture(
    frame: NDArray[np.float32],
    circle: Disc,
    parameters: Parameters,
    images: dict[str, Any] | None,
) -> float:
    """Step 2: the texture energy T. Returns T_max."""
    energy, texture_max = texture_energy(
        frame,
        circle,
        texture_sigma=parameters.texture_sigma,
        iterations=parameters.texture_iterations,
        energy_sigma=_derived(parameters).energy_sigma,
        power=parameters.energy_power,
        out=scratch("energy", frame.shape),
    )
    if images is not None:
        split = cartoon_texture(
            frame, sigma=parameters.texture_sigma, iterations=parameters.texture_iterations
        )
        images["cartoon"], images["texture"] = split.cartoon, split.texture
        images["energy"] = energy.copy()
    return texture_max


def _geometry(
    frame: NDArray[np.float32],
    circle: Disc,
    parameters: Parameters,
    images: dict[str, Any] | None,
) -> dict[str, Any]:
    """Steps 3 to 5: mid-pass filter, segmentation, features and their balls."""
    derived = _derived(parameters)
    protrusion, midpass_max = midpass(
        frame,
        circle,
        fine=parameters.midpass_fine,
        coarse=parameters.midpass_coarse,
        out=scratch("midpass", frame.shape),
    )
    theta = threshold(midpass_max, low=parameters.threshold_low, high=parameters.threshold_high)
    labels = np.zeros((0, 0) if images is None else frame.shape, np.int32)
    features = find_features(
        protrusion,
        theta,
        size_low=derived.size_low,
        size_high=derived.size_high,
        eccentricity_max=parameters.eccentricity_max,
        radius_search=derived.radius_search,
        labels=labels,
    )
    if images is not None:
        images["midpass"] = protrusion.copy()
        images["labels"], images["segmentation"] = labels, labels > 0
    return {"features": features, "midpass_max": midpass_max, "threshold": theta}
