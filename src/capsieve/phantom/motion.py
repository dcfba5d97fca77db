"""Motion of the capsule: forward, backward, at rest, tumbling and in contact with the wall.

The motion is a function of one number, the progress from 0 to 1. A clock of activity runs with it
and stops when the capsule stands still; it drives sway, roll and the contractions of the gut, so
that a capsule at rest sees an unchanged scene.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.colon import LENGTH_MM, ROW_MM, Colon
from capsieve.phantom.kernels import trace
from capsieve.phantom.noise import generator, smoothstep, wave
from capsieve.phantom.polyps import Surfaces

_STEPS = 96
_SHARES = {"forward": 0.46, "backward": 0.12, "still": 0.14, "tumble": 0.06, "contact": 0.22}
_SPEEDS = {"forward": 1.0, "backward": -0.4, "still": 0.0, "tumble": 0.35, "contact": 0.4}
_MARGIN_MM = 60.0
_CAPSULE_MM = 22.0  # between the two lenses
_DOME_MM = 3.0  # from the pupil to the surface of the dome


class Station(NamedTuple):
    """State of the capsule: s, clock of the gut, tumbling angle, contact (0 to 1), kind."""

    s_mm: float
    activity: float
    turn: float
    contact: float
    kind: str


@dataclass(frozen=True)
class Pose:
    """Position and orientation of a camera."""

    position: NDArray[Any]  # x, y, z in mm
    # 3 x 3; its columns are the camera's right, down and forward in the world.
    rotation: NDArray[Any]
    s_mm: float  # position along the centreline


@dataclass(frozen=True)
class Motion:
    """Motion through one colon: tables over equal steps of progress, each of one kind."""

    tables: NDArray[Any]
    kinds: tuple[str, ...]
    sway: NDArray[Any]

    def at(self, progress: float) -> Station:
        """Return the state of the capsule at a progress from 0 to 1."""
        along = min(max(progress, 0.0), 1.0) * _STEPS
        k = min(int(along), _STEPS - 1)
        part = float(smoothstep(along - k))
        values = (float(t[k] + part * (t[k + 1] - t[k])) for t in self.tables)
        return Station(*values, kind=self.kinds[k])


@lru_cache(maxsize=8)
def make_motion(seed: int) -> Motion:
    """Return the motion of the capsule through the colon of a seed."""
    rng = generator(seed, "way")
    kinds = [str(kind) for kind in rng.choice(list(_SHARES), _STEPS, p=list(_SHARES.values()))]
    advance = np.array([_SPEEDS[kind] * rng.uniform(0.5, 1.5) for kind in kinds])
    places = np.concatenate([[0.0], np.cumsum(advance)])
    places = places - places.min()
    places = _MARGIN_MM + places * (LENGTH_MM - 2 * _MARGIN_MM) / max(places.max(), 1.0)
    active = np.array([0.0 if kind == "still" else rng.uniform(0.7, 1.4) for kind in kinds])
    spins = [rng.choice((-1, 1)) * rng.uniform(0.5, 1.0) * 2 * math.pi for _ in kinds]
    turns = np.where(np.array(kinds) == "tumble", spins, 0.0)
    # Whole turns: after a tumble the capsule lies along the colon again.
    turns = np.round(np.cumsum(turns) / (2 * math.pi)) * 2 * math.pi
    contact = np.zeros(_STEPS + 1)
    for k, kind in enumerate(kinds[:-1]):
        if kind == "contact":
            contact[k : k + 2] = rng.uniform(0.75, 1.0)
    for k, kind in enumerate(kinds):
        if kind == "still":
            contact[k + 1] = contact[k]
    activities = np.concatenate([[0.0], np.cumsum(active)])
    return Motion(
        tables=np.stack([places, activities, np.concatenate([[0.0], turns]), contact]),
        kinds=tuple(kinds),
        sway=np.stack([wave(rng, 5, 0.5, 4.2) for _ in range(6)]),
    )


def head_pose(motion: Motion, progress: float, head: int, colon: Colon, surfaces: Surfaces) -> Pose:
    """Return the pose of a head's camera, which is inside the lumen and outside every polyp."""
    s, activity, turn, contact, _ = motion.at(progress)
    amplitude, frequency, phase = np.moveaxis(motion.sway, 2, 0)
    sway = np.sum(amplitude * np.sin(frequency * activity + phase), axis=1)
    point, tangent, normal, binormal = colon.at(s)
    bearing = 2.2 * sway[2] + 0.35 * activity
    outward = math.cos(bearing) * normal + math.sin(bearing) * binormal

    # In contact with the wall the camera faces it; otherwise it sways about the axis.
    tilt = 0.8 * sway[:2] + 0.10 * np.array([math.sin(turn), 0.0])
    forward = tangent + 1.8 * np.tanh(tilt[0]) * normal + 1.8 * np.tanh(tilt[1]) * binormal
    forward = (1 - contact) * forward / np.linalg.norm(forward)
    forward += contact * (0.25 * tangent + outward)
    forward /= np.linalg.norm(forward)
    side = np.cross(forward, outward + 0.3 * binormal + 0.01 * normal)
    side /= np.linalg.norm(side)
    forward = math.cos(turn) * forward + math.sin(turn) * np.cross(side, forward)
    if head:
        forward = -forward
        s, _ = locate(point + 0.5 * _CAPSULE_MM * forward, s, surfaces)
        point, _, normal, binormal = colon.at(s)
        outward = math.cos(bearing) * normal + math.sin(bearing) * binormal

    row = int(s / ROW_MM)
    span = surfaces.radius[max(row - 5, 0) : row + 6]
    free = max(float(np.quantile(span, 0.05)) - _DOME_MM - 1.0, 0.0)
    share = max(min(abs(0.5 * sway[3]) + 0.2, 0.95) * (1 - contact), contact)
    position = _make_room(point + share * free * outward, point, s, surfaces)

    roll = 1.1 * sway[4] + 0.15 * activity
    # "Down" may be any direction that moves smoothly and is never along the view.
    down = math.cos(roll) * side + math.sin(roll) * np.cross(forward, side)
    rotation = np.stack([np.cross(down, forward), down, forward], axis=1)
    s, _ = locate(position, s, surfaces)
    return Pose(position=position, rotation=rotation, s_mm=s)


def locate(point: NDArray[Any], s: float, surfaces: Surfaces) -> tuple[float, float]:
    """Return s of a point, from a first guess, and the distance to the nearest surface."""
    x, y, z = point.astype(np.float32)
    place, room = trace.locate(x, y, z, np.float32(s), surfaces)
    return float(place), float(room)


def _make_room(
    position: NDArray[Any], axis: NDArray[Any], s: float, surfaces: Surfaces
) -> NDArray[Any]:
    """Move a position along the gradient of the clearance until the dome fits."""
    for _ in range(24):
        place, room = locate(position, s, surfaces)
        if room >= _DOME_MM:
            break
        slope = np.zeros(3)
        for k, step in enumerate(0.4 * np.eye(3)):
            _, ahead = locate(position + step, place, surfaces)
            _, behind = locate(position - step, place, surfaces)
            slope[k] = ahead - behind
        size = float(np.linalg.norm(slope))
        inward = axis - position
        distance = float(np.linalg.norm(inward))
        if size < 1e-3 and distance > 1e-6:
            slope, size = inward, distance
        if size < 1e-6:
            break
        position = position + slope / size * min(_DOME_MM - room + 0.1, 1.5)
    return position
