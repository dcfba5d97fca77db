"""Why a frame was flagged or not: words, values with their bounds, shapes, and maps."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.detector import Detector
from capsieve.frames import Placement
from capsieve.parameters import Parameters
from capsieve.report import score_words, words
from capsieve.results import Evidence, Explanation, Feature, FrameResult
from capsieve.review import messages
from capsieve.review.evidence_maps import on_source
from capsieve.store.recall import Recalled

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


def evidence_view(recalled: Recalled, detector: Detector) -> EvidenceView:
    """Run the detector on a frame once more, and say what it saw.

    Parameters
    ----------
    recalled
        The frame, and what it was scored with.
    detector
        The one that scored it.

    Raises
    ------
    FrameError
        The frame cannot be scored; it could not then.
    """
    if detector.name == "paper":
        from capsieve.paper.algorithm import explain

        explanation = explain(recalled.pixels, recalled.parameters, recalled.field_of_view)
        return _of_paper(explanation, recalled)
    result = detector.score(recalled.pixels, recalled.field_of_view)
    ask = getattr(detector, "evidence", None)
    evidence = Evidence() if ask is None else ask(recalled.pixels, recalled.field_of_view)
    return _of_other(result, evidence, detector, recalled)


def _of_paper(result: Explanation, recalled: Recalled) -> EvidenceView:
    parameters = recalled.parameters
    shape = recalled.pixels.shape[0], recalled.pixels.shape[1]
    levels = {
        "u": _share(
            result.midpass, max(result.midpass_max or 0.0, result.segmentation_threshold or 0.0)
        ),
        "texture": _share(result.energy, max(result.texture_max, parameters.texture_high)),
        "segmentation": result.segmentation.astype(np.float32),
    }
    message = messages.Evidence(
        words=[*words.why(result, parameters).splitlines(), *_other_score(result, recalled)],
        values=_values(result, parameters),
        balls=_balls(result),
        ellipses=[_ellipse(feature, result.placement) for feature in result.features],
        maps=list(levels),
    )
    return EvidenceView(
        message, {name: on_source(each, result.placement, shape) for name, each in levels.items()}
    )


def _of_other(
    result: FrameResult, evidence: Evidence, detector: Detector, recalled: Recalled
) -> EvidenceView:
    probability = score_words.is_probability(detector.identity)
    why = score_words.score_why(result, threshold=detector.score_threshold, probability=probability)
    maps = {} if evidence.map is None else {"evidence": _from_median(evidence.map)}
    message = messages.Evidence(
        words=[*why, *_other_score(result, recalled)],
        values=[
            messages.Value(
                name="probability" if probability else "score",
                words="Probability of a polyp" if probability else "Score",
                value=_finite(result.score),
                low=_finite(detector.score_threshold),
                high=None,
                holds=result.score >= detector.score_threshold,
            )
        ],
        balls=_balls(result),
        ellipses=[_ellipse(feature, result.placement) for feature in result.features],
        maps=list(maps),
    )
    return EvidenceView(message, maps)


def _values(result: Explanation, parameters: Parameters) -> list[messages.Value]:
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
    values.append(
        _value("R_max", "Radius of the best-fit ball", radius, parameters.radius_threshold)
    )
    return values


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


def _other_score(result: FrameResult, recalled: Recalled) -> list[str]:
    """Return a warning where the frame gets another score today than when it was screened."""
    then: Any = recalled.row.get("score")
    if then is None or math.isclose(then, result.score, rel_tol=1e-4, abs_tol=1e-6):
        return []
    return [
        f"Beware: today the frame has the score {result.score:.6g}, and it was screened with "
        f"{then:.6g}; the software or the model has changed since."
    ]


def _share(values: NDArray[np.float32], top: float) -> Map:
    return np.clip(values / np.float32(max(top, 1e-6)), 0, 1).astype(np.float32)


def _from_median(values: Map) -> Map:
    """Return a map from its median, which is its ground, to its highest value, as 0 to 1."""
    ground, top = float(np.median(values)), float(values.max())
    if not math.isfinite(top - ground) or top <= ground:
        return np.zeros_like(values)
    return _share(values - np.float32(ground), top - ground)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
