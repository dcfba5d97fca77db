"""One colon, put together: its parts, its state at a moment, and how much of a polyp is seen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.camera import Lens
from capsieve.phantom.centreline import Centreline, make_centreline
from capsieve.phantom.kernels.trace import sees
from capsieve.phantom.motion import Pose, Way, head_pose, make_way
from capsieve.phantom.polyps import SOLID, Polyp, solid_of
from capsieve.phantom.wall import ROW_MM, SIGHT_MM, Wall, make_wall

__all__ = ["PER_MM", "Anatomy", "Moment", "make_anatomy", "moment_at", "visibility"]

PER_MM = np.float32(1 / ROW_MM)
_BUNDLE = 32  # rays each way for one polyp's visibility


@dataclass(frozen=True)
class Anatomy:
    """The parts of a colon that never change."""

    line: Centreline
    wall: Wall
    way: Way


@dataclass(frozen=True)
class Moment:
    """The state of the colon and of one camera.

    Attributes
    ----------
    radius
        The map of R.
    polyps, solids
        The polyps within sight, and their solids in the same order.
    pose
        The camera.
    activity, motion
        The gut's clock, and the kind of motion.
    """

    radius: NDArray[np.float32]
    polyps: tuple[Polyp, ...]
    solids: NDArray[np.float32]
    pose: Pose
    activity: float
    motion: str


def make_anatomy(seed: int, length_mm: int) -> Anatomy:
    """Return the colon of a seed."""
    return Anatomy(
        make_centreline(seed, length_mm), make_wall(seed, length_mm), make_way(seed, length_mm)
    )


def moment_at(
    anatomy: Anatomy, polyps: tuple[Polyp, ...], progress: float, head: int = 0
) -> Moment:
    """Return the state of everything at one point of the capsule's way."""
    s, activity, _, _, motion = anatomy.way.at(progress)
    radius = anatomy.wall.radius(activity, s)
    near = tuple(polyp for polyp in polyps if abs(polyp.position_mm - s) < SIGHT_MM - 30)
    solids = np.zeros((len(near), len(SOLID)), np.float32)
    for k, polyp in enumerate(near):
        solids[k] = solid_of(polyp, anatomy.line, radius)
    pose = head_pose(anatomy.way, progress, head, anatomy.line, radius, solids)
    return Moment(radius, near, solids, pose, activity, motion)


def visibility(
    moment: Moment, index: int, lens: Lens, line: Centreline, *, rays: int = _BUNDLE
) -> tuple[float, float, float]:
    """Return the seen part of a polyp's silhouette, about how many pixels show it, its distance.

    A bundle of rays goes to the polyp. The part is by solid angle: what is seen inside the field,
    over what would be seen in all directions if nothing were in the way.

    Parameters
    ----------
    moment, lens, line
        The state, the lens, the centreline.
    index
        The polyp's place in the moment's tuple.
    rays
        How many rays each way.
    """
    solid = moment.solids[index].astype(np.float64)
    pose = moment.pose
    away = solid[:3] - pose.position
    distance = float(np.linalg.norm(away))
    if distance < 1e-6:
        return 0.0, 0.0, 0.0
    towards = away / distance
    bound = solid[SOLID.index("bound")]
    spread = float(min(bound / np.sqrt(max(distance**2 - bound**2, 1e-9)), 2.5))
    side = np.cross(towards, np.eye(3)[int(np.argmin(np.abs(towards)))])
    side /= np.linalg.norm(side)
    axis = spread * ((np.arange(rays) + 0.5) * 2 / rays - 1)
    a, b = (grid.ravel()[:, np.newaxis] for grid in np.meshgrid(axis, axis))
    bundle = towards + a * side + b * np.cross(towards, side)
    length = np.linalg.norm(bundle, axis=1)
    bundle /= length[:, np.newaxis]
    local = bundle @ pose.rotation
    inside = lens.contains(lens.project(local))
    answer = sees(
        pose.position.astype(np.float32), bundle.astype(np.float32), inside,
        np.float32(pose.s_mm), line.table, moment.radius, PER_MM, moment.solids, index,
    )  # fmt: skip
    solid_angle = (2 * spread / rays) ** 2 / length**3
    whole = float(solid_angle[answer > 0].sum())
    seen = answer == 2
    off_axis = np.arccos(np.clip(local[:, 2], -1, 1))
    stretch = off_axis / np.maximum(np.sin(off_axis), 1e-6)
    pixels = float((solid_angle * stretch)[seen].sum()) * lens.pixels_per_radian**2
    part = float(solid_angle[seen].sum()) / whole if whole else 0.0
    return part, pixels, distance
