"""Why a detector other than the paper's flagged a frame or did not, in plain English."""

from collections.abc import Mapping, Sequence
from typing import Any

from capsieve.report.formats import number, plain
from capsieve.report.words import digits
from capsieve.results import FrameResult, Weight

__all__ = [
    "MOST_WEIGHTS",
    "change_text",
    "is_probability",
    "score_text",
    "score_verdict",
    "score_why",
    "value_name",
    "weight_words",
]

MOST_WEIGHTS = 6
"""Values that are named; the others weighed less."""


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


def score_why(
    result: FrameResult,
    *,
    threshold: float,
    probability: bool,
    weights: Sequence[Weight] = (),
    words: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the whole account, one line each: the verdict, the place, and what weighed most.

    Parameters
    ----------
    result
        What the detector said.
    threshold, probability
        The least score that it flags, and whether scores are probabilities.
    weights
        What weighed most, the strongest first.
    words
        Words for the names of values, where the detector has them.
    """
    lines = [score_verdict(result, threshold=threshold, probability=probability)]
    if result.place is not None:
        row, col, radius = result.place
        lines.append(
            f"It points at row {row:.0f}, column {col:.0f}, radius {radius:.0f}, in the source's "
            "pixels."
        )
    return lines + [weight_words(weight, words) for weight in weights[:MOST_WEIGHTS]]


def weight_words(weight: Weight, words: Mapping[str, str] | None = None) -> str:
    """Return a sentence: what the frame has, what frames commonly have, what that changed."""
    name = value_name(weight.name, words)
    effect = "for" if weight.change > 0 else "against"
    return (
        f"{name[:1].upper()}{name[1:]}: {number(weight.value)}, commonly {number(weight.typical)}; "
        f"speaks {effect} a polyp ({change_text(weight.change)})."
    )


def change_text(change: float) -> str:
    """Return by how much a value changed the score, with its sign."""
    return f"+{number(change, digits=2)}" if change > 0 else number(change, digits=2)


def value_name(name: str, words: Mapping[str, str] | None = None) -> str:
    """Return words for the name of a value: the detector's, else the name itself."""
    return plain((words or {}).get(name, "").rstrip(".") or name.replace("_", " "))
