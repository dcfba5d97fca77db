"""Features of a frame: measured numbers with a description.

The paper's quantities at three scales, domes of the surface of grey values, colour, sharpness, and
bright and dark spots. Except for the paper's quantities they are measured at half the working
width, which is enough for anything larger than a few pixels; a position (row, col) there is
(2 row + 1/2, 2 col + 1/2) in the working frame. docs/features.md describes them for users.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import cv2
import numpy as np
import scipy.fft
from numpy.typing import NDArray

from capsieve.curvature.domes import Constants, find_domes
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_pixels
from capsieve.paper.algorithm import algorithm1, preprocess
from capsieve.paper.many_settings import Memoised
from capsieve.paper.mask import CircularMask
from capsieve.paper.working_frame import resample
from capsieve.parameters import Parameters
from capsieve.results import Feature, FrameResult

VERSION = 2
"""Raised with any change of a value or of the order: a model states the version it uses."""


class FeatureDescription(NamedTuple):
    """Name (``group.what``), unit and description; "log" is the natural logarithm of a ratio."""

    name: str
    unit: str
    description: str


_SCALES = {"small": (3.5, 15.0, 0.5), "middle": (7.0, 30.0, 1.0), "large": (10.0, 43.0, 1.43)}
"""sigma_1 and sigma_2 of the mid-pass filter, and the factor on the bounds of a bump's diameter."""

_DOME_SCALES = {"fine": 1 / 40, "coarse": 1 / 25}
"""Standard deviations of the smoothing, in widths of the frame."""

_BANDS = (2, 4, 8, 16, 32, 64)
"""Limits of the bands of the spectrum, in waves across the field of view."""

_BUMP = (
    ("max", "share", "Largest contrast of a {} bump with its surround (max u)."),
    ("count", "bumps", "Number of {} bumps that have the size and shape of a polyp (K_G)."),
    ("radius", "pixels", "Radius of the largest ball that fits a {} bump (R_max); 0: none."),
    ("size", "share", "Area of that {} bump, as a share of the field of view; 0: none."),
    ("roundness", "0..1", "Roundness of that {} bump, 1 for a disc, near 0 for a fold; 0: none."),
    ("contrast", "log", "Brightness of that {} bump against the ring around it; 0: none."),
    ("distance", "0..1", "Distance of that {} bump from the centre; 1: none."),
)
_DOME = (
    ("radius", "share", "Radius of the largest {} dome as a half-ball, in widths; 0: none."),
    ("turn", "half-balls", "Total curvature of that {} dome: 1 for a half-ball."),
    ("area", "share", "Area of that {} dome, as a share of the field of view."),
    ("shape", "0..1", "Shape index of that {} dome: 1 for a cap, 0.6 for nearly a ridge."),
    ("bend", "share", "Mean curvedness of that {} dome."),
    ("peak", "share", "Largest curvature of any {} dome."),
)
_OTHERS = (
    ("colour.a-range", "Lab a", "Range from the greenest to the reddest tenth."),
    ("colour.red-share", "share", "Share of the field of view that is clearly redder."),
    ("colour.green-share", "share", "Share that is clearly greener (intestinal content)."),
    *(
        (f"sharpness.band-{low}", "log", f"Contrast of structures of {low} to {high} waves.")
        for low, high in pairwise(_BANDS)
    ),
    ("sharpness.slope", "log", "Change of contrast per octave: steep if the frame is blurred."),
    ("sharpness.laplacian", "log", "Sharpness of edges relative to the contrast."),
    ("sharpness.detail", "log", "Fine detail, median."),
    ("sharpness.detail-low", "log", "Fine detail in the smoothest tenth against the median."),
    ("sharpness.detail-high", "log", "Fine detail in the roughest tenth against the median."),
    ("sharpness.contrast", "share", "Standard deviation of the smoothed brightness."),
    ("spots.highlight-share", "share", "Share of the field of view with specular highlights."),
    ("spots.highlight-count", "log", "Number of highlights; log(1 + count)."),
    ("spots.bubbles", "log", "Number of small bright round spots; log(1 + count)."),
    ("spots.pits", "log", "Number of small dark round spots; log(1 + count)."),
    ("spots.bright", "log", "Brightest twentieth against the median."),
    ("spots.dark-share", "share", "Share that is dark (lumen, or far away)."),
    ("spots.lumen", "log", "Brightness of the darkest large region (the lumen)."),
    ("spots.lumen-distance", "0..1", "Distance of that region from the centre."),
    ("spots.middle", "log", "Brightness of the centre against the outer part."),
)
DESCRIPTIONS: tuple[FeatureDescription, ...] = (
    FeatureDescription("bump.texture", "levels", "Largest texture energy (the paper's T_max)."),
    *(
        FeatureDescription(f"{group}.{what}-{scale}", unit, text.format(scale))
        for group, scales, entries in (("bump", _SCALES, _BUMP), ("dome", _DOME_SCALES, _DOME))
        for scale in scales
        for what, unit, text in entries
    ),
    *(FeatureDescription(*entry) for entry in _OTHERS),
)
"""Name, unit and description of each value, in their order."""

NAMES: tuple[str, ...] = tuple(feature.name for feature in DESCRIPTIONS)
"""The names of the features."""

_PAPER = Parameters()


class FrameFeatures(NamedTuple):
    """The values of :data:`DESCRIPTIONS` (float32, all finite) and the result of ``analyze``."""

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
    >>> from capsieve.learned.features import NAMES, frame_features
    >>> measured = frame_features(capsieve.phantom.polyp_frame())
    >>> dict(zip(NAMES, measured.values))["bump.count-middle"].item()
    1.0
    """
    pixels, step = checked_pixels(frame, value_range=value_range), Memoised()

    def analyse(parameters: Parameters) -> FrameResult:
        return algorithm1(pixels, parameters, field_of_view, step=step, stop_early=False)

    result = algorithm1(pixels, _PAPER, field_of_view, step=step)
    side = _PAPER.derived.smallest_side
    grid, mask, even = preprocess(pixels, _PAPER, field_of_view, side, step=step)
    planes = _planes(pixels, grid, mask, even)
    values = [
        result.texture_max,
        *_bumps(planes, grid.rows, analyse),
        *_domes(planes),
        *_colour(planes),
        *_sharpness(planes),
        *_spots(planes),
    ]
    return FrameFeatures(np.array(values, np.float32), result)


Plane = NDArray[Any]  # float32; the annotations of OpenCV have no types of pixels

_MUCOSA = np.array([170.0, 110.0, 80.0], np.float32)  # a typical colour; the median is scaled to it
_LARGEST_GAIN = 20.0
_STRONGEST_DETAIL = 0.1  # of the median light: stronger ones are highlights
_LEAST_DETAIL = 0.003


@dataclass(frozen=True, slots=True, eq=False)
class _Planes:
    """The frame at half the working width: float32 images, and the mask."""

    mask: NDArray[np.bool_]
    distance: Plane  # from the centre, in radii of the mask
    gray: Plane  # 0..255
    gray_median: float  # at least 1
    light: Plane  # f of the paper divided by its median
    fine: Plane  # `light` smoothed with sigma = 1.5
    smooth: Plane  # `light` smoothed with sigma = 2
    a: Plane  # of CIE Lab, after each colour was scaled so that the median is that of mucosa
    white: Plane  # the smallest of red, green and blue, 0..255


def _planes(pixels: NDArray[Any], grid: Placement, disc: CircularMask, even: Plane) -> _Planes:
    rows, cols = even.shape[0] // 2, even.shape[1] // 2
    mask, distance = _mask(rows, cols, *disc.centre, disc.radius)
    colours = _colours(pixels, grid, rows, cols)
    medians = [_quantiles(channel[mask], 0.5)[0] for channel in cv2.split(colours)]
    gains = np.minimum(_MUCOSA / np.maximum(medians, 1.0), _LARGEST_GAIN) / 255.0
    lab = cv2.cvtColor(np.minimum(colours * np.float32(gains), 1.0), cv2.COLOR_RGB2LAB)
    gray = cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY)
    light = _halved(even)
    light = np.maximum(light / np.float32(max(_quantiles(light[mask], 0.5)[0], 1.0)), 0.02)
    return _Planes(
        mask=mask,
        distance=distance,
        gray=gray,
        gray_median=max(_quantiles(gray[mask], 0.5)[0], 1.0),
        light=light,
        fine=_blurred(light, 1.5),
        smooth=_blurred(light, 2.0),
        a=cv2.extractChannel(lab, 1),
        white=colours.min(axis=2),
    )


@lru_cache(maxsize=32)
def _mask(
    rows: int, cols: int, centre_row: float, centre_col: float, radius: float
) -> tuple[NDArray[np.bool_], Plane]:
    """Return the mask and the distance from its centre; centre and radius in working pixels."""
    down = 2.0 * np.arange(rows) + 0.5 - centre_row
    across = 2.0 * np.arange(cols) + 0.5 - centre_col
    distance = (np.hypot(down[:, None], across) / radius).astype(np.float32)
    return distance <= 1.0, distance


def _colours(pixels: NDArray[Any], grid: Placement, rows: int, cols: int) -> Plane:
    half = Placement(
        rows,
        cols,
        2.0 * grid.row_scale,
        2.0 * grid.col_scale,
        grid.row_offset + 0.5 * grid.row_scale,
        grid.col_offset + 0.5 * grid.col_scale,
    )
    # Bicubic enlargement of a small source overshoots.
    image = np.clip(resample(pixels, half).astype(np.float32), 0.0, 255.0)
    return image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)


def _bumps(planes: _Planes, rows: int, analyse: Callable[[Parameters], FrameResult]) -> list[float]:
    """The paper's quantities at each scale, also if pre-selection rejects the frame."""
    values: list[float] = []
    for scale in _SCALES:
        parameters = _scale_parameters(scale)
        largest, count, best = 0.0, 0.0, None
        if rows >= parameters.derived.smallest_side:
            result = analyse(parameters)
            largest, best = result.midpass_max or 0.0, result.best
            count = float(sum(feature.radius > 0 for feature in result.features))
        bump = (0.0, 0.0, 0.0, 0.0, 1.0) if best is None else _best_bump(best, planes)
        values += [largest, count, *bump]
    return values


@cache
def _scale_parameters(scale: str) -> Parameters:
    fine, coarse, factor = _SCALES[scale]
    derived = _PAPER.derived
    return Parameters(
        midpass_fine=fine,
        midpass_coarse=coarse,
        size_low=round(derived.size_low * factor**2),
        size_high=round(derived.size_high * factor**2),
    )


def _best_bump(bump: Feature, planes: _Planes) -> tuple[float, ...]:
    rows, cols = planes.mask.shape
    row, col = 0.5 * bump.ball_row - 0.25, 0.5 * bump.ball_col - 0.25
    # The disc with the bump's area: R_opt also depends on its height.
    radius = 0.5 * math.sqrt(bump.size / math.pi)
    away = np.hypot(np.arange(rows)[:, None] - row, np.arange(cols) - col) / radius
    inside = planes.light[planes.mask & (away <= 0.85)]  # the edge belongs to neither
    ring = planes.light[planes.mask & (away >= 1.2) & (away <= 1.75)]
    contrast = 0.0
    if inside.size and ring.size:
        contrast = math.log((inside.mean() + 1e-3) / (ring.mean() + 1e-3))
    place = min(max(round(row), 0), rows - 1), min(max(round(col), 0), cols - 1)
    return (
        float(bump.radius),
        bump.size / (4.0 * np.count_nonzero(planes.mask)),
        1.0 / bump.eccentricity,
        contrast,
        min(float(planes.distance[place]), 1.0),
    )


def _domes(planes: _Planes) -> list[float]:
    """The largest dome at each scale of the light, of which 100 is the median."""
    surface = planes.light * np.float32(100.0)
    area = max(np.count_nonzero(planes.mask), 1)
    values: list[float] = []
    for domes in find_domes(surface, planes.mask, Constants(scales=tuple(_DOME_SCALES.values()))):
        best = domes.best
        if best is None:
            values += [0.0, 0.0, 0.0, 0.0, 0.0, domes.peak]
        else:
            size, share = best.radius / surface.shape[1], best.pixels / area
            values += [size, best.total, share, best.shape, best.curvedness, domes.peak]
    return values


def _colour(planes: _Planes) -> list[float]:
    """Differences only: how red the mucosa is as such differs between devices."""
    a = planes.a[planes.mask]
    low, median, high = _quantiles(a, 0.1, 0.5, 0.9)
    clearly = 8.0  # steps of Lab a
    red, green = a > median + clearly, a < median - clearly
    return [high - low, float(red.mean()), float(green.mean())]


def _sharpness(planes: _Planes) -> list[float]:
    light, mask = planes.light, planes.mask
    window, bands, norm = _bands(*light.shape)
    level = np.float32((light * window).sum(dtype=float) / max(window.sum(dtype=float), 1e-9))
    waves = np.asarray(scipy.fft.fft2((light - level) * window))
    power = np.abs(waves).astype(np.float64) ** 2
    sums = np.bincount(bands.ravel(), power.ravel(), minlength=len(_BANDS) + 1)
    logs = 0.5 * np.log(sums[1 : len(_BANDS)] / norm + 1e-7)
    octaves = np.arange(len(logs)) - (len(logs) - 1) / 2
    detail = np.minimum(np.abs(light - planes.fine), np.float32(_STRONGEST_DETAIL))
    detail = np.log(_blurred(detail, 2.0) / planes.smooth + np.float32(_LEAST_DETAIL))
    low, median, high = _quantiles(detail[mask], 0.1, 0.5, 0.9)
    laplacian = cv2.Laplacian(light, cv2.CV_32F)[mask].std(dtype=float)
    contrast = (light - _blurred(light, 4.0))[mask].std(dtype=float)
    return [
        *logs.tolist(),
        float(octaves @ logs / (octaves @ octaves)),
        math.log((laplacian + 1e-4) / (contrast + 1e-3)),
        median,
        low - median,
        high - median,
        float(planes.smooth[mask].std(dtype=float)),
    ]


@lru_cache(maxsize=16)
def _bands(rows: int, cols: int) -> tuple[Plane, NDArray[np.int64], float]:
    """Return a round Hann window, the band of each wave, and the power of a wave of height 1."""
    y = (np.arange(rows) - (rows - 1) / 2) / (0.45 * rows)
    x = (np.arange(cols) - (cols - 1) / 2) / (0.45 * cols)
    window = 0.5 + 0.5 * np.cos(np.pi * np.minimum(np.hypot(y[:, None], x), 1.0))
    waves = np.hypot(np.fft.fftfreq(rows)[:, None] * cols, np.fft.fftfreq(cols) * cols)
    window = window.astype(np.float32)
    return window, np.digitize(waves, _BANDS), float((window**2).sum()) * rows * cols


def _spots(planes: _Planes) -> list[float]:
    mask, distance, gray, median = planes.mask, planes.distance, planes.gray, planes.gray_median
    inside = gray[mask]
    # Highlights are small, white and far brighter than their surround.
    excess = cv2.morphologyEx(planes.white, cv2.MORPH_TOPHAT, np.ones((9, 9), np.uint8))
    highlights = mask & (excess > 0.3 * median)
    count = cv2.connectedComponents(highlights.astype(np.uint8), connectivity=8)[0] - 1
    band, around = planes.fine - _blurred(planes.light, 3.0), np.ones((5, 5), np.uint8)
    bubbles = mask & (band >= cv2.dilate(band, around)) & (band > 0.03)
    pits = mask & (band <= cv2.erode(band, around)) & (band < -0.03)
    wide, away = _blurred(_halved(gray), 4.0), _halved(distance)
    lumen = np.unravel_index(np.where(away > 0.85, np.inf, wide).argmin(), wide.shape)
    centre, outer = gray[distance <= 0.5], gray[mask & (distance > 0.7)]
    return [
        np.count_nonzero(highlights) / inside.size,
        math.log1p(count),
        math.log1p(np.count_nonzero(bubbles)),
        math.log1p(np.count_nonzero(pits)),
        math.log((_quantiles(inside, 0.95)[0] + 1.0) / (median + 1.0)),
        float((inside < 0.45 * median).mean()),
        math.log(max(float(wide[lumen]) / median, 0.02)),
        float(away[lumen]),
        math.log((_mean(centre) + 1.0) / (_mean(outer) + 1.0)),
    ]


def _quantiles(values: Plane, *shares: float) -> list[float]:
    """Return quantiles, each the nearest value below."""
    ranks = [int(share * (values.size - 1)) for share in shares]
    return np.partition(values, ranks)[ranks].tolist()


def _mean(values: Plane) -> float:
    return float(values.mean(dtype=float)) if values.size else 0.0


def _blurred(plane: Plane, sigma: float) -> Plane:
    return cv2.GaussianBlur(plane, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)


def _halved(plane: Plane) -> Plane:
    """Return the means over 2 x 2 pixels; an odd last row or column is left out."""
    rows, cols = plane.shape[0] // 2, plane.shape[1] // 2
    even = np.ascontiguousarray(plane[: 2 * rows, : 2 * cols])
    return cv2.resize(even, (cols, rows), interpolation=cv2.INTER_AREA)
