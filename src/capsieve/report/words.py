"""Why a frame was flagged, or at which rule it fell, in plain English.

Every sentence that names a rule gives the value and the bound with the paper's symbols. A value is
printed with as many digits as it takes not to contradict its bound.
"""

from collections.abc import Mapping
from typing import Any

from capsieve.parameters import Parameters
from capsieve.report.frame_flag import FrameFlag, list_verdict, rule_parameters
from capsieve.report.text import digits, plain
from capsieve.results import Feature, FrameResult

__all__ = ["detector_words", "feature_words", "preset_words", "step_words", "verdict", "why"]


def detector_words(detector: Mapping[str, Any]) -> str:
    """Return the name of a detector, given as in exam.json, with a word about it."""
    name, version = plain(detector.get("name", "unknown")), detector.get("version")
    words = {
        "paper": f"paper (the published algorithm, {preset_words(detector.get('preset'))})",
        "curvature": "curvature (the way that the paper argues against)",
        "learned": "learned (the model that capsieve ships with)",
    }.get(name, name)
    return words if version is None else f"{words}, version {plain(version)}"


def preset_words(preset: object) -> str:
    """Return the reading of the published algorithm, given the name of its preset."""
    known = {"printed": "as printed", "inferred": "as inferred from its figures"}
    return known.get(str(preset), "with another ball or stencil")


def why(result: FrameResult, parameters: Parameters, flag: FrameFlag | None = None) -> str:
    """Return the whole account: the verdict, the steps and every feature, one line each.

    Parameters
    ----------
    result
        What the detector said.
    parameters
        Those that it was said with.
    flag
        The stored flag of a frame of a screened exam, which the result has.
    """
    features = [feature_words(feature, parameters) for feature in result.features]
    steps = step_words(result, parameters, flag)
    return "\n".join([verdict(result, parameters, flag), *steps, *features])


def verdict(result: FrameResult, parameters: Parameters, flag: FrameFlag | None = None) -> str:
    """Return the verdict with the rule that decided, its value and its bound."""
    if flag is not None and flag.by_list and flag.position is not None:
        return list_verdict(flag, "R_max =", "R_P = ", digits)
    parameters = rule_parameters(parameters, flag)
    texture = digits(result.texture_max, parameters.texture_low, parameters.texture_high)
    low, high = digits(parameters.texture_low), digits(parameters.texture_high)
    match result.reason:
        case "texture-low":
            return f"Normal: the texture is too weak. T_max = {texture}, below T_L = {low}."
        case "texture-high":
            return f"Normal: the texture is too strong. T_max = {texture}, above T_U = {high}."
        case "no-feature" if not result.features:
            return f"Normal: nothing stands out. {_nothing_segmented(result)}."
        case "no-feature":
            return f"Normal: no feature is shaped like a polyp. {_shape_rules(result, parameters)}"
        case "radius-low":
            return (
                "Normal: the best-fit ball is too small. "
                f"R_max = {result.radius_max}, below R_P = {parameters.radius_threshold}."
            )
        case "score-low":
            return f"Normal: the score is too low. Score = {digits(result.score)}."
        case "polyp":
            return (
                "Polyp: the best-fit ball is large enough. "
                f"R_max = {result.radius_max}, at least R_P = {parameters.radius_threshold}."
            )


def step_words(
    result: FrameResult, parameters: Parameters, flag: FrameFlag | None = None
) -> list[str]:
    """Return one sentence or two for each step of the algorithm that has something to say."""
    threshold = rule_parameters(parameters, flag).radius_threshold
    if flag is not None and flag.by_list:
        threshold = None  # a radius alone does not decide
    stopped = result.reason in ("texture-low", "texture-high")
    words = []
    if not stopped:
        texture = digits(result.texture_max, parameters.texture_low, parameters.texture_high)
        words.append(
            f"Texture: T_max = {texture}, from T_L = {digits(parameters.texture_low)} "
            f"to T_U = {digits(parameters.texture_high)}: the frame passes pre-selection."
        )
    elif result.midpass_max is None:
        return ["Pre-selection stopped the frame: its geometry was not computed."]
    else:
        words.append(f"Pre-selection stopped the frame. {_without_preselection(result, threshold)}")
    words.append(_segmentation_words(result))
    if result.best is not None:
        words.append(_ball_words(result, result.best, parameters, threshold))
    return words


def feature_words(feature: Feature, parameters: Parameters) -> str:
    """Return the rule at which the feature fell, or that it passed and with which ball."""
    bounds = parameters.derived
    eccentricity = digits(feature.eccentricity, parameters.eccentricity_max)
    match feature.rejected:
        case "size-low":
            fell = f"size {feature.size} is below S_L = {bounds.size_low}"
        case "size-high":
            fell = f"size {feature.size} is above S_U = {bounds.size_high}"
        case "eccentricity":
            bound = digits(parameters.eccentricity_max)
            fell = f"eccentricity {eccentricity} is above E_max = {bound}"
        case "":
            shape = f"size {feature.size}, eccentricity {eccentricity}"
            fell = f"passes with {shape}; R = {feature.radius}"
    return f"Feature {feature.number}: {fell}."


def _nothing_segmented(result: FrameResult) -> str:
    if result.midpass_max is None or result.segmentation_threshold is None:
        return "Nothing reaches the threshold Theta of the segmentation"
    highest = digits(result.midpass_max, result.segmentation_threshold, least=3)
    return f"max u = {highest}, below {_theta(result)}"


def _shape_rules(result: FrameResult, parameters: Parameters) -> str:
    if len(result.features) == 1:
        return feature_words(result.features[0], parameters)
    bounds = parameters.derived
    return (
        f"None of {len(result.features)} has S_L = {bounds.size_low} to S_U = {bounds.size_high} "
        f"pixels and an eccentricity of at most E_max = {digits(parameters.eccentricity_max)}."
    )


def _without_preselection(result: FrameResult, threshold: int | None) -> str:
    best = result.best
    if best is None:
        found = "no feature passes" if result.features else "nothing is segmented"
        return f"Geometry alone would also say normal: {found}."
    if threshold is None:
        return f"By geometry alone, R_max would be {best.radius}."
    if best.radius < threshold:
        return (
            "Geometry alone would also say normal: "
            f"R_max would be {best.radius}, below R_P = {threshold}."
        )
    return (
        "Geometry alone would have flagged it: "
        f"R_max would be {best.radius}, at least R_P = {threshold}."
    )


def _segmentation_words(result: FrameResult) -> str:
    if result.midpass_max is None or result.segmentation_threshold is None:
        return f"Segmentation: {_count(len(result.features), 'feature')}."
    if not result.features:
        return f"Segmentation: {_nothing_segmented(result)}; there is no feature."
    passed = sum(not feature.rejected for feature in result.features)
    highest = digits(result.midpass_max, result.segmentation_threshold, least=3)
    return (
        f"Segmentation: max u = {highest}, {_theta(result)}; "
        f"{_count(len(result.features), 'feature')} found, {passed or 'none'} "
        f"{'pass' if passed > 1 else 'passes'} the rules of size and eccentricity."
    )


_BALLS = {
    "printed": "Best-fit ball",
    "feature": "Best-fit ball (fitted to u in the feature)",
    "hemisphere": "Best-fit hemisphere",
}


def _ball_words(
    result: FrameResult, best: Feature, parameters: Parameters, threshold: int | None
) -> str:
    row, col = result.placement.to_source(best.ball_row, best.ball_col)
    radius = result.placement.length_to_source(best.radius)
    bound = ""
    if threshold is not None:
        bound = f", {'at least' if best.radius >= threshold else 'below'} R_P = {threshold}"
    return (
        f"{_BALLS[parameters.ball_fit]}: on feature {best.number}, R = {best.radius}{bound}. In "
        f"the source's pixels: centre at row {row:.0f}, column {col:.0f}, radius {radius:.0f}."
    )


def _theta(result: FrameResult) -> str:
    # Theta is a working threshold, not a rule of the table: four digits tell it well enough.
    return f"Theta = {result.segmentation_threshold:.4g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
