"""Rendering: each frame is a pure function of plan, frame number and head."""

from dataclasses import dataclass
from typing import Any
from zlib import crc32

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.camera import STEP, Lens, make_lens
from capsieve.phantom.colon import COLUMNS, ROW_MM
from capsieve.phantom.kernels.shade import draw_bubbles, shade
from capsieve.phantom.kernels.trace import trace_grid, trace_pixels
from capsieve.phantom.light import expose, light_at, make_appearance
from capsieve.phantom.motion import head_pose, make_motion
from capsieve.phantom.plan import FRAME_RATE, ExamPlan
from capsieve.phantom.scene import PER_MM, Scene, Sight, is_visible, scene_at, sight_of
from capsieve.phantom.spoilers import bubbles_in_view, liquid_at, make_spoilers, stool_at
from capsieve.phantom.textures import make_tiles

__all__ = ["FrameTruth", "PhantomFrame", "PolypTruth", "render_frame"]

_VARIANTS = 3  # sets of tiles; each takes a second to make
_SHUTTER = 0.12  # exposure time, as a share of the time between two frames
_LONGEST_SMEAR = 7.0  # pixels at 512
_SPOILED = 0.2  # share of the field of view
_WALL_MM = 7.0  # median distance below which the wall fills the frame


@dataclass(frozen=True, kw_only=True)
class PolypTruth:
    """One polyp on one frame.

    Attributes
    ----------
    id
        Number of the polyp in the exam, from 1.
    pixels
        Number of pixels that show it.
    share
        Visible share of its silhouette, see :func:`~capsieve.phantom.scene.sight_of`.
    box
        First row, first column, one past the last row, one past the last column.
    distance_mm
        From the camera to its nearest visible point.
    counts
        Whether it makes the frame a polyp frame.
    """

    id: int
    pixels: int
    share: float
    box: tuple[int, int, int, int]
    distance_mm: float
    counts: bool


@dataclass(frozen=True, kw_only=True)
class FrameTruth:
    """Truth of a frame.

    Attributes
    ----------
    number, head, time_s
        Frame number from 0; head; seconds since the first frame.
    label
        "polyp" or "normal".
    polyps
        Every polyp with at least one pixel, the largest first.
    spoiled
        What covers a fifth of the field of view or more: "bubbles", "liquid", "stool"; and "wall"
        if the camera lies against it.
    position_mm
        Position along the centreline.
    position, rotation
        Pose of the camera: x, y, z in mm; a 3 x 3 matrix by rows, whose columns are the camera's
        right, down and forward in the world.
    motion
        "forward", "backward", "still", "tumble" or "contact".
    contraction
        Of the colon 25 mm in front of the camera: 0 open, 1 closed.
    lumen
        The contraction as a word: "open", "narrow" or "closed".
    """

    number: int
    head: int
    time_s: float
    label: str
    polyps: tuple[PolypTruth, ...]
    spoiled: tuple[str, ...]
    position_mm: float
    position: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...]
    motion: str
    contraction: float
    lumen: str


@dataclass(frozen=True)
class PhantomFrame:
    """A rendered frame and its truth.

    Attributes
    ----------
    pixels
        size x size x 3, uint8 RGB.
    truth
        Truth of the frame.
    polyp_map
        uint8, per pixel the number of the polyp that it shows, 0 for none.
    depth
        float32, mm along the pixel's ray, 0 outside the field of view; None if not requested.
    """

    pixels: NDArray[np.uint8]
    truth: FrameTruth
    polyp_map: NDArray[np.uint8]
    depth: NDArray[np.float32] | None


def render_frame(
    plan: ExamPlan, number: int, head: int = 0, *, depth: bool = False
) -> PhantomFrame:
    """Render one frame.

    Parameters
    ----------
    plan
        Plan of the exam.
    number
        Frame number from 0.
    head
        0 faces forward, 1 backward.
    depth
        Whether to return a depth map.
    """
    if not 0 <= number < plan.frames:
        raise IndexError(f"frame {number} of {plan.frames}")
    if not 0 <= head < plan.heads:
        raise IndexError(f"head {head} of {plan.heads}")
    lens = make_lens(plan.size, plan.field)
    progress, step = plan.progress(number)
    scene = scene_at(plan.seed, plan.polyps, progress, head)
    rays, surface, places = _trace(scene, lens)
    image, covers = _paint(plan, scene, lens, rays, surface, places)
    pixels = expose(
        image,
        lens,
        make_appearance(plan.seed),
        smear=_smear(plan, scene, lens, progress + _SHUTTER * step, head),
        key=crc32(f"{plan.seed} {number} {head}".encode()),
        surround=plan.surround,
    )
    time_s = number / FRAME_RATE
    if plan.text:
        _write_text(pixels, time_s, number)
    polyp_map = np.array([0, *(polyp.id for polyp in scene.polyps)], np.uint8)[places]
    polyps = _polyps_on(scene, lens, surface[:, :, 0], places)
    truth = FrameTruth(
        number=number,
        head=head,
        time_s=time_s,
        label="polyp" if any(polyp.counts for polyp in polyps) else "normal",
        polyps=polyps,
        spoiled=_spoiled(lens, surface[:, :, 0], covers),
        position_mm=round(scene.pose.s_mm, 3),
        position=tuple(scene.pose.position.tolist()),
        rotation=tuple(tuple(row) for row in scene.pose.rotation.tolist()),
        motion=scene.station.kind,
        **_lumen(scene),
    )
    distance = np.maximum(surface[:, :, 0], 0) if depth else None
    return PhantomFrame(pixels, truth, polyp_map, distance)


def _trace(
    scene: Scene, lens: Lens
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]]:
    """Rays in the world, surface at every pixel, and index of its polyp plus one."""
    turn = scene.pose.rotation.T.astype(np.float32)
    origin = scene.pose.position.astype(np.float32)
    solid = (scene.colon.line, scene.radius, PER_MM, scene.solids)
    nodes = lens.nodes @ turn
    hits = np.empty((*nodes.shape[:2], 6), np.float32)
    which = np.empty(nodes.shape[:2], np.uint8)
    start = np.float32(scene.pose.s_mm)
    trace_grid(origin, nodes, lens.nodes_inside, start, solid, hits, which)
    rays = lens.rays @ turn
    surface = np.empty((lens.size, lens.size, 6), np.float32)
    places = np.empty((lens.size, lens.size), np.uint8)
    trace_pixels(origin, rays, lens.inside, STEP, hits, which, solid, surface, places)
    return rays, surface, places


def _paint(
    plan: ExamPlan,
    scene: Scene,
    lens: Lens,
    rays: NDArray[np.float32],
    surface: NDArray[np.float32],
    places: NDArray[np.uint8],
) -> tuple[NDArray[np.float32], dict[str, NDArray[Any]]]:
    """Frame in linear light, and the pixels that bubbles, liquid and stool cover."""
    tiles = make_tiles(plan.seed % _VARIANTS)
    appearance = make_appearance(plan.seed)
    spoilers = make_spoilers(plan.seed, plan.bubbles, plan.liquid, plan.stool)
    pose, colon = scene.pose, scene.colon
    faces = np.array(
        [(p.redness, p.roughness, p.shape % 97 / 97, p.shape % 89 / 89) for p in scene.polyps],
        np.float32,
    ).reshape(-1, 4)
    image = np.empty((lens.size, lens.size, 3), np.float32)
    stained, veil = np.empty((2, lens.size, lens.size), np.uint8)
    shade(
        pose.position.astype(np.float32), pose.rotation.T[:2].astype(np.float32), rays,
        np.float32(1 / lens.pixels_per_radian), surface, places, colon.line,
        (colon.tint.reshape(-1, 2), COLUMNS), PER_MM, scene.solids, faces, tiles.wall,
        tiles.polyp, appearance, liquid_at(spoilers, pose.s_mm, colon, scene.radius),
        stool_at(spoilers, pose.s_mm), image, stained, veil,
    )  # fmt: skip
    covered = np.zeros((lens.size, lens.size), np.uint8)
    bubbles = bubbles_in_view(spoilers, pose, lens, colon, scene.radius)
    if len(bubbles):
        light = light_at(appearance, bubbles[:, 3])
        draw_bubbles(image, image.copy(), surface, np.insert(bubbles, 4, light, axis=1), covered)
    return image, {"bubbles": covered > 0, "liquid": veil > 127, "stool": stained > 0}


def _smear(plan: ExamPlan, scene: Scene, lens: Lens, end: float, head: int) -> NDArray[Any]:
    """Shift of the image, in rows and columns, until the end of the exposure."""
    if scene.station.kind == "still":
        return np.zeros(2)
    motion = make_motion(plan.seed)
    later = head_pose(motion, end, head, scene.colon, scene.radius, scene.solids)
    ahead = (later.rotation[:, 2] @ scene.pose.rotation)[np.newaxis]
    shift = lens.project(ahead)[0] - (lens.size - 1) / 2
    longest = _LONGEST_SMEAR * lens.size / 512
    return shift * min(1.0, longest / max(float(np.hypot(*shift)), 1e-9))


def _write_text(pixels: NDArray[np.uint8], time_s: float, number: int) -> None:
    """Burn time and frame number into the corners, as some recorders do."""
    size = len(pixels)
    clock = f"{int(time_s) // 3600:02d}:{int(time_s) // 60 % 60:02d}:{int(time_s) % 60:02d}"
    for text, row in ((clock, size // 28), (f"{number:05d}", size - size // 64)):
        cv2.putText(
            pixels, text, (size // 128, row), cv2.FONT_HERSHEY_SIMPLEX, 0.36 * size / 512,
            (225, 225, 225), 1, cv2.LINE_AA,
        )  # fmt: skip


def _polyps_on(
    scene: Scene, lens: Lens, distance: NDArray[np.float32], places: NDArray[np.uint8]
) -> tuple[PolypTruth, ...]:
    found: list[PolypTruth] = []
    for index, polyp in enumerate(scene.polyps):
        rows, cols = np.nonzero(places == index + 1)
        if not len(rows):
            continue
        sight = sight_of(scene, index, lens)
        found.append(
            PolypTruth(
                id=polyp.id,
                pixels=len(rows),
                share=round(sight.share, 4),
                box=(int(rows[0]), int(cols.min()), int(rows[-1]) + 1, int(cols.max()) + 1),
                distance_mm=round(float(distance[rows, cols].min()), 3),
                counts=is_visible(Sight(sight.share, len(rows), sight.distance_mm), lens.size),
            )
        )
    return tuple(sorted(found, key=lambda polyp: (-polyp.pixels, polyp.id)))


def _spoiled(
    lens: Lens, distance: NDArray[np.float32], covers: dict[str, NDArray[Any]]
) -> tuple[str, ...]:
    field = np.count_nonzero(lens.inside)
    names = [name for name, cover in covers.items() if cover.sum() > _SPOILED * field]
    seen = distance[::4, ::4]
    near = np.median(seen[seen > 0]) < _WALL_MM
    return (*names, "wall") if near else tuple(names)


def _lumen(scene: Scene) -> dict[str, Any]:
    """Contraction of the colon 25 mm in front of the camera, and its word."""
    pose, colon = scene.pose, scene.colon
    ahead = pose.s_mm + 25 * float(np.sign(pose.rotation[:, 2] @ colon.at(pose.s_mm)[1]))
    row = min(max(int(ahead / ROW_MM), 0), len(scene.radius) - 1)
    closed = float(colon.contraction(scene.station.activity, slice(row, row + 1))[0])
    word = "open" if closed < 0.45 else "narrow" if closed < 0.75 else "closed"
    return {"contraction": round(closed, 4), "lumen": word}
