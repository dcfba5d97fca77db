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
from capsieve.phantom.kernels.trace import trace
from capsieve.phantom.light import Appearance, expose, make_appearance
from capsieve.phantom.motion import head_pose, make_motion
from capsieve.phantom.plan import FRAME_RATE, ExamPlan
from capsieve.phantom.scene import Scene, Sight, is_visible, scene_at, sight_of
from capsieve.phantom.spoilers import bubbles_in_view, liquid_at, make_spoilers, stool_at
from capsieve.phantom.textures import make_tiles

_VARIANTS = 3  # sets of tiles; each takes a second to make
_SHUTTER = 0.12  # exposure time, as a share of the time between two frames
_LONGEST_SMEAR = 7.0  # pixels at 512
_SPOILED = 0.2  # share of the field of view
_BLUR = 0.85  # of the lens in focus: sigma in pixels at 512
_FOCUS_MM = 16.0  # a wall that is nearer is out of focus
_WALL_MM = 7.0  # median distance below which the wall fills the frame


@dataclass(frozen=True, kw_only=True)
class PolypTruth:
    """One polyp on one frame."""

    id: int  # number of the polyp in the exam, from 1
    pixels: int  # number of pixels that show it
    share: float  # visible share of its silhouette, see `sight_of`
    counts: bool  # whether it makes the frame a polyp frame


@dataclass(frozen=True, kw_only=True)
class FrameTruth:
    """Truth of a frame."""

    number: int  # from 0
    head: int
    time_s: float  # since the first frame
    label: str  # "polyp" or "normal"
    polyps: tuple[PolypTruth, ...]  # every polyp with at least one pixel, the largest first
    # What covers a fifth of the field of view or more: "bubbles", "liquid", "stool"; and "wall" if
    # the camera lies against it.
    spoiled: tuple[str, ...]
    position_mm: float  # position along the centreline
    # Pose of the camera: x, y, z in mm; a 3 x 3 matrix by rows, whose columns are the camera's
    # right, down and forward in the world.
    position: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...]
    motion: str  # "forward", "backward", "still", "tumble" or "contact"
    contraction: float  # of the colon 25 mm in front of the camera: 0 open, 1 closed
    lumen: str  # the contraction as a word: "open", "narrow" or "closed"


@dataclass(frozen=True)
class PhantomFrame:
    """A rendered frame and its truth."""

    pixels: NDArray[np.uint8]  # size x size x 3, uint8 RGB
    truth: FrameTruth
    # uint8, per pixel the number of the polyp that it shows, 0 for none.
    polyp_map: NDArray[np.uint8]
    # float32, mm along the pixel's ray, 0 outside the field of view; None if not requested.
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
    if not (0 <= number < plan.frames and 0 <= head < plan.heads):
        raise IndexError(f"frame {number} of {plan.frames}, head {head} of {plan.heads}")
    lens, appearance = make_lens(plan.size, plan.field), make_appearance(plan.seed)
    progress, step = plan.progress(number)
    scene = scene_at(plan.seed, plan.polyps, progress, head)
    turn = scene.pose.rotation.T.astype(np.float32)
    rays = lens.rays @ turn
    surface, places = trace(
        scene.pose.position.astype(np.float32), lens.nodes @ turn, lens.nodes_inside,
        rays, lens.inside, STEP, np.float32(scene.pose.s_mm), scene.surfaces,
    )  # fmt: skip
    image, covered = _paint(plan.seed, scene, lens, appearance, rays, surface, places)
    distance = np.maximum(surface[:, :, 0], 0)
    seen = distance[::4, ::4]
    usual = float(np.median(seen[seen > 0]))
    pixels = expose(
        image,
        lens,
        appearance,
        smear=_smear(plan, scene, lens, progress + _SHUTTER * step, head),
        blur=_BLUR * max(1.0, _FOCUS_MM / usual),
        key=crc32(f"{plan.seed} {number} {head}".encode()),
        surround=plan.surround,
    )
    time_s = number / FRAME_RATE
    if plan.text:
        _write_text(pixels, time_s, number)
    polyps = _polyps_on(scene, lens, places)
    contraction = _contraction_ahead(scene)
    truth = FrameTruth(
        number=number,
        head=head,
        time_s=time_s,
        label="polyp" if any(polyp.counts for polyp in polyps) else "normal",
        polyps=polyps,
        spoiled=_spoiled(lens, usual, covered),
        position_mm=round(scene.pose.s_mm, 3),
        position=tuple(scene.pose.position.tolist()),
        rotation=tuple(tuple(row) for row in scene.pose.rotation.tolist()),
        motion=scene.station.kind,
        contraction=round(contraction, 4),
        lumen="open" if contraction < 0.45 else "narrow" if contraction < 0.75 else "closed",
    )
    polyp_map = np.array([0, *(polyp.id for polyp in scene.polyps)], np.uint8)[places]
    return PhantomFrame(pixels, truth, polyp_map, distance if depth else None)


def _paint(
    seed: int,
    scene: Scene,
    lens: Lens,
    appearance: Appearance,
    rays: NDArray[np.float32],
    surface: NDArray[np.float32],
    places: NDArray[np.uint8],
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Frame in linear light, and the number of pixels that bubbles, liquid and stool cover."""
    spoilers, pose, colon = make_spoilers(seed), scene.pose, scene.colon
    radius = scene.surfaces.radius
    creases = colon.creases(radius, scene.station.s_mm)
    faces = np.array(
        [(p.redness, p.roughness, p.shape % 97 / 97, p.shape % 89 / 89) for p in scene.polyps],
        np.float32,
    ).reshape(-1, 4)
    image, liquid, stool = shade(
        pose.position.astype(np.float32), pose.rotation.T[:2].astype(np.float32), rays,
        np.float32(1 / lens.pixels_per_radian), surface, places, scene.surfaces,
        (colon.tint.reshape(-1, 2), creases.reshape(-1, 1), COLUMNS), faces,
        make_tiles(seed % _VARIANTS), appearance,
        liquid_at(spoilers, pose.s_mm, colon, radius), stool_at(spoilers, pose.s_mm),
    )  # fmt: skip
    bubbles = bubbles_in_view(spoilers, pose, lens, colon, radius)
    image, covered = draw_bubbles(image, surface, bubbles, appearance)
    return image, {"bubbles": covered, "liquid": liquid, "stool": stool}


def _smear(plan: ExamPlan, scene: Scene, lens: Lens, end: float, head: int) -> NDArray[Any]:
    """Shift of the image, in rows and columns, until the end of the exposure."""
    if scene.station.kind == "still":
        return np.zeros(2)
    later = head_pose(make_motion(plan.seed), end, head, scene.colon, scene.surfaces)
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


def _polyps_on(scene: Scene, lens: Lens, places: NDArray[np.uint8]) -> tuple[PolypTruth, ...]:
    found: list[PolypTruth] = []
    for index, polyp in enumerate(scene.polyps):
        pixels = int(np.count_nonzero(places == index + 1))
        if pixels:
            sight = sight_of(scene, index, lens)
            counts = is_visible(Sight(sight.share, pixels, sight.distance_mm), lens.size)
            share = round(sight.share, 4)
            found.append(PolypTruth(id=polyp.id, pixels=pixels, share=share, counts=counts))
    return tuple(sorted(found, key=lambda polyp: (-polyp.pixels, polyp.id)))


def _spoiled(lens: Lens, usual_mm: float, covered: dict[str, Any]) -> tuple[str, ...]:
    field = np.count_nonzero(lens.inside)
    names = [name for name, pixels in covered.items() if pixels > _SPOILED * field]
    return (*names, "wall") if usual_mm < _WALL_MM else tuple(names)


def _contraction_ahead(scene: Scene) -> float:
    pose, colon = scene.pose, scene.colon
    ahead = pose.s_mm + 25 * float(np.sign(pose.rotation[:, 2] @ colon.at(pose.s_mm)[1]))
    row = min(max(int(ahead / ROW_MM), 0), len(colon.tone) - 1)
    return float(colon.contraction(scene.station.activity, slice(row, row + 1))[0])
