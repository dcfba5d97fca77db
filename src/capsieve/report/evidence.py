"""The evidence for a decision about a frame: words, values, shapes, maps, figure and JSON.

It is composed once, from the result of a detector, and used by ``capsieve explain``, its JSON and
the review app.
"""

import dataclasses
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.detector import Detector
from capsieve.detectors import parameters_of, rule_parameter
from capsieve.frames import FieldOfView, Placement
from capsieve.parameters import Parameters
from capsieve.report import page, words
from capsieve.report.words import FrameFlag
from capsieve.results import Evidence, Explanation, Feature, FrameResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = 2
"""Version of the JSON object."""

OVERLAY = (0, 229, 255)
"""Colour of maps: not a colour of tissue, and distinct from yellow for everyone."""

_STRONGEST = 0.5  # opacity at the highest value of a map: the tissue remains visible

Map = NDArray[np.float32]


class Value(NamedTuple):
    """A number that a rule compares with bounds, and whether the frame meets the rule."""

    name: str
    words: str
    value: float | None
    low: float | None
    high: float | None
    holds: bool


class Ball(NamedTuple):
    """A best-fit ball, or the place that another detector points at, in the frame's pixels."""

    row: float
    col: float
    radius: float
    best: bool


class Ellipse(NamedTuple):
    """An ellipse of inertia in the frame's pixels: semi-axes, and the angle of the longer one."""

    row: float
    col: float
    major: float
    minor: float
    angle: float
    rejected: str


@dataclass(frozen=True, slots=True, eq=False)
class FrameEvidence:
    """The evidence for one frame.

    Attributes
    ----------
    result
        Of the detector, with the stored label and reason of a frame of a screened exam; an
        Explanation if the detector is the paper's.
    words
        Lines of text, the decision first.
    values, balls, ellipses
        What rules compare, and shapes.
    maps
        Levels from 0 to 1 by name: on the working grid of the paper's detector, or of the size of
        the frame.
    """

    pixels: NDArray[Any]
    detector: Detector
    result: FrameResult | Explanation
    flag: FrameFlag | None
    threshold: float | None
    given: Evidence
    words: list[str]
    values: list[Value]
    balls: list[Ball]
    ellipses: list[Ellipse]
    maps: Mapping[str, Map]

    def overlay(self, name: str) -> bytes | None:
        """Return a map as PNG of the frame's size, transparent at 0; None if there is none."""
        levels = self.maps.get(name)
        if levels is None:
            return None
        rows, cols = self.pixels.shape[:2]
        if levels.shape != (rows, cols) or isinstance(self.result, Explanation):
            levels = _on_source(levels, self.result.placement, (rows, cols))
        return _png(_overlay(np.clip(np.nan_to_num(levels), 0, 1)))

    def figure(self) -> "Figure":
        """Draw the steps of the paper's algorithm, or the frame and the map of another detector."""
        if isinstance(self.result, Explanation):
            from capsieve.report.nine_panels import nine_panels

            return nine_panels(self.result, parameters_of(self.detector), flag=self.flag)
        from capsieve.report.learned_panels import learned_panels

        return learned_panels(self.pixels, self.result, self.given, decision=self.words[0])

    def json(self, **more: str | int | None) -> str:
        """Return the result as a JSON object; numbers that are not finite become null.

        Positions are 0-based pixel centres, on the working grid and in the source's pixels. `more`
        are further entries, such as the name of the file.
        """
        result, parameters = self.result, parameters_of(self.detector)
        flag = self.flag and {
            **self.flag.flagging,
            "position": self.flag.position,
            "duplicate_of": self.flag.duplicate_of,
        }
        content: dict[str, Any] = {
            "schema": SCHEMA,
            "capsieve": __version__,
            **more,
            "label": result.label,
            "reason": result.reason,
            "score": _finite(result.score),
            "flagging": flag,
            "why": self.words,
        }
        if isinstance(result, Explanation):
            content |= {
                "texture_max": _finite(result.texture_max),
                "radius_max": int(result.radius_max),
                "midpass_max": _finite(result.midpass_max),
                "segmentation_threshold": _finite(result.segmentation_threshold),
                "best": result.best.number if result.best else None,
                "features": [_feature_json(each, result.placement) for each in result.features],
                "placement": _finite_fields(dataclasses.asdict(result.placement)),
                "preset": parameters.preset,
                "parameters": parameters.to_dict(),
                "derived": dataclasses.asdict(parameters.derived),
            }
        else:
            names = self.detector.value_names
            content |= {
                "score_threshold": _finite(self.threshold),
                "place": result.place and _finite_fields(result.place._asdict()),
                "values": _finite_fields(dict(zip(names, result.values, strict=False))),
                "detector": self.detector.identity,
                "parameters": parameters.to_dict(),
            }
        return json.dumps(content, indent=2, allow_nan=False)


def frame_evidence(
    pixels: NDArray[Any],
    field_of_view: FieldOfView | None,
    detector: Detector,
    *,
    flag: FrameFlag | None = None,
) -> FrameEvidence:
    """Score a frame and return the evidence for the result.

    Parameters
    ----------
    pixels, field_of_view
        The frame and its field of view.
    detector
        Of a frame of a screened exam the one that scored it.
    flag
        The stored flag of a frame of a screened exam. Another score than today's gives a warning.

    Raises
    ------
    FrameError
        The frame cannot be scored.
    """
    given, parameters = Evidence(), parameters_of(detector)
    if rule_parameter(detector.identity):
        from capsieve.paper.algorithm import explain

        result = explain(pixels, parameters, field_of_view)
    else:
        result = detector.score(pixels, field_of_view)
        ask = getattr(detector, "evidence", None)
        given = given if ask is None else ask(pixels, field_of_view)
    warning = words.score_warning(result, flag)
    result = result if flag is None else flag.apply(result)
    threshold = detector.score_threshold
    if flag is not None and not flag.by_list:
        threshold = flag.flagging["value"]
    if isinstance(result, Explanation):
        lines = words.why(result, parameters, flag).splitlines()
        values, maps = _paper_values(result, parameters, flag), _paper_maps(result, parameters)
    else:
        lines = words.score_why(result, threshold=threshold, flag=flag)
        lines += words.property_words(given)
        bound = threshold if flag is None else flag.bound
        flagged = result.label == "polyp" or bound is None
        values = [Value("score", "Score", _finite(result.score), _finite(bound), None, flagged)]
        maps = {} if given.map is None else {"evidence": _from_median(given.map)}
    return FrameEvidence(
        pixels=pixels,
        detector=detector,
        result=result,
        flag=flag,
        threshold=threshold,
        given=given,
        words=[*lines, *warning],
        values=values,
        balls=_balls(result),
        ellipses=[_ellipse(feature, result.placement) for feature in result.features],
        maps=maps,
    )


def map_address(png: bytes) -> str:
    """Return a stored evidence map as a data URL that covers the frame."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        levels = np.asarray(image.convert("L"), np.float32) / np.float32(255)
    return page.image(_png(_overlay(levels)))


def _overlay(levels: Map) -> NDArray[np.uint8]:
    """Return levels of 0 to 1 as RGBA: one colour, the more opaque the higher.

    Opacity is quadratic: medium levels of a coarse map would cover most of the frame.
    """
    pixels = np.empty((*levels.shape, 4), np.uint8)
    pixels[..., :3] = OVERLAY
    pixels[..., 3] = np.rint(255 * _STRONGEST * levels**2)
    return pixels


def _png(pixels: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    with io.BytesIO() as file:
        Image.fromarray(pixels, "RGBA").save(file, "PNG", compress_level=3)
        return file.getvalue()


def _on_source(levels: Map, place: Placement, shape: tuple[int, int]) -> Map:
    """Return a map of the working grid in the frame's pixels, zero beyond the grid."""
    import cv2

    rows, cols = (np.arange(size, dtype=np.float32) for size in shape)
    to_col, to_row = np.meshgrid(
        (cols - np.float32(place.col_offset)) / np.float32(place.col_scale),
        (rows - np.float32(place.row_offset)) / np.float32(place.row_scale),
    )
    levels = np.ascontiguousarray(levels, np.float32)
    return np.asarray(cv2.remap(levels, to_col, to_row, cv2.INTER_LINEAR), np.float32)


def _paper_maps(result: Explanation, parameters: Parameters) -> dict[str, Map]:
    highest = max(result.midpass_max or 0.0, result.segmentation_threshold or 0.0)
    return {
        "u": _levels(result.midpass, highest),
        "texture": _levels(result.energy, max(result.texture_max, parameters.texture_high)),
        "segmentation": result.segmentation.astype(np.float32),
    }


def _paper_values(
    result: Explanation, parameters: Parameters, flag: FrameFlag | None
) -> list[Value]:
    """Return what the paper's rules compare, in the order of the algorithm."""
    p, bounds = parameters, parameters.derived
    text = "Texture of the frame"
    values = [_value("T_max", text, result.texture_max, p.texture_low, p.texture_high)]
    if result.midpass_max is not None and result.segmentation_threshold is not None:
        text = "Contrast to the surroundings"
        values.append(_value("max u", text, result.midpass_max, result.segmentation_threshold))
    best = result.best
    if best is None and result.features:  # the largest is the nearest to passing
        best = max(result.features, key=lambda feature: feature.size)
    if best is not None:
        text = f"Size of feature {best.number}, pixels"
        values.append(_value("S", text, best.size, bounds.size_low, bounds.size_high))
        text = f"Eccentricity of feature {best.number}"
        values.append(_value("E", text, best.eccentricity, None, p.eccentricity_max))
    radius = result.best.radius if result.best else 0
    lowest = p.radius_threshold if flag is None else flag.bound
    return [*values, _value("R_max", "Radius of the best-fit ball", radius, lowest)]


def _value(
    name: str, text: str, value: float, low: float | None = None, high: float | None = None
) -> Value:
    holds = (low is None or value >= low) and (high is None or value <= high)
    return Value(name, text, _finite(value), low, high, holds)


def _balls(result: FrameResult) -> list[Ball]:
    if result.found is not None:
        return [Ball(*result.found, best=True)]
    to_source, length = result.placement.to_source, result.placement.length_to_source
    return [
        Ball(*to_source(one.ball_row, one.ball_col), length(one.radius), one is result.best)
        for one in result.features
        if one.radius
    ]


def _ellipse(feature: Feature, place: Placement) -> Ellipse:
    """Return the ellipse that :func:`capsieve.paper.ellipse.inertia_ellipse` draws, by its axes.

    Its points are scale * M (cos, sin) with M the matrix of second moments and scale = sqrt(S / (pi
    det M)), so the semi-axes are scale times the eigenvalues of M.
    """
    rr, rc, cc = feature.moment_rr, feature.moment_rc, feature.moment_cc
    determinant = rr * cc - rc * rc
    if math.isinf(feature.eccentricity) or determinant <= 0:
        major, minor = math.sqrt(3.0 * (rr + cc) / feature.size + 0.25), 0.0
    else:
        scale = math.sqrt(feature.size / (math.pi * determinant))
        middle, half = 0.5 * (rr + cc), math.hypot(0.5 * (cc - rr), rc)
        major, minor = scale * (middle + half), scale * (middle - half)
    length = place.length_to_source
    angle = 0.5 * math.atan2(2.0 * rc, cc - rr)
    row, col = place.to_source(feature.row, feature.col)
    return Ellipse(row, col, length(major), length(minor), angle, feature.rejected)


def _levels(values: Map, top: float) -> Map:
    return np.clip(values / np.float32(max(top, 1e-6)), 0, 1).astype(np.float32)


def _from_median(values: Map) -> Map:
    """Return a map as 0 to 1 from its median, the level of the background, to its maximum."""
    ground, top = float(np.median(values)), float(values.max())
    if not math.isfinite(top - ground) or top <= ground:
        return np.zeros_like(values)
    return _levels(values - np.float32(ground), top - ground)


def _feature_json(feature: Feature, place: Placement) -> dict[str, Any]:
    names = ("row", "col", "ball_row", "ball_col", "radius")
    working = {name: getattr(feature, name) for name in names}
    row, col = place.to_source(feature.row, feature.col)
    ball_row, ball_col = place.to_source(feature.ball_row, feature.ball_col)
    source = (row, col, ball_row, ball_col, place.length_to_source(feature.radius))
    return {
        "number": int(feature.number),
        "size": int(feature.size),
        "eccentricity": _finite(feature.eccentricity),
        "rejected": feature.rejected,
        "working": _finite_fields(working),
        "source": _finite_fields(dict(zip(names, source, strict=True))),
    }


def _finite_fields(values: Mapping[str, float | None]) -> dict[str, float | int | None]:
    return {name: _finite(value) for name, value in values.items()}


def _finite(value: float | None) -> float | int | None:
    """Return a plain Python number; None for NaN, infinity and None."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)
