"""Which frames of an exam are flagged: by a threshold, or as a reading list."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from capsieve.detector import Detector
from capsieve.detectors import same_detector
from capsieve.errors import ParameterError
from capsieve.phash import NEAR_DUPLICATE_BITS
from capsieve.store.choice import Choice

__all__ = [
    "FlagRule",
    "Flags",
    "chosen_rule",
    "default_rule",
    "find_near_duplicates",
    "flag_frames",
    "flag_rule",
]

_DEFAULT_READ = "10%"  # detectors without a threshold


@dataclass(frozen=True, slots=True)
class FlagRule:
    """How the flagged frames of an exam are chosen.

    ``"threshold"``: frames with a score of at least `value`. ``"share"``: a reading list with that
    share, 0 to 1, of the scored frames that are not near-duplicates. ``"count"``: a reading list of
    so many frames.
    """

    rule: Literal["threshold", "share", "count"]
    value: float

    def __str__(self) -> str:
        """The option of the command line that gives this rule."""
        if self.rule == "threshold":
            return f"--threshold {self.value:g}"
        if self.rule == "count":
            return f"--read {self.value:.0f}"
        return f"--read {100 * self.value:.6g}%"


@dataclass(frozen=True, slots=True, eq=False)
class Flags:
    """The flagged frames of an exam."""

    flagged: NDArray[np.bool_]  # one value per frame
    listed: int  # flagged frames that count: near-duplicates of another flagged frame do not
    last_score: float | None  # lowest score that made a frame flagged; None if there is none
    too_long: bool  # the list is longer than what there is to read


def flag_rule(read: str | int | None, threshold: float | None) -> FlagRule | None:
    """Return the rule that a user asked for; None if there is none.

    Parameters
    ----------
    read
        ``"10%"`` for a share of the frames, or a count such as ``300`` or ``"300"``.
    threshold
        The lowest score of a flagged frame.

    Raises
    ------
    ParameterError
        Both are given, or a value is not possible.
    """
    if threshold is None:
        return None if read is None else _reading_list(read)
    if read is not None:
        raise ParameterError("read", "cannot be combined with a threshold; give only one of them")
    if not math.isfinite(threshold):
        raise ParameterError("threshold", f"must be a finite number, not {threshold}")
    return FlagRule("threshold", float(threshold))


def default_rule(detector: Detector) -> FlagRule:
    """Return the rule of a detector: its reading list, else its threshold, else 10 %."""
    read, threshold = getattr(detector, "default_read", None), detector.score_threshold
    if read is None and threshold is not None:
        return FlagRule("threshold", float(threshold))
    return _reading_list(read or _DEFAULT_READ)


def chosen_rule(choice: Choice, detector: Mapping[str, Any]) -> FlagRule | None:
    """Return the rule that calibration frames chose; None if it is R_P, one of the parameters.

    Parameters
    ----------
    choice
        From the file of the parameters.
    detector
        Identity of the detector to use it with.

    Raises
    ------
    ParameterError
        It was chosen for another detector.
    """
    if choice.rule is None or choice.value is None:
        return None
    wanted = {"name": choice.detector} | ({"model": choice.model} if choice.model else {})
    if not same_detector(detector, wanted):
        raise ParameterError(
            "parameters",
            f"{choice.chosen} was chosen for the detector {choice.detector}, and not for "
            f"{detector.get('name')}; give --detector {choice.detector}",
        )
    return FlagRule(choice.rule, choice.value)


def _reading_list(read: str | int) -> FlagRule:
    text = str(read).strip()
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) and int(text) > 0:
        return FlagRule("count", int(text))
    percent = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?) ?%", text, re.ASCII)
    if percent and 0 < float(percent[1]) <= 100:
        return FlagRule("share", float(percent[1]) / 100)
    raise ParameterError(
        "read", f"must be a share such as 10% (up to 100%) or a count such as 300, not {text!r}"
    )


def find_near_duplicates(phashes: Sequence[bytes | None]) -> NDArray[np.int64]:
    """Return for each frame of a head the earlier near-identical frame, or -1.

    Consecutive frames are compared with the first of them, so that a slow change ends a run. Frames
    without a hash, such as undecodable ones, do not end it.

    Parameters
    ----------
    phashes
        Perceptual hashes in the order of the frames; None if a frame has none.
    """
    duplicate_of = np.full(len(phashes), -1, np.int64)
    first, first_hash = -1, 0
    for frame, content in enumerate(phashes):
        if content is None:
            continue
        value = int.from_bytes(content)
        if first >= 0 and (value ^ first_hash).bit_count() <= NEAR_DUPLICATE_BITS:
            duplicate_of[frame] = first
        else:
            first, first_hash = frame, value
    return duplicate_of


def flag_frames(
    scores: NDArray[np.floating],
    rejected: NDArray[np.bool_],
    duplicate_of: NDArray[np.integer],
    rule: FlagRule,
) -> Flags:
    """Choose the flagged frames of a whole exam.

    A reading list takes the frames with the highest scores; of equal scores the earlier row. The
    near-duplicates of a listed frame are flagged with it and not counted, so that a capsule that
    stands still does not use up the list.

    Parameters
    ----------
    scores
        One per frame, sorted by head and frame; NaN if a frame was not scored.
    rejected
        Frames that are never flagged, because a rule of the detector rejected them.
    duplicate_of
        The row of the earlier near-identical frame, or -1.
    rule
        The threshold, share or count.
    """
    scored = ~np.isnan(scores)
    candidates = scored & ~rejected
    first = np.where(duplicate_of < 0, np.arange(len(scores)), duplicate_of)
    too_long = False
    if rule.rule == "threshold":
        flagged = candidates & (np.where(scored, scores, -np.inf) >= rule.value)
    else:
        # One entry per run of near-identical frames: its best frame.
        rows = np.flatnonzero(candidates)
        by_score = rows[np.argsort(-scores[rows], kind="stable")]
        _, positions = np.unique(first[by_score], return_index=True)
        best = by_score[np.sort(positions)]
        wanted = int(rule.value)
        if rule.rule == "share":
            # Exact decimals: 10 % of 70 frames is 7, not 8.
            wanted = math.ceil(round(rule.value * len(np.unique(first[scored])), 6))
        too_long = rule.rule == "count" and wanted > len(best)
        flagged = candidates & np.isin(first, first[best[:wanted]])
    runs, run = np.unique(first[flagged], return_inverse=True)
    best_score = np.full(len(runs), -np.inf)
    np.maximum.at(best_score, run, scores[flagged])
    last = float(best_score.min()) if len(runs) else None
    return Flags(flagged, len(runs), last, too_long)
