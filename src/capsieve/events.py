"""Events: flagged frames that may show the same polyp, and the near copies among them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np

__all__ = ["LONGEST_GAP_FRAMES", "LONGEST_GAP_S", "Event", "Flagged", "group", "near_copies"]

LONGEST_GAP_S = 1.0
"""Flagged frames further apart in time belong to different events, unless they are close ..."""

LONGEST_GAP_FRAMES = 3
"""... in number: slow capsules take a frame every other second, and image files have no time."""

_COPY_MEAN = 2.0  # grey levels between two signatures: no more than noise and compression make
_COPY_LARGEST = 16


@dataclass(frozen=True, slots=True)
class Flagged:
    """A flagged frame, as far as grouping looks at it.

    Attributes
    ----------
    head, frame, time, score
        As in the table of frames.
    row, col, radius
        The best ball in the source's pixels; None where the detector points at no place.
    signature
        A tiny grey picture of the frame, as bytes.
    """

    head: int
    frame: int
    time: float | None
    score: float
    row: float | None
    col: float | None
    radius: float | None
    signature: bytes | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Flagged frames of one head that may show the same polyp, in order.

    Attributes
    ----------
    members
        At least one.
    copies
        For each member that is nearly a copy of another one: the frame number of that one.
    """

    members: tuple[Flagged, ...]
    copies: Mapping[int, int]

    @property
    def best(self) -> Flagged:
        """The member with the highest score, the first of equals."""
        return max(self.members, key=lambda member: (member.score, -member.frame))


def group(flagged: Iterable[Flagged]) -> list[Event]:
    """Group flagged frames into events, ranked.

    A frame joins the event whose latest member is close in time (:data:`LONGEST_GAP_S`, or
    :data:`LONGEST_GAP_FRAMES`) and whose ball lies where its own does: the centres are no further
    apart than the mean of the radii. Of several such events the one with the nearest ball is
    taken. The events are ranked by the score of their best frame, then by their length.

    On the phantom's demo study twice the gap and balls that merely touch make half as many events,
    but a fifth of them holds a polyp and something else, and its best frame may hide the polyp.

    Parameters
    ----------
    flagged
        Sorted by head and frame.
    """
    finished: list[list[Flagged]] = []
    within_reach: list[list[Flagged]] = []
    for frame in flagged:
        finished += [event for event in within_reach if not _close_in_time(event[-1], frame)]
        within_reach = [event for event in within_reach if _close_in_time(event[-1], frame)]
        distances = [_distance(event[-1], frame) for event in within_reach]
        if distances and min(distances) <= 1.0:
            within_reach[distances.index(min(distances))].append(frame)
        else:
            within_reach.append([frame])
    groups = finished + within_reach
    return sorted((Event(tuple(event), near_copies(event)) for event in groups), key=_rank)


def near_copies(members: Sequence[Flagged]) -> dict[int, int]:
    """Return, for each frame that need not be shown, the one that is shown in its place.

    Members that are nearly equal to the first of their run are one run: the comparison is with the
    first and not with the last one, so that a slow drift adds up until a new run begins. Of each
    run the member with the highest score is shown, the first of equals.
    """
    runs: list[list[Flagged]] = []
    for member in members:
        if runs and _nearly_equal(runs[-1][0].signature, member.signature):
            runs[-1].append(member)
        else:
            runs.append([member])
    copies: dict[int, int] = {}
    for run in runs:
        shown = max(run, key=lambda member: (member.score, -member.frame))
        copies |= {member.frame: shown.frame for member in run if member is not shown}
    return copies


def _close_in_time(earlier: Flagged, later: Flagged) -> bool:
    if earlier.head != later.head:
        return False
    if later.frame - earlier.frame <= LONGEST_GAP_FRAMES:
        return True
    if earlier.time is None or later.time is None:
        return False
    return abs(later.time - earlier.time) <= LONGEST_GAP_S


def _distance(one: Flagged, other: Flagged) -> float:
    """Distance of the balls' centres over the mean of their radii; 0 where there is no place."""
    if one.row is None or one.col is None or other.row is None or other.col is None:
        return 0.0
    reach = 0.5 * ((one.radius or 0.0) + (other.radius or 0.0))
    distance = hypot(one.row - other.row, one.col - other.col)
    return distance / reach if reach > 0 else float(distance > 0)


def _nearly_equal(one: bytes | None, other: bytes | None) -> bool:
    if one is None or other is None or len(one) != len(other):
        return False
    first, second = (np.frombuffer(side, np.uint8).astype(np.int16) for side in (one, other))
    difference = np.abs(first - second)
    return float(difference.mean()) <= _COPY_MEAN and int(difference.max()) <= _COPY_LARGEST


def _rank(event: Event) -> tuple[float, int, int, int]:
    first = event.members[0]
    return -event.best.score, -len(event.members), first.head, first.frame
