"""Which frame is taken where on the capsule's way, also so that a polyp gets exactly N frames."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.phantom.camera import Lens
from capsieve.phantom.polyps import Polyp
from capsieve.phantom.scene import Anatomy, moment_at, visibility
from capsieve.phantom.truth import LabelRule

__all__ = ["Piece", "Sight", "arrange", "find_runs", "plainly_sees", "progress_of", "survey"]

SAMPLES = 96 * 16
_CENTRAL = math.radians(50)
_CLEARLY = 1.35  # the factor by which thresholds are missed or met: no frame sits on the fence


@dataclass(frozen=True)
class Piece:
    """Frames at even distances on a stretch of the way; `first` is the number of its first."""

    first: int
    count: int
    start: float
    stop: float


@dataclass(frozen=True)
class Sight:
    """What the samples of the way see: per polyp clearly visible, clearly not; and tumbling."""

    visible: NDArray[Any]
    hidden: NDArray[Any]
    tumbling: NDArray[Any]


def progress_of(pieces: tuple[Piece, ...], number: int) -> tuple[float, float]:
    """Return where on the way a frame is taken, and how far it is to the next."""
    for piece in pieces:
        if number < piece.first + piece.count:
            step = (piece.stop - piece.start) / piece.count
            return piece.start + (number - piece.first + 0.5) * step, step
    raise IndexError(number)


def survey(anatomy: Anatomy, polyps: tuple[Polyp, ...], lens: Lens, rule: LabelRule) -> Sight:
    """Look for every polyp from samples all along the way, with a few rays each."""
    count = SAMPLES + 1
    visible = np.zeros((len(polyps), count), bool)
    hidden = np.ones((len(polyps), count), bool)
    tumbling = np.zeros(count, bool)
    # A bend brings places nearer than the way between them is long; it never halves it.
    reach = 2 * _CLEARLY * rule.farthest_mm
    for k in range(count):
        s, _, _, _, motion = anatomy.way.at(k / SAMPLES)
        tumbling[k] = motion == "tumble"
        if all(abs(polyp.position_mm - s) > reach for polyp in polyps):
            continue
        moment = moment_at(anatomy, polyps, k / SAMPLES)
        for index, polyp in enumerate(moment.polyps):
            towards = moment.solids[index, :3] - moment.pose.position
            away = float(np.linalg.norm(towards))
            if away > _CLEARLY * rule.farthest_mm:
                continue
            share, pixels, distance = visibility(moment, index, lens, anatomy.line)
            at = polyps.index(polyp)
            # A sequence is one that a reader would choose: the polyp is not at the field's end.
            central = towards @ moment.pose.rotation[:, 2] > math.cos(_CENTRAL) * away
            visible[at, k] = central and rule.is_met(
                share, pixels, distance, lens.size, slack=_CLEARLY
            )
            hidden[at, k] = not rule.is_met(share, pixels, distance, lens.size, slack=1 / _CLEARLY)
    return Sight(visible, hidden, tumbling)


def plainly_sees(
    anatomy: Anatomy,
    polyps: tuple[Polyp, ...],
    lens: Lens,
    rule: LabelRule,
    which: int,
    progress: float,
) -> bool:
    """Return whether one polyp, and no other, is seen at a point of the way, with some margin."""
    moment = moment_at(anatomy, polyps, progress)
    for index, polyp in enumerate(moment.polyps):
        seen = visibility(moment, index, lens, anatomy.line)
        mine = polyp == polyps[which]
        if rule.is_met(*seen, lens.size, slack=1.2 if mine else 1 / 1.2) != mine:
            return False
    return any(polyp == polyps[which] for polyp in moment.polyps)


def find_runs(sight: Sight, which: int) -> tuple[int, int] | None:
    """Return first and last sample of the longest stretch that shows one polyp and no other."""
    others = np.delete(sight.hidden, which, axis=0).all(axis=0)
    good = sight.visible[which] & others & ~sight.tumbling
    runs = _stretches(good)
    return max(runs, key=lambda run: run[1] - run[0], default=None)


def arrange(
    sight: Sight,
    sequence_lengths: tuple[int, ...],
    normal_frames: int,
    is_seen: Callable[[int, float], bool],
) -> tuple[Piece, ...]:
    """Return the pieces that give each polyp its number of consecutive frames, normal elsewhere.

    Parameters
    ----------
    sight
        What the samples of the way see.
    sequence_lengths, normal_frames
        How many frames of each polyp, and how many of none.
    is_seen
        Whether a polyp (from 0) is plainly seen at a point of the way: asked for every frame.
    """
    stretches: list[tuple[float, float, int]] = []
    for which, length in enumerate(sequence_lengths):
        run = find_runs(sight, which)
        place = _tightened(run, length, which, is_seen) if run else None
        if place is None:
            raise ParameterError("sequence_lengths", f"polyp {which + 1} is never plainly seen")
        stretches.append((*place, length))
    clear = np.asarray(sight.hidden.all(axis=0))
    # While the capsule tumbles, much can pass between two samples: all of the tumble or none.
    for first, last in _stretches(sight.tumbling):
        clear[first : last + 1] &= clear[max(first - 1, 0) : last + 2].all()
    # Nor does a frame lie next to a sample that may see a polyp.
    clear = clear & np.append(clear[1:], True) & np.append(True, clear[:-1])
    empty = _stretches(clear)
    total = sum(last - first for first, last in empty)
    if normal_frames and not total:
        raise ParameterError("normal_frames", "no part of the way is free of polyps")
    done = 0
    for first, last in empty:
        before, done = done, done + last - first
        share = round(normal_frames * done / total) - round(normal_frames * before / total)
        stretches.append((first / SAMPLES, last / SAMPLES, share))
    pieces: list[Piece] = []
    number = 0
    for first, last, count in sorted(stretches):
        if count:
            pieces.append(Piece(number, count, first, last))
            number += count
    return tuple(pieces)


def _tightened(
    run: tuple[int, int], count: int, which: int, is_seen: Callable[[int, float], bool]
) -> tuple[float, float] | None:
    """Return the part of a run on which every one of its frames sees the polyp."""
    start, stop = run[0] / SAMPLES, run[1] / SAMPLES
    for _ in range(8):
        places = start + (stop - start) * (np.arange(count) + 0.5) / count
        seen = np.array([is_seen(which, float(place)) for place in places])
        if seen.all():
            return start, stop
        edges = np.flatnonzero(np.diff(np.concatenate([[0], seen.astype(np.int8), [0]])))
        if not len(edges):
            return None
        longest = int(np.argmax(edges[1::2] - edges[::2]))
        start, stop = float(places[edges[2 * longest]]), float(places[edges[2 * longest + 1] - 1])
    return None


def _stretches(good: NDArray[Any]) -> list[tuple[int, int]]:
    """Return first and last sample of every run of at least two."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(np.int8), [0]])))
    runs = zip(edges[::2], edges[1::2] - 1, strict=True)
    return [(int(first), int(last)) for first, last in runs if last > first]
