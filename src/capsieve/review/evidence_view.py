"""Why a frame was flagged or not: words, values with their bounds, shapes, and maps."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.detector import Detector
from capsieve.detectors import parameters_of, rule_parameter
from capsieve.frames import FieldOfView, Placement
from capsieve.parameters import Parameters
from capsieve.report import score_words, words
from capsieve.report.frame_flag import FrameFlag
from capsieve.results import Evidence, Explanation, Feature, FrameResult
from capsieve.review import messages
from capsieve.review.evidence_maps import on_source

__all__ = ["EvidenceView", "evidence_view"]

Map = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceView:
    """The evidence for one frame.

    Attributes
    ----------
    message
        All but the maps.
    maps
        By name: levels of 0 to 1 in the frame's own size.
    """

    message: messages.Evidence
    maps: Mapping[str, Map]


def evidence_view(
    pixels: NDArray[Any],
    field_of_view: FieldOfView | None,
    detector: Detector,
    *,
    flag: FrameFlag | None = None,
) -> EvidenceView:
    """Score a frame again and return the evidence for the result.

    Parameters
    ----------
    pixels, field_of_view
        The frame and its field of view when it was scored.
    detector
        The one that scored it, with the same parameters.
    flag
        The flag in the tables. A score other than today's gives a warning.

    Raises
    ------
    FrameError
        The frame cannot be scored, and could not be when the exam was screened.
    """
    if rule_parameter(detector.identity):
        from capsieve.paper.algorithm import explain

        parameters = parameters_of(detector)
        explanation = explain(pixels, parameters, field_of_view)
        return _of_paper(explanation, parameters, pixels.shape[:2], flag)
    result = detector.score(pixels, field_of_view)
    ask = getattr(detector, "evidence", None)
    evidence = Evidence() if ask is None else ask(pixels, field_of_view)
    return _of_other(result, evidence, detector, flag)


def _of_paper(
    result: Explanation, parameters: Parameters, shape: tuple[int, ...], flag: FrameFlag | None
) -> EvidenceView:
    warning = score_words.score_warning(result, flag)
    result = result if flag is None else flag.apply(result)
    levels = {
        "u": _share(
            result.midpass, max(result.midpass_max or 0.0, result.segmentation_threshold or 0.0)
        ),
        "texture": _share(result.energy, max(result.texture_max, parameters.texture_high)),
        "segmentation": result.segmentation.astype(np.float32),
    }
    message = messages.Evidence(
        words=[*words.why(result, parameters, flag).splitlines(), *warning],
        values=_values(result, parameters, flag),
        balls=_balls(result),
        ellipses=[_ellipse(feature, result.placement) for feature in result.features],
        maps=list(levels),
    )
    return EvidenceView(
        message,
        {
            name: on_source(each, result.placement, (shape[0], shape[1]))
            for name, each in levels.items()
        },
    )


def _of_other(
    result: FrameResult,
    evidence: Evidence,
    detector: Detector,
    flag: FrameFlag | None,
) -> EvidenceView:
    warning = score_words.score_warning(result, flag)
    result = result if flag is None else flag.apply(result)
    threshold = detector.score_threshold if flag is None else _lowest(flag)
    probability = score_words.is_probability(detector.identity)
    why = score_words.score_why(result, threshold=threshold, probability=probability, flag=flag)
    maps = {} if evidence.map is None else {"evidence": _from_median(evidence.map)}
    message = messages.Evidence(
        words=[*why, *score_words.described(evidence), *warning],
        values=[
            messages.Value(
                name="probability" if probability else "score",
                words="Probability of a polyp" if probability else "Score",
                value=_finite(result.score),
                low=_finite(threshold),
                high=None,
                holds=result.label == "polyp" or threshold is None,
            )
        ],
        balls=_balls(result),
        ellipses=[_ellipse(feature, result.placement) for feature in result.features],
        maps=list(maps),
    )
    return EvidenceView(message, maps)


def _values(
    result: Explanation, parameters: Parameters, flag: FrameFlag | None
) -> list[messages.Value]:
    """Return what the paper's rules look at, in the order of the algorithm."""
    bounds = parameters.derived
    values = [
        _value(
            "T_max",
            "Texture of the frame",
            result.texture_max,
            parameters.texture_low,
            parameters.texture_high,
        )
    ]
    if result.midpass_max is not None and result.segmentation_threshold is not None:
        values.append(
            _value(
                "max u",
                "How much anything stands out",
                result.midpass_max,
                result.segmentation_threshold,
            )
        )
    best = result.best
    if best is None and result.features:  # the one that came nearest: the largest
        best = max(result.features, key=lambda feature: feature.size)
    if best is not None:
        which = f"of feature {best.number}"
        values += [
            _value("S", f"Size {which}, pixels", best.size, bounds.size_low, bounds.size_high),
            _value(
                "E", f"Eccentricity {which}", best.eccentricity, None, parameters.eccentricity_max
            ),
        ]
    radius = result.best.radius if result.best else 0
    lowest = parameters.radius_threshold if flag is None else _lowest(flag)
    values.append(_value("R_max", "Radius of the best-fit ball", radius, lowest))
    return values


def _lowest(flag: FrameFlag) -> float | None:
    """Return the bound of the score: the threshold, or the last listed score.

    Equal scores and near-duplicates of listed frames are not decided by a bound.
    """
    if not flag.by_list:
        return flag.flagging["value"]
    last = flag.flagging["last_score"]
    return last if last is not None and (flag.score >= last) == flag.flagged else None


def _value(
    name: str, text: str, value: float, low: float | None = None, high: float | None = None
) -> messages.Value:
    return messages.Value(
        name=name,
        words=text,
        value=_finite(value),
        low=low,
        high=high,
        holds=(low is None or value >= low) and (high is None or value <= high),
    )


def _balls(result: FrameResult) -> list[messages.Ball]:
    to_source, length = result.placement.to_source, result.placement.length_to_source
    if result.found is not None:
        row, col, radius = result.found
        return [messages.Ball(row=row, col=col, radius=radius, best=True)]
    balls = []
    for feature in result.features:
        if feature.radius:
            row, col = to_source(feature.ball_row, feature.ball_col)
            balls.append(
                messages.Ball(
                    row=row, col=col, radius=length(feature.radius), best=feature is result.best
                )
            )
    return balls


def _ellipse(feature: Feature, place: Placement) -> messages.Ellipse:
    """Return the ellipse that :func:`capsieve.paper.ellipse.inertia_ellipse` draws, by its axes.

    Its points are scale * M (cos, sin) with M the matrix of second moments and scale = sqrt(S / (pi
    det M)), so that the semi-axes are scale times the eigenvalues of M.
    """
    rr, rc, cc = feature.moment_rr, feature.moment_rc, feature.moment_cc
    determinant = rr * cc - rc * rc
    if math.isinf(feature.eccentricity) or determinant <= 0:
        major, minor = math.sqrt(3.0 * (rr + cc) / feature.size + 0.25), 0.0
    else:
        scale = math.sqrt(feature.size / (math.pi * determinant))
        middle, half = 0.5 * (rr + cc), math.hypot(0.5 * (cc - rr), rc)
        major, minor = scale * (middle + half), scale * (middle - half)
    row, col = place.to_source(feature.row, feature.col)
    return messages.Ellipse(
        row=row,
        col=col,
        major=place.length_to_source(major),
        minor=place.length_to_source(minor),
        angle=0.5 * math.atan2(2.0 * rc, cc - rr),
        rejected=feature.rejected,
    )


def _share(values: NDArray[np.float32], top: float) -> Map:
    return np.clip(values / np.float32(max(top, 1e-6)), 0, 1).astype(np.float32)


def _from_median(values: Map) -> Map:
    """Return a map from its median, which is its ground, to its highest value, as 0 to 1."""
    ground, top = float(np.median(values)), float(values.max())
    if not math.isfinite(top - ground) or top <= ground:
        return np.zeros_like(values)
    return _share(values - np.float32(ground), top - ground)


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
