"""Colon and camera at one time, and how much of a polyp the camera sees."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from capsieve.phantom.camera import Lens
from capsieve.phantom.colon import ROW_MM, SIGHT_MM, Colon, make_colon
from capsieve.phantom.kernels.trace import sees
from capsieve.phantom.motion import Pose, Station, head_pose, make_motion
from capsieve.phantom.polyps import SOLID, Polyp, Surfaces, solid_of

VISIBLE_SHARE = 0.25  # of the polyp's silhouette
VISIBLE_PIXELS = 600.0  # on a frame of 512 x 512; other sizes in proportion to their area
FARTHEST_MM = 32.0  # from the camera to the polyp's centre: the lamps show little beyond
_RAYS = 32  # each way, to one polyp


@dataclass(frozen=True)
class Scene:
    """State of the colon and of one camera."""

    colon: Colon
    polyps: tuple[Polyp, ...]  # within sight
    surfaces: Surfaces  # their present surfaces; the solids are in the order of `polyps`
    station: Station  # of the capsule
    pose: Pose  # of the camera


class Sight(NamedTuple):
    """View of a polyp: visible share of its silhouette, estimated pixels, distance in mm."""

    share: float
    pixels: float
    distance_mm: float


def scene_at(seed: int, polyps: tuple[Polyp, ...], progress: float, head: int = 0) -> Scene:
    """Return the scene at a progress of the capsule from 0 to 1."""
    colon, motion = make_colon(seed), make_motion(seed)
    station = motion.at(progress)
    radius = colon.radius(station.activity, station.s_mm)
    near = tuple(p for p in polyps if abs(p.position_mm - station.s_mm) < SIGHT_MM - 30)
    solids = np.zeros((len(near), len(SOLID)), np.float32)
    for k, polyp in enumerate(near):
        solids[k] = solid_of(polyp, colon, radius)
    surfaces = Surfaces(colon.line, radius, np.float32(1 / ROW_MM), solids)
    pose = head_pose(motion, progress, head, colon, surfaces)
    return Scene(colon, near, surfaces, station, pose)


def sight_of(scene: Scene, index: int, lens: Lens) -> Sight:
    """Return how the camera sees the polyp `scene.polyps[index]`, by a bundle of rays.

    The share is by solid angle: what is seen in the field of view, of what would be seen in all
    directions if nothing were in front of it. The part inside the wall does not count; bubbles and
    liquid are ignored.
    """
    solid = scene.surfaces.solids[index].astype(np.float64)
    pose = scene.pose
    away = solid[:3] - pose.position
    distance = float(np.linalg.norm(away))
    towards = away / distance
    bound = solid[SOLID.index("bound")]
    spread = float(min(bound / np.sqrt(max(distance**2 - bound**2, 1e-9)), 2.5))
    side = np.cross(towards, np.eye(3)[int(np.argmin(np.abs(towards)))])
    side /= np.linalg.norm(side)
    axis = spread * ((np.arange(_RAYS) + 0.5) * 2 / _RAYS - 1)
    a, b = (grid.ravel()[:, np.newaxis] for grid in np.meshgrid(axis, axis))
    bundle = towards + a * side + b * np.cross(towards, side)
    length = np.linalg.norm(bundle, axis=1)
    bundle /= length[:, np.newaxis]
    local = bundle @ pose.rotation
    answer = sees(
        pose.position.astype(np.float32), bundle.astype(np.float32),
        lens.contains(lens.project(local)), np.float32(pose.s_mm), scene.surfaces, index,
    )  # fmt: skip
    seen = answer == 2
    solid_angle = (2 * spread / _RAYS) ** 2 / length**3
    whole = float(solid_angle[answer > 0].sum())
    share = float(solid_angle[seen].sum()) / whole if whole else 0.0
    off_axis = np.arccos(np.clip(local[:, 2], -1, 1))
    stretch = off_axis / np.maximum(np.sin(off_axis), 1e-6)
    pixels = float((solid_angle * stretch)[seen].sum()) * lens.pixels_per_radian**2
    return Sight(share, pixels, distance)


def is_visible(sight: Sight, size: int, *, margin: float = 1.0) -> bool:
    """Return whether a polyp makes a frame of this size a polyp frame.

    With a `margin` above 1, all three conditions must be met by this factor.
    """
    return (
        sight.share >= min(margin * VISIBLE_SHARE, 0.5 * (1 + VISIBLE_SHARE))
        and sight.pixels >= margin * VISIBLE_PIXELS * (size / 512) ** 2
        and sight.distance_mm <= FARTHEST_MM / margin
    )
