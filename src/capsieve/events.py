"""Events: flagged frames that may show the same polyp."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np

__all__ = ["LONGEST_GAP_FRAMES", "LONGEST_GAP_S", "Event", "Flagged", "group", "near_duplicates"]

LONGEST_GAP_S = 1.0
"""Flagged frames of one event are at most this far apart in time, or ..."""

LONGEST_GAP_FRAMES = 3
"""... in number: slow capsules take a frame every other second, and image files have no time."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """A flagged frame: its place in the exam, its score and the best ball in source pixels.

    The ball is None if the detector gives no place. The signature is a 16 x 16 grey image.
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
    """Flagged frames of one head in order; `duplicates` maps frames to the one shown instead."""

    members: tuple[Flagged, ...]
    duplicates: Mapping[int, int]

    @property
    def best(self) -> Flagged:
        """The member with the highest score; of equal scores the first."""
        return _best(self.members)


def group(flagged: Iterable[Flagged]) -> list[Event]:
    """Group flagged frames, sorted by head and frame, into events.

    A frame joins the event whose last member is close in time (:data:`LONGEST_GAP_S` or
    :data:`LONGEST_GAP_FRAMES`) and whose ball is at the same place: the distance of the centres is
    at most the mean radius. The nearest such event is taken. Events are sorted by the score of
    their best frame, then by length. (With twice the gap and balls that only touch, the demo study
    has half as many events, but a fifth of them mix a polyp with something else.)
    """
    closed: list[list[Flagged]] = []
    active: list[list[Flagged]] = []
    for frame in flagged:
        closed += [event for event in active if not _close_in_time(event[-1], frame)]
        active = [event for event in active if _close_in_time(event[-1], frame)]
        nearest = min(active, key=lambda event: _distance(event[-1], frame), default=None)
        if nearest is not None and _distance(nearest[-1], frame) <= 1.0:
            nearest.append(frame)
        else:
            active.append([frame])
    events = [Event(tuple(members), near_duplicates(members)) for members in closed + active]
    return sorted(
        events,
        key=lambda e: (-e.best.score, -len(e.members), e.members[0].head, e.members[0].frame),
    )


def near_duplicates(members: Sequence[Flagged]) -> dict[int, int]:
    """Return, for each frame that need not be shown, the number of the frame shown instead.

    Consecutive members that nearly equal the first of them form a run; comparing with the first
    makes a slow drift start a new run. The best member of each run is shown.
    """
    runs: list[list[Flagged]] = []
    for member in members:
        if runs and _nearly_equal(runs[-1][0].signature, member.signature):
            runs[-1].append(member)
        else:
            runs.append([member])
    return {m.frame: _best(run).frame for run in runs for m in run if m is not _best(run)}


def _best(members: Sequence[Flagged]) -> Flagged:
    return max(members, key=lambda member: (member.score, -member.frame))


def _close_in_time(earlier: Flagged, later: Flagged) -> bool:
    if earlier.head != later.head:
        return False
    if later.frame - earlier.frame <= LONGEST_GAP_FRAMES:
        return True
    if earlier.time is None or later.time is None:
        return False
    return abs(later.time - earlier.time) <= LONGEST_GAP_S


def _distance(one: Flagged, other: Flagged) -> float:
    """Return the distance of the centres in mean radii; 0 if a frame has no ball."""
    if one.row is None or one.col is None or other.row is None or other.col is None:
        return 0.0
    radius = 0.5 * ((one.radius or 0.0) + (other.radius or 0.0))
    distance = hypot(one.row - other.row, one.col - other.col)
    return distance / radius if radius > 0 else float(distance > 0)


def _nearly_equal(one: bytes | None, other: bytes | None) -> bool:
    """Return whether two signatures differ by no more than noise and compression cause."""
    if one is None or other is None or len(one) != len(other):
        return False
    first, second = (np.frombuffer(side, np.uint8).astype(np.int16) for side in (one, other))
    difference = np.abs(first - second)
    return float(difference.mean()) <= 2.0 and int(difference.max()) <= 16
