"""The rule that decided a frame, in words with its values."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from capsieve.report.evaluation.operating import is_paper
from capsieve.report.formats import plain
from capsieve.report.words import digits
from capsieve.statistics.evaluation import Evaluation

__all__ = ["rule_words"]


def rule_words(evaluation: Evaluation, place: int) -> str:
    """Return why the first operating point flags a frame, or at which rule it fell.

    Parameters
    ----------
    evaluation
        Its first operating point decides; without one, what was screened.
    place
        Of the frame in the arrays of `judged`.
    """
    judged = evaluation.judged
    score = float(judged.score[place])
    reason = judged.reasons[judged.reason[place]] if judged.reason[place] >= 0 else ""
    texture = float(judged.texture_max[place])
    low = _bound(evaluation.parameters, "texture_low")
    high = _bound(evaluation.parameters, "texture_high")
    if np.isnan(score):
        return "not scored"
    if reason == "texture-low" and low is not None and texture < low:
        return f"T_max {digits(texture, low)} below T_L {digits(low)}"
    if reason == "texture-high" and high is not None and texture > high:
        return f"T_max {digits(texture, high)} above T_U {digits(high)}"
    if reason == "no-feature":
        return "no feature passed the rules of size and shape"
    if score <= 0:
        return f"rejected: {plain(reason)}" if reason else "rejected before it was scored"
    return _score_words(evaluation, score, reason)


def _score_words(evaluation: Evaluation, score: float, reason: str) -> str:
    name, bound = ("R_max", "R_P") if is_paper(evaluation) else ("score", "the threshold")
    if not evaluation.points:
        return f"{name} {score:g}, {plain(reason)}".rstrip(", ")
    threshold = evaluation.points[0].threshold
    shown = f"{score:g}" if float(score).is_integer() else digits(score, threshold)
    sign = "\N{GREATER-THAN OR EQUAL TO}" if score >= threshold else "<"
    return f"{name} {shown} {sign} {bound} {digits(threshold)}"


def _bound(parameters: Mapping[str, Any], name: str) -> float | None:
    value = parameters.get(name)
    return float(value) if isinstance(value, int | float) else None
