"""Why a detector other than the paper's flagged a frame or did not, in plain English."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from capsieve.report.frame_flag import FrameFlag, list_length, list_verdict
from capsieve.report.text import number, percent
from capsieve.report.words import digits
from capsieve.results import Evidence, FrameResult
from capsieve.store.record import Flagging, Record

__all__ = [
    "described",
    "flag_threshold",
    "flagging_words",
    "is_probability",
    "score_text",
    "score_verdict",
    "score_warning",
    "score_why",
]


def flag_threshold(record: Record) -> float | None:
    """Return the lowest score of a flagged frame: the threshold, or the last score of a list."""
    flagging = record["flagging"]
    return flagging["value"] if flagging["rule"] == "threshold" else flagging["last_score"]


def flagging_words(flagging: Flagging, *, probability: bool) -> str:
    """Return the rule of an exam's flags if it is not the detector's own threshold; else ""."""
    own, above = flagging["score_threshold"], flagging["share_above_threshold"]
    if flagging["rule"] == "threshold" and own in (None, flagging["value"]):
        return ""
    text = partial(score_text, probability=probability)
    if flagging["rule"] == "threshold":
        words = f"Flagged are frames with a score of at least {text(flagging['value'])}"
    else:
        words = f"Flagged by a reading list: {list_length(flagging)}"
        if flagging["last_score"] is not None:
            words += f"; last listed score {text(flagging['last_score'])}"
    if own is None:
        return f"{words}. The detector has no threshold of its own."
    share = "" if above is None else f", reached by {percent(above)} of the scored frames"
    return f"{words}. The detector's own threshold is {text(own)}{share}."


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


def score_verdict(
    result: FrameResult,
    *,
    threshold: float | None,
    probability: bool,
    flag: FrameFlag | None = None,
) -> str:
    """Return the verdict with the score and the threshold, or with the position on the list."""
    what = "probability of a polyp" if probability else "score"
    if flag is not None and flag.by_list and flag.position is not None:
        text = partial(score_text, probability=probability)
        return list_verdict(flag, what.capitalize(), "", text)
    if threshold is None:
        text = score_text(result.score, probability=probability)
        return f"No threshold: the {what} is {text}."
    score = score_text(result.score, threshold, probability=probability)
    bound = score_text(threshold, probability=probability)
    if result.score >= threshold:
        return f"Polyp: the {what} is high enough: {score}, at least {bound}."
    return f"Normal: the {what} is too low: {score}, below {bound}."


def score_why(
    result: FrameResult,
    *,
    threshold: float | None,
    probability: bool,
    flag: FrameFlag | None = None,
) -> list[str]:
    """Return the verdict and the place, one line each.

    Parameters
    ----------
    result
        What the detector said.
    threshold, probability
        The lowest score of a flagged frame, and whether scores are probabilities.
    flag
        The stored flag of a frame of a screened exam.
    """
    verdict = score_verdict(result, threshold=threshold, probability=probability, flag=flag)
    lines = [verdict]
    if result.place is not None:
        row, col, radius = result.place
        lines.append(
            f"It points at row {row:.0f}, column {col:.0f}, radius {radius:.0f}, in the source's "
            "pixels."
        )
    return lines


def score_warning(result: FrameResult, flag: FrameFlag | None) -> list[str]:
    """Return a warning if the frame gets another score today than when it was screened."""
    if flag is None or math.isclose(flag.score, result.score, rel_tol=1e-4, abs_tol=1e-6):
        return []
    return [
        f"Warning: the score is {result.score:.6g} today and was {flag.score:.6g} when the exam "
        "was screened; the software or the model has changed."
    ]


def described(evidence: Evidence) -> list[str]:
    """Return one line for each measured property of a frame, with its usual range."""
    return [
        f"{each.words.rstrip('.')}: {number(each.value)}, usually {number(each.low)} to "
        f"{number(each.high)} ({each.unit})."
        for each in evidence.properties
    ]
