"""Why a detector other than the paper's flagged a frame or did not, in plain English."""

from collections.abc import Mapping
from typing import Any

from capsieve.report.formats import number
from capsieve.report.words import digits
from capsieve.results import FrameResult

__all__ = [
    "is_probability",
    "score_text",
    "score_verdict",
    "score_why",
]


def is_probability(identity: Mapping[str, Any]) -> bool:
    """Return whether a detector's score is the probability of a polyp, by its identity."""
    return identity.get("score") == "probability"


def score_text(score: float, *bounds: float, probability: bool) -> str:
    """Return a score with enough digits to stand on its own side of every bound.

    Parameters
    ----------
    score
        To be printed.
    bounds
        Thresholds that it must not contradict.
    probability
        Whether it is one, and so printed in percent.
    """
    if probability:
        hundredfold = [100 * bound for bound in bounds]
        return f"{digits(100 * score, *(hundredfold or [0.0]), least=1)} %"
    return digits(score, *bounds, least=3) if bounds else number(score, digits=4)


def score_verdict(result: FrameResult, *, threshold: float, probability: bool) -> str:
    """Return the verdict with the score and the threshold."""
    what = "probability of a polyp" if probability else "score"
    score = score_text(result.score, threshold, probability=probability)
    bound = score_text(threshold, probability=probability)
    if result.label == "polyp":
        return f"Polyp: the {what} is high enough: {score}, at least {bound}."
    return f"Normal: the {what} is too low: {score}, below {bound}."


def score_why(result: FrameResult, *, threshold: float, probability: bool) -> list[str]:
    """Return the verdict and the place, one line each.

    Parameters
    ----------
    result
        What the detector said.
    threshold, probability
        The least score that it flags, and whether scores are probabilities.
    """
    lines = [score_verdict(result, threshold=threshold, probability=probability)]
    if result.place is not None:
        row, col, radius = result.place
        lines.append(
            f"It points at row {row:.0f}, column {col:.0f}, radius {radius:.0f}, in the source's "
            "pixels."
        )
    return lines
