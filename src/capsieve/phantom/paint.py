"""One frame in linear light: rays to the surface, colour and lamps, bubbles over it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.camera import STEP, Lens
from capsieve.phantom.kernels.bubbles import draw_bubbles
from capsieve.phantom.kernels.shade import shade
from capsieve.phantom.kernels.trace import trace_grid, trace_pixels
from capsieve.phantom.light import light_at, make_look
from capsieve.phantom.plan import LENGTH_MM, ExamPlan
from capsieve.phantom.scene import PER_MM, Anatomy, Moment
from capsieve.phantom.spoilers import bubbles_in_view, liquid_at, make_spoilers, stool_at
from capsieve.phantom.textures import POLYP_MM, TILE_MM, make_tiles

__all__ = ["paint", "trace"]

_VARIANTS = 3  # sets of tiles; they cost a second each


def trace(
    moment: Moment, anatomy: Anatomy, lens: Lens
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]]:
    """Return the rays in the world, the surface at every pixel, the polyp's place plus one."""
    turn = moment.pose.rotation.T.astype(np.float32)
    origin = moment.pose.position.astype(np.float32)
    scene = (anatomy.line.table, moment.radius, PER_MM, moment.solids)
    nodes = lens.nodes @ turn
    hits = np.empty((*nodes.shape[:2], 6), np.float32)
    which = np.empty(nodes.shape[:2], np.uint8)
    start = np.float32(moment.pose.s_mm)
    trace_grid(origin, nodes, lens.nodes_inside, start, *scene, hits, which)
    rays = lens.rays @ turn
    surface = np.empty((lens.size, lens.size, 6), np.float32)
    places = np.empty((lens.size, lens.size), np.uint8)
    trace_pixels(origin, rays, lens.inside, STEP, hits, which, *scene, surface, places)
    return rays, surface, places


def paint(
    plan: ExamPlan,
    moment: Moment,
    anatomy: Anatomy,
    lens: Lens,
    rays: NDArray[np.float32],
    surface: NDArray[np.float32],
    places: NDArray[np.uint8],
) -> tuple[NDArray[np.float32], dict[str, NDArray[Any]]]:
    """Return the frame in linear light, and what each spoiler covers."""
    tiles = make_tiles(plan.seed % _VARIANTS)
    look = make_look(plan.seed)
    spoilers = make_spoilers(plan.seed, LENGTH_MM, plan.bubbles, plan.liquid, plan.stool)
    pose = moment.pose
    faces = np.array(
        [
            [polyp.redness, polyp.roughness, polyp.shape % 97 / 97, polyp.shape % 89 / 89]
            for polyp in moment.polyps
        ],
        np.float32,
    ).reshape(-1, 4)
    image = np.empty((lens.size, lens.size, 3), np.float32)
    stained = np.empty((lens.size, lens.size), np.uint8)
    veil = np.empty((lens.size, lens.size), np.uint8)
    shade(
        pose.position.astype(np.float32), pose.rotation.T[:2].astype(np.float32), rays,
        np.float32(1 / lens.pixels_per_radian), surface, places, anatomy.line.table,
        anatomy.wall.tint, PER_MM, moment.solids, faces, tiles.wall, tiles.wall_size, tiles.polyp,
        tiles.polyp_size, np.float32(TILE_MM), np.float32(POLYP_MM), look,
        liquid_at(spoilers, pose.s_mm, anatomy.line, moment.radius),
        stool_at(spoilers, pose.s_mm), image, stained, veil,
    )  # fmt: skip
    covered = np.zeros((lens.size, lens.size), np.uint8)
    bubbles = bubbles_in_view(spoilers, pose, lens, anatomy.line, moment.radius)
    if len(bubbles):
        light = light_at(look, bubbles[:, 3])
        draw_bubbles(image, image.copy(), surface, np.insert(bubbles, 4, light, axis=1), covered)
    covers = {"bubbles": covered > 0, "liquid": veil > 127, "stool": stained > 0}
    return image, covers
