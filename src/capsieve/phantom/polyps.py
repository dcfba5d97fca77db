"""Polyps: position, kind and size, and the solid that a polyp forms on the wall."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.colon import COLUMNS, ROW_MM, Colon
from capsieve.phantom.noise import generator

KINDS = ("sessile", "pedunculated", "flat")

SOLID = (
    *("x", "y", "z", "ux", "uy", "uz", "vx", "vy", "vz", "wx", "wy", "wz"),
    *("radius_u", "radius_v", "radius_w", "lobe_mm", "lobe_wave", "lobe_phase", "bound"),
    *("stalk_mm", "stalk_radius", "foot"),
)
"""Columns of a solid, in the order of the kernels: centre; three axes, w away from the wall; radii;
lobes; radius of the enclosing sphere; stalk; and `foot`, the height along w, from the centre, below
which the polyp is inside the wall."""


class Surfaces(NamedTuple):
    """Centreline, map of R, its rows per mm, and a row of `SOLID` per polyp, at one time."""

    line: NDArray[np.float32]
    radius: NDArray[np.float32]
    per_mm: np.float32
    solids: NDArray[np.float32]


@dataclass(frozen=True)
class Polyp:
    """One polyp."""

    id: int  # number from 1, in the order along the colon
    kind: str  # "sessile", "pedunculated" or "flat"
    size_mm: float  # greatest width, 3 to 20
    # Position on the wall: s in mm, theta in radians.
    position_mm: float
    bearing: float
    # How much redder and more textured it is than the wall: 0 equal, 1 clearly.
    redness: float
    roughness: float
    shape: int  # seed of lobes, orientation and texture


def draw_polyp(seed: int, number: int, position_mm: float, *, attempt: int = 0) -> Polyp:
    """Draw a random polyp near a position; another `attempt` gives another polyp."""
    rng = generator(seed, "polyp", number, attempt)
    kind = str(rng.choice(KINDS, p=(0.52, 0.3, 0.18)))
    low, high = {"sessile": (3, 15), "pedunculated": (6, 20), "flat": (5, 18)}[kind]
    size = low + (high - low) * rng.beta(1.5, 1.6)
    return Polyp(
        id=number,
        kind=kind,
        size_mm=round(float(size), 2),
        position_mm=round(position_mm + float(rng.uniform(-6, 6)), 2),
        bearing=round(float(rng.uniform(0, 2 * math.pi)), 4),
        redness=round(0.7 * float(rng.uniform(0.4, 1.6)), 3),
        roughness=round(0.5 * float(rng.uniform(0.5, 1.5)), 3),
        shape=int(rng.integers(2**31)),
    )


def solid_of(polyp: Polyp, colon: Colon, radius: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the polyp as a row of `SOLID`, placed on the wall with the map of radii `radius`."""
    rng = np.random.default_rng(polyp.shape)
    row = min(round(polyp.position_mm / ROW_MM), len(radius) - 2)
    col = round(polyp.bearing / (2 * math.pi) * COLUMNS) % COLUMNS
    centre, tangent, normal, binormal = colon.at(polyp.position_mm)
    outward = math.cos(polyp.bearing) * normal + math.sin(polyp.bearing) * binormal
    around = math.cos(polyp.bearing) * binormal - math.sin(polyp.bearing) * normal
    reach = float(radius[row, col])
    slope = float(radius[min(row + 4, len(radius) - 1), col] - radius[max(row - 4, 0), col])
    slope /= 8 * ROW_MM
    turn = float(radius[row, (col + 3) % COLUMNS] - radius[row, (col - 3) % COLUMNS])
    turn /= max(6 * 2 * math.pi / COLUMNS * reach, 0.5)
    # Half the slope: on the flank of a fold a polyp leans between the wall's normal and the lumen.
    up = -outward + 0.5 * np.clip(slope, -1, 1) * tangent + 0.5 * np.clip(turn, -1, 1) * around
    lean = rng.normal(0, 0.35 if polyp.kind == "pedunculated" else 0.12, 2)
    up = up + lean[0] * tangent + lean[1] * around
    up /= np.linalg.norm(up)
    angle = rng.uniform(0, math.pi)
    u = math.cos(angle) * tangent + math.sin(angle) * around
    u -= (u @ up) * up
    u /= np.linalg.norm(u)
    v = np.cross(up, u)

    half = polyp.size_mm / 2
    narrow = half * rng.uniform(0.72, 1.0)
    height, lift, stalk, thick = {
        "sessile": (half * rng.uniform(0.65, 1.0), half * rng.uniform(0.0, 0.3), 0.0, 0.0),
        "flat": (max(0.16 * half, 0.55), 0.0, 0.0, 0.0),
        "pedunculated": (half * 0.9, half * rng.uniform(1.2, 1.9), half * 2.4, half * 0.28),
    }[polyp.kind]
    lift = min(lift, max(reach - half, 0.3))  # a stalk bends in a narrow lumen
    place = centre + reach * outward + lift * up
    wave = 1.0 / half * rng.uniform(2.0, 3.6)
    lobe = half * rng.uniform(0.05, 0.16) * (0.35 if polyp.kind == "flat" else 1.0)
    bound = max(half, height, stalk + thick) + 1.5 * lobe + 0.05
    return np.array(
        [
            *(*place, *u, *v, *up),
            *(half, narrow, height, lobe, wave, rng.uniform(0, 6), bound),
            *(stalk, thick, 0.15 - lift),
        ],
        np.float32,
    )
