"""The capsule's way: forward, backward, standing still, tumbling; off the axis and at the wall.

The way is a function of one number, the progress from 0 to 1, and needs no memory of what came
before. A clock of activity runs along with it and stands where the capsule stands; it drives the
sway, the roll and the gut's contractions, so that a standing capsule sees a standing picture.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.centreline import Centreline
from capsieve.phantom.kernels.trace import touches
from capsieve.phantom.noise import generator, smoothstep, wave
from capsieve.phantom.wall import ROW_MM

__all__ = ["Pose", "Way", "axis_place", "head_pose", "make_way"]

_STEPS = 96
_KINDS = ("forward", "backward", "still", "tumble", "contact")
_SHARES = (0.46, 0.12, 0.14, 0.06, 0.22)
_MARGIN_MM = 60.0
_CAPSULE_MM = 22.0  # between the two lenses
_ROOM_MM = 3.0  # from the pupil to the wall: the dome touches it


@dataclass(frozen=True)
class Pose:
    """Where a camera is and how it is turned.

    Attributes
    ----------
    position
        x, y, z in mm.
    rotation
        3 x 3; its columns are the camera's right, down and forward in the world.
    s_mm
        The position along the centreline.
    """

    position: NDArray[Any]
    rotation: NDArray[Any]
    s_mm: float


@dataclass(frozen=True)
class Way:
    """The capsule's way through one colon; see :func:`make_way`."""

    places: NDArray[Any]
    activities: NDArray[Any]
    turns: NDArray[Any]
    touching: NDArray[Any]
    sway: NDArray[Any]
    kinds: tuple[str, ...]

    def at(self, progress: float) -> tuple[float, float, float, float, str]:
        """Return s in mm, activity, extra turn, nearness to the wall (0..1), kind of motion."""
        along = min(max(progress, 0.0), 1.0) * _STEPS
        k = min(int(along), _STEPS - 1)
        part = float(smoothstep(along - k))
        tables = (self.places, self.activities, self.turns, self.touching)
        s, activity, turn, near = (float(t[k] + part * (t[k + 1] - t[k])) for t in tables)
        return s, activity, turn, near, self.kinds[k]


@lru_cache(maxsize=8)
def make_way(seed: int, length_mm: int) -> Way:
    """Return the capsule's way: a fixed number of steps, each of one kind of motion."""
    rng = generator(seed, "way")
    kinds = [str(kind) for kind in rng.choice(_KINDS, _STEPS, p=_SHARES)]
    speed = {"forward": 1.0, "backward": -0.4, "still": 0.0, "tumble": 0.35, "contact": 0.4}
    advance = np.array([speed[kind] * rng.uniform(0.5, 1.5) for kind in kinds])
    places = np.concatenate([[0.0], np.cumsum(advance)])
    # A backward step may not undo everything: the way always ends farther than it began.
    places = places - places.min()
    places = _MARGIN_MM + places * (length_mm - 2 * _MARGIN_MM) / max(places.max(), 1.0)
    active = np.array([0.0 if kind == "still" else rng.uniform(0.7, 1.4) for kind in kinds])
    spins = [rng.choice((-1, 1)) * rng.uniform(0.5, 1.0) * 2 * math.pi for _ in kinds]
    turns = np.array(
        [spin if kind == "tumble" else 0.0 for kind, spin in zip(kinds, spins, strict=True)]
    )
    # After a tumble the capsule lies along the colon again, one way or nearly so.
    turns = np.round(np.cumsum(turns) / (2 * math.pi)) * 2 * math.pi
    touching = np.zeros(_STEPS + 1)
    for k, kind in enumerate(kinds[:-1]):
        if kind == "contact":
            touching[k : k + 2] = rng.uniform(0.75, 1.0)
    for k, kind in enumerate(kinds):
        if kind == "still":  # standing still at the wall is standing still too
            touching[k + 1] = touching[k]
    return Way(
        places=places,
        activities=np.concatenate([[0.0], np.cumsum(active)]),
        turns=np.concatenate([[0.0], turns]),
        touching=touching,
        sway=np.stack([wave(rng, 5, 0.5, 4.2) for _ in range(6)]),
        kinds=tuple(kinds),
    )


def head_pose(
    way: Way,
    progress: float,
    head: int,
    line: Centreline,
    radius: NDArray[np.float32],
    solids: NDArray[np.float32],
) -> Pose:
    """Return where a head's camera is. It is always inside the lumen, outside every polyp."""
    s, activity, turn, near, _ = way.at(progress)
    amplitude, frequency, phase = np.moveaxis(way.sway, 2, 0)
    sway = np.sum(amplitude * np.sin(frequency * activity + phase), axis=1)
    point, tangent, normal, binormal = line.at(s)
    bearing = 2.2 * sway[2] + 0.35 * activity
    outward = math.cos(bearing) * normal + math.sin(bearing) * binormal

    # At the wall the camera turns to it; elsewhere it sways about the axis.
    tilt = 0.8 * sway[:2] + 0.10 * np.array([math.sin(turn), 0.0])
    forward = tangent + 1.8 * np.tanh(tilt[0]) * normal + 1.8 * np.tanh(tilt[1]) * binormal
    forward = (1 - near) * forward / np.linalg.norm(forward) + near * (0.25 * tangent + outward)
    forward /= np.linalg.norm(forward)
    side = np.cross(forward, outward + 0.3 * binormal + 0.01 * normal)
    side /= np.linalg.norm(side)
    forward = math.cos(turn) * forward + math.sin(turn) * np.cross(side, forward)
    if head:
        forward = -forward
        point = point + 0.5 * _CAPSULE_MM * forward
        s, _, _ = axis_place(point, s, line, radius, solids)
        point, _, normal, binormal = line.at(s)
        outward = math.cos(bearing) * normal + math.sin(bearing) * binormal

    row = int(s / ROW_MM)
    span = radius[max(row - 5, 0) : row + 6]
    free = max(float(np.quantile(span, 0.05)) - _ROOM_MM - 1.0, 0.0)
    share = max(min(abs(0.5 * sway[3]) + 0.2, 0.95) * (1 - near), near)
    position = _freed(point + share * free * outward, point, s, line, radius, solids)

    roll = 1.1 * sway[4] + 0.15 * activity
    # Any vector will do for "down", if only it is never along the view and moves smoothly.
    down = math.cos(roll) * side + math.sin(roll) * np.cross(forward, side)
    right = np.cross(down, forward)
    rotation = np.stack([right, down, forward], axis=1)
    s, _, _ = axis_place(position, s, line, radius, solids)
    return Pose(position=position, rotation=rotation, s_mm=s)


def axis_place(
    point: NDArray[Any],
    s: float,
    line: Centreline,
    radius: NDArray[np.float32],
    solids: NDArray[np.float32],
) -> tuple[float, float, float]:
    """Return s, theta and the room around a point, from a first guess of s."""
    x, y, z = (np.float32(value) for value in point)
    place = np.float32(s)
    room, theta = np.float32(0), np.float32(0)
    for _ in range(4):
        room, place, theta = touches(
            x, y, z, np.float32(place), line.table, radius, np.float32(1 / ROW_MM), solids
        )
    return float(place), float(theta), float(room)


def _freed(
    position: NDArray[Any],
    axis: NDArray[Any],
    s: float,
    line: Centreline,
    radius: NDArray[np.float32],
    solids: NDArray[np.float32],
) -> NDArray[Any]:
    """Move a position towards more room until the dome fits, as the gut would push it."""
    for _ in range(24):
        place, _, room = axis_place(position, s, line, radius, solids)
        if room >= _ROOM_MM:
            break
        slope = np.zeros(3)
        for k in range(3):
            step = np.zeros(3)
            step[k] = 0.4
            slope[k] = (
                axis_place(position + step, place, line, radius, solids)[2]
                - axis_place(position - step, place, line, radius, solids)[2]
            )
        size = float(np.linalg.norm(slope))
        inward = axis - position
        distance = float(np.linalg.norm(inward))
        if size < 1e-3 and distance > 1e-6:
            slope, size = inward, distance
        if size < 1e-6:
            break
        position = position + slope / size * min(_ROOM_MM - room + 0.1, 1.5)
    return position
