"""Why the tables of a screened exam flag a frame or not: by a threshold or by a reading list."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from capsieve.parameters import Parameters
from capsieve.report.text import plural
from capsieve.results import FrameResult, Reason
from capsieve.store.exam import Exam
from capsieve.store.record import Flagging

__all__ = ["FrameFlag", "frame_flag", "list_length", "list_verdict", "rule_parameters"]

Result = TypeVar("Result", bound=FrameResult)

_BY_SCORE = ("polyp", "radius-low", "score-low")  # reasons of frames that a list can contain


@dataclass(frozen=True, slots=True)
class FrameFlag:
    """The flag of one frame.

    Attributes
    ----------
    flagged, reason, score
        Of the frame's row in frames.parquet.
    flagging
        The rule of the exam.
    position
        In the order of scores, from 1; near-identical frames have one position together. None if a
        rule of the detector rejected the frame.
    duplicate_of
        The near-identical frame with a higher score, which has the position; None if it is this
        frame.
    """

    flagged: bool
    reason: Reason
    score: float
    flagging: Flagging
    position: int | None
    duplicate_of: int | None

    @property
    def by_list(self) -> bool:
        """Whether the exam has a reading list."""
        return self.flagging["rule"] != "threshold"

    def apply(self, result: Result) -> Result:
        """Return a result with the stored label and reason."""
        return replace(result, label="polyp" if self.flagged else "normal", reason=self.reason)


def frame_flag(exam: Exam, frame: int, head: int = 0) -> FrameFlag | None:
    """Read the flag of a frame from the tables; None if the frame has no score.

    Raises
    ------
    FileError
        There is no such frame, or a table cannot be read.
    """
    row = exam.row(frame, head)
    if row["score"] is None:
        return None
    position, best = _position(exam, frame, head) if row["reason"] in _BY_SCORE else (None, frame)
    return FrameFlag(
        flagged=row["flagged"],
        reason=row["reason"],
        score=row["score"],
        flagging=exam.record["flagging"],
        position=position,
        duplicate_of=None if best == frame else best,
    )


def _position(exam: Exam, frame: int, head: int) -> tuple[int, int]:
    """Return the position of a frame and the frame of its near-duplicates that has it."""
    rows = exam.columns("head", "frame", "score", "reason", "duplicate_of").to_pylist()
    candidates = [row for row in rows if row["score"] is not None and row["reason"] in _BY_SCORE]
    candidates.sort(key=lambda row: (-row["score"], row["head"], row["frame"]))
    best: dict[tuple[int, int], int] = {}
    for row in candidates:
        best.setdefault(_first(row), row["frame"])
    own = next(_first(row) for row in candidates if (row["head"], row["frame"]) == (head, frame))
    return list(best).index(own) + 1, best[own]


def _first(row: dict[str, int | None]) -> tuple[int, int]:
    """Return head and number of the first of near-identical frames."""
    head, frame, earlier = row["head"], row["frame"], row["duplicate_of"]
    assert head is not None
    assert frame is not None
    return head, frame if earlier is None else earlier


def list_length(flagging: Flagging) -> str:
    """Return the length of a reading list: ``10 % of the frames, 53 frames``."""
    frames = plural(flagging["frames"], "frame")
    if flagging["rule"] == "share":
        return f"{100 * flagging['value']:.6g} % of the frames, {frames}"
    asked = int(flagging["value"])
    return frames if asked == flagging["frames"] else f"{asked:,} frames asked for, {frames}"


def list_verdict(flag: FrameFlag, score: str, own: str, text: Callable[[float], str]) -> str:
    """Return whether a frame is on the reading list, with its position and the scores.

    Parameters
    ----------
    flag
        Of a frame with a position.
    score, own
        Beginning of the statement about the score, such as "R_max =", and of that about the
        detector's own threshold, such as "R_P =".
    text
        Formats a score.
    """
    flagging, length = flag.flagging, list_length(flag.flagging)
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
