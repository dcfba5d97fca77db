"""Decisions about frames in plain English: the rule that decided, its value and its bound.

Sentences about the paper's rules use its symbols. A value is printed with enough digits not to
contradict its bound. A score orders frames: it is never presented as the probability of a polyp.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from capsieve.parameters import Parameters
from capsieve.report.text import digits, distinct, number, percent, plain, plural
from capsieve.results import Evidence, Feature, FrameResult, Reason
from capsieve.store.exam import Exam
from capsieve.store.record import Flagging, Record

Result = TypeVar("Result", bound=FrameResult)

_BY_SCORE = ("polyp", "radius-low", "score-low")  # reasons of frames that a list can contain


@dataclass(frozen=True, slots=True)
class FrameFlag:
    """The stored flag of a frame of a screened exam.

    Attributes
    ----------
    flagged, reason, score
        Of the frame's row in frames.parquet.
    flagging
        The rule of the exam.
    position
        In the order of scores, from 1; near-identical frames have one position together. None if
        a rule of the detector rejected the frame, or a threshold decides.
    duplicate_of
        The near-identical frame with a higher score, which has the position; None if it is this
        frame.
    """

    flagged: bool
    reason: Reason
    score: float
    flagging: Flagging
    position: int | None = None
    duplicate_of: int | None = None

    @property
    def by_list(self) -> bool:
        """Whether the exam has a reading list."""
        return self.flagging["rule"] != "threshold"

    @property
    def bound(self) -> float | None:
        """The bound that decided: the threshold, or the last listed score; None if none did.

        Equal scores and near-duplicates of listed frames are not decided by a bound.
        """
        if not self.by_list:
            return self.flagging["value"]
        last = self.flagging["last_score"]
        return last if last is not None and (self.score >= last) == self.flagged else None

    def apply(self, result: Result) -> Result:
        """Return a result with the stored label and reason."""
        return replace(result, label="polyp" if self.flagged else "normal", reason=self.reason)


def frame_flag(exam: Exam, row: Mapping[str, Any]) -> FrameFlag | None:
    """Return the flag of a frame, given its row of frames.parquet; None if it has no score.

    Raises
    ------
    FileError
        A table cannot be read.
    """
    if row["score"] is None:
        return None
    flag = FrameFlag(row["flagged"], row["reason"], row["score"], exam.record["flagging"])
    if not flag.by_list or flag.reason not in _BY_SCORE:
        return flag
    position, best = _position(exam, row["head"], row["frame"])
    return replace(flag, position=position, duplicate_of=None if best == row["frame"] else best)


def _position(exam: Exam, head: int, frame: int) -> tuple[int, int]:
    """Return the position of a frame and the frame of its near-duplicates that has it."""
    table = exam.columns("head", "frame", "score", "reason", "duplicate_of")
    by_score = pc.is_in(table["reason"], value_set=pa.array(_BY_SCORE))  # pyright: ignore[reportAttributeAccessIssue]
    listed = by_score.to_numpy() & table["score"].is_valid().to_numpy()
    heads, frames = (table[name].to_numpy()[listed].astype(np.int64) for name in ("head", "frame"))
    scores = table["score"].to_numpy()[listed].astype(np.float64)
    earlier = table["duplicate_of"].to_numpy().astype(np.float64)[listed]  # NaN: of no other frame
    first = (heads << 40) + np.where(np.isnan(earlier), frames, earlier).astype(np.int64)
    order = np.lexsort((frames, heads, -scores))
    _, starts = np.unique(first[order], return_index=True)
    own = first[(heads == head) & (frames == frame)][0]
    start = int(np.flatnonzero(first[order] == own)[0])
    return int((starts <= start).sum()), int(frames[order][start])


def detector_words(detector: Mapping[str, Any]) -> str:
    """Return the name of a detector, given as in exam.json, with a word about it."""
    name, version = plain(detector.get("name", "unknown")), detector.get("version")
    words = {
        "paper": f"paper (the published algorithm, {preset_words(detector.get('preset'))})",
        "curvature": "curvature (the baseline that the paper argues against)",
        "learned": "learned (the model that capsieve ships with)",
    }.get(name, name)
    return words if version is None else f"{words}, version {plain(version)}"


def preset_words(preset: object) -> str:
    """Return the reading of the published algorithm, given the name of its preset."""
    known = {"printed": "as printed", "inferred": "as inferred from its figures"}
    return known.get(str(preset), "with another ball or stencil")


def why(result: FrameResult, parameters: Parameters, flag: FrameFlag | None = None) -> str:
    """Return the decision of the paper's algorithm, its steps and every feature, one line each.

    Parameters
    ----------
    result, parameters
        The result, and the parameters that gave it.
    flag
        The stored flag of a frame of a screened exam, which the result has.
    """
    features = [feature_words(feature, parameters) for feature in result.features]
    steps = step_words(result, parameters, flag)
    return "\n".join([decision(result, parameters, flag), *steps, *features])


def decision(result: FrameResult, parameters: Parameters, flag: FrameFlag | None = None) -> str:
    """Return the decision with the rule that decided, its value and its bound."""
    if flag is not None and flag.position is not None:
        return _list_decision(flag, "R_max =", "R_P = ", digits)
    parameters = rule_parameters(parameters, flag)
    texture = digits(result.texture_max, parameters.texture_low, parameters.texture_high)
    low, high = digits(parameters.texture_low), digits(parameters.texture_high)
    match result.reason:
        case "texture-low":
            rule = f"the texture is too weak. T_max = {texture}, below T_L = {low}."
        case "texture-high":
            rule = f"the texture is too strong. T_max = {texture}, above T_U = {high}."
        case "no-feature" if not result.features:
            rule = f"nothing stands out. {_nothing_segmented(result)}."
        case "no-feature":
            rule = f"no feature is shaped like a polyp. {_shape_rules(result, parameters)}"
        case "radius-low":
            bound = parameters.radius_threshold
            rule = f"the bulge is too small. R_max = {result.radius_max}, below R_P = {bound}."
        case "score-low":
            rule = f"the score is too low. Score = {digits(result.score)}."
        case "polyp":
            bound = parameters.radius_threshold
            rule = f"a round bulge was found. R_max = {result.radius_max}, at least R_P = {bound}."
    return f"{'Flagged' if result.label == 'polyp' else 'Not flagged'}: {rule}"


def step_words(
    result: FrameResult, parameters: Parameters, flag: FrameFlag | None = None
) -> list[str]:
    """Return a text for each step of the algorithm that decided or measured something."""
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
    """Return the rule that rejected the feature, or that it passed and the radius of its ball."""
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
        return f"Geometry alone would not flag it: {found}."
    if threshold is None:
        return f"By geometry alone, R_max would be {best.radius}."
    if best.radius < threshold:
        return (
            "Geometry alone would not flag it: "
            f"R_max would be {best.radius}, below R_P = {threshold}."
        )
    return (
        f"Geometry alone would flag it: R_max would be {best.radius}, at least R_P = {threshold}."
    )


def _segmentation_words(result: FrameResult) -> str:
    if result.midpass_max is None or result.segmentation_threshold is None:
        return f"Segmentation: {plural(len(result.features), 'feature')}."
    if not result.features:
        return f"Segmentation: {_nothing_segmented(result)}; there is no feature."
    passed = sum(not feature.rejected for feature in result.features)
    highest = digits(result.midpass_max, result.segmentation_threshold, least=3)
    return (
        f"Segmentation: max u = {highest}, {_theta(result)}; "
        f"{plural(len(result.features), 'feature')} found, {passed or 'none'} "
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
    # Theta is a working threshold, not a rule of the table: four digits are enough.
    return f"Theta = {result.segmentation_threshold:.4g}"


def score_decision(
    result: FrameResult, *, threshold: float | None, flag: FrameFlag | None = None
) -> str:
    """Return the decision of another detector, with the score and the threshold or the position.

    `threshold` is the lowest score of a flagged frame, if there is one.
    """
    if flag is not None and flag.position is not None:
        return _list_decision(flag, "Score", "", score_text)
    if threshold is None:
        return f"No threshold: the score is {score_text(result.score)}."
    score, bound = score_text(result.score, threshold), score_text(threshold)
    if result.score >= threshold:
        return f"Flagged: the score is high enough: {score}, at least {bound}."
    return f"Not flagged: the score is too low: {score}, below {bound}."


def score_why(
    result: FrameResult, *, threshold: float | None, flag: FrameFlag | None = None
) -> list[str]:
    """Return the decision and the place, one line each; see :func:`score_decision`."""
    lines = [score_decision(result, threshold=threshold, flag=flag)]
    if result.place is not None:
        row, col, radius = result.place
        lines.append(
            f"It points at row {row:.0f}, column {col:.0f}, radius {radius:.0f}, in the source's "
            "pixels."
        )
    return lines


def score_warning(result: FrameResult, flag: FrameFlag | None) -> list[str]:
    """Return a warning if the frame gets another score now than when it was screened."""
    if flag is None or math.isclose(flag.score, result.score, rel_tol=1e-4, abs_tol=1e-6):
        return []
    return [
        f"Warning: the score is {result.score:.6g} now and was {flag.score:.6g} when the exam was "
        "screened; the software or the model has changed."
    ]


def property_words(evidence: Evidence) -> list[str]:
    """Return one line for each measured property of a frame, with its usual range."""
    return [
        f"{each.words.rstrip('.')}: {number(each.value)}, usually {number(each.low)} to "
        f"{number(each.high)} ({each.unit})."
        for each in evidence.properties
    ]


def is_probability(identity: Mapping[str, Any]) -> bool:
    """Return whether the scores of a detector are from 0 to 1, by its identity."""
    return identity.get("score") == "probability"


def score_text(score: float, *bounds: float) -> str:
    """Return a score with enough digits to be on its own side of every bound."""
    return digits(score, *bounds, least=3) if bounds else distinct(score, (0, 1))


def flag_threshold(record: Record) -> float | None:
    """Return the lowest score of a flagged frame: the threshold, or the last score of a list."""
    flagging = record["flagging"]
    return flagging["value"] if flagging["rule"] == "threshold" else flagging["last_score"]


def out_of_range(record: Record) -> list[str]:
    """Return how an exam differs from the data that the detector was tuned on."""
    # Screening writes one warning about all measures together, before all others.
    outside = any(each["warning"] for each in record["range"]["measures"].values())
    return record["warnings"][: int(outside)]


def flagging_words(flagging: Flagging) -> str:
    """Return the rule of an exam's flags if it is not the detector's own threshold; else ""."""
    own, above = flagging["score_threshold"], flagging["share_above_threshold"]
    if flagging["rule"] == "threshold" and own in (None, flagging["value"]):
        return ""
    if flagging["rule"] == "threshold":
        words = f"Frames with a score of at least {score_text(flagging['value'])} are flagged"
    else:
        words = f"Flagged by a reading list: {_list_length(flagging)}"
        if flagging["last_score"] is not None:
            words += f"; last listed score {score_text(flagging['last_score'])}"
    if own is None:
        return f"{words}. The detector has no threshold of its own."
    share = "" if above is None else f", reached by {percent(above)} of the scored frames"
    return f"{words}. The detector's own threshold is {score_text(own)}{share}."


def _list_length(flagging: Flagging) -> str:
    """Return the length of a reading list: ``10 % of the frames, 53 frames``."""
    frames = plural(flagging["frames"], "frame")
    if flagging["rule"] == "share":
        return f"{100 * flagging['value']:.6g} % of the frames, {frames}"
    given = int(flagging["value"])
    return frames if given == flagging["frames"] else f"{given:,} frames requested, {frames}"


def _list_decision(flag: FrameFlag, score: str, own: str, text: Callable[[float], str]) -> str:
    """Return whether a frame is on the reading list, with its position and the scores.

    Parameters
    ----------
    flag
        Of a frame with a position.
    score, own
        Start of the statement about the score, such as "R_max =", and of that about the detector's
        own threshold, such as "R_P =".
    text
        Formats a score.
    """
    flagging, length = flag.flagging, _list_length(flag.flagging)
    where = f"position {flag.position} of {flagging['frames']} on the reading list"
    if not flag.flagged:
        where = f"position {flag.position} by score, after the end of the reading list"
    if flag.duplicate_of is not None:
        where = f"near-duplicate of frame {flag.duplicate_of}, {where}"
    figures = f"{score} {text(flag.score)}"
    if flagging["last_score"] is not None:
        figures += f", last listed {text(flagging['last_score'])}"
    if flagging["score_threshold"] is not None:
        figures += f"; the detector's own threshold is {own}{text(flagging['score_threshold'])}"
    return f"{'Flagged' if flag.flagged else 'Not flagged'}: {where} ({length}). {figures}."


def rule_parameters(parameters: Parameters, flag: FrameFlag | None) -> Parameters:
    """Return the paper's parameters with the R_P that gives the stored flag of a frame."""
    if flag is None:
        return parameters
    lowest: float | None = flag.flagging["value"]
    if flag.by_list:
        lowest = flag.score if flag.flagged else flag.flagging["last_score"]
    if lowest is None:
        return parameters
    return replace(parameters, radius_threshold=min(max(math.ceil(lowest), 1), 10_000))
