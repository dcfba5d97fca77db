"""A synthetic exam, frame by frame: each a pure function of the plan, its number and the head."""

from dataclasses import dataclass
from typing import Any
from zlib import crc32

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.camera import Lens, make_lens
from capsieve.phantom.light import LOOK, exposure, finish, make_look
from capsieve.phantom.motion import head_pose
from capsieve.phantom.paint import paint, trace
from capsieve.phantom.plan import LENGTH_MM, ExamPlan, plan_exam
from capsieve.phantom.scene import Anatomy, Moment, make_anatomy, moment_at, visibility
from capsieve.phantom.schedule import progress_of
from capsieve.phantom.truth import FrameTruth, PolypTruth, boxes_of
from capsieve.phantom.wall import ROW_MM

__all__ = ["ExamPlan", "PhantomFrame", "plan_exam", "render_frame"]

_SHUTTER = 0.12  # the part of the time between two frames that is exposed
_LONGEST_SMEAR = 7.0  # pixels at 512
_SPOILT = 0.2  # of the field
_WALL_MM = 7.0  # the median distance under which the wall is all that is seen


@dataclass(frozen=True)
class PhantomFrame:
    """A rendered frame and its truth.

    Attributes
    ----------
    pixels
        size x size x 3, uint8 RGB.
    truth
        What is true of it.
    polyp_map
        uint8, per pixel the number of the polyp that it shows, 0 for none.
    depth
        float32, mm along the pixel's ray, 0 where there is none; None where not asked for.
    """

    pixels: NDArray[np.uint8]
    truth: FrameTruth
    polyp_map: NDArray[np.uint8]
    depth: NDArray[np.float32] | None


def render_frame(
    plan: ExamPlan, number: int, head: int = 0, *, depth: bool = False
) -> PhantomFrame:
    """Render one frame: a pure function of plan, number and head.

    Parameters
    ----------
    plan
        From :func:`plan_exam`.
    number
        From 0.
    head
        0 looks ahead, 1 looks back.
    depth
        Whether to return a depth map.
    """
    if not 0 <= number < plan.frames:
        raise IndexError(f"frame {number} of {plan.frames}")
    if not 0 <= head < plan.heads:
        raise IndexError(f"head {head} of {plan.heads}")
    anatomy = make_anatomy(plan.seed, LENGTH_MM)
    lens = make_lens(plan.size, plan.field)
    progress, step = progress_of(plan.pieces, number)
    moment = moment_at(anatomy, plan.polyps, progress, head)

    rays, surface, places = trace(moment, anatomy, lens)
    image, covers = paint(plan, moment, anatomy, lens, rays, surface, places)
    pixels = np.empty((plan.size, plan.size, 3), np.uint8)
    finish(
        image,
        lens,
        gain=exposure(image, lens),
        scatter=float(make_look(plan.seed)[LOOK.index("glare")]),
        smear=_smear(anatomy, moment, lens, progress, step, head),
        key=crc32(f"{plan.seed} {number} {head}".encode()),
        surround=plan.surround,
        out=pixels,
    )
    time_s = number / plan.frame_rate
    if plan.text:
        _write_text(pixels, time_s, number)
    numbers = np.array([0, *(polyp.id for polyp in moment.polyps)], np.uint8)
    polyp_map = numbers[places]
    truth = _truth(plan, number, head, moment, anatomy, lens, surface, polyp_map, covers)
    distance = np.maximum(surface[:, :, 0], 0) if depth else None
    return PhantomFrame(pixels, truth, polyp_map, distance)


def _smear(
    anatomy: Anatomy, moment: Moment, lens: Lens, progress: float, step: float, head: int
) -> NDArray[Any]:
    """Return how far the picture moves during the exposure, in rows and columns."""
    if moment.motion == "still":
        return np.zeros(2)
    later = head_pose(
        anatomy.way, progress + _SHUTTER * step, head, anatomy.line, moment.radius, moment.solids
    )
    ahead = (later.rotation[:, 2] @ moment.pose.rotation)[np.newaxis]
    way = lens.project(ahead)[0] - (lens.size - 1) / 2
    longest = _LONGEST_SMEAR * lens.size / 512
    return way * min(1.0, longest / max(float(np.hypot(*way)), 1e-9))


def _write_text(pixels: NDArray[np.uint8], time_s: float, number: int) -> None:
    """Burn time and frame number into the corners, as some recorders do."""
    size = len(pixels)
    scale = 0.36 * size / 512
    clock = f"{int(time_s) // 3600:02d}:{int(time_s) // 60 % 60:02d}:{int(time_s) % 60:02d}"
    places = (
        (clock, (size // 128, size // 28)),
        (f"{number:05d}", (size // 128, size - size // 64)),
    )
    for text, place in places:
        cv2.putText(
            pixels, text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, (225, 225, 225), 1, cv2.LINE_AA
        )


def _truth(
    plan: ExamPlan,
    number: int,
    head: int,
    moment: Moment,
    anatomy: Anatomy,
    lens: Lens,
    surface: NDArray[np.float32],
    polyp_map: NDArray[np.uint8],
    covers: dict[str, NDArray[Any]],
) -> FrameTruth:
    polyps: list[PolypTruth] = []
    order = [polyp.id for polyp in moment.polyps]
    for polyp, (count, box) in boxes_of(polyp_map).items():
        share, _, centre = visibility(moment, order.index(polyp), lens, anatomy.line)
        top, left, bottom, right = box
        cut = (slice(top, bottom), slice(left, right))
        near = float(surface[(*cut, 0)][polyp_map[cut] == polyp].min())
        polyps.append(
            PolypTruth(
                id=polyp,
                pixels=count,
                share=round(share, 4),
                box=box,
                distance_mm=round(near, 3),
                counts=plan.rule.is_met(share, count, centre, plan.size),
            )
        )
    polyps.sort(key=lambda polyp: (-polyp.pixels, polyp.id))
    field = int(np.count_nonzero(lens.inside))
    spoiled = [name for name, cover in covers.items() if cover.sum() > _SPOILT * field]
    seen = surface[::4, ::4, 0]
    if np.median(seen[seen > 0]) < _WALL_MM:
        spoiled.append("wall")
    pose = moment.pose
    ahead = pose.s_mm + 25 * float(np.sign(pose.rotation[:, 2] @ anatomy.line.at(pose.s_mm)[1]))
    row = min(max(int(ahead / ROW_MM), 0), len(moment.radius) - 1)
    closed = float(anatomy.wall.contraction(moment.activity, slice(row, row + 1))[0])
    return FrameTruth(
        number=number,
        head=head,
        time_s=number / plan.frame_rate,
        label="polyp" if any(polyp.counts for polyp in polyps) else "normal",
        polyps=tuple(polyps),
        spoiled=tuple(spoiled),
        position_mm=round(pose.s_mm, 3),
        position=tuple(float(value) for value in pose.position),
        rotation=tuple(tuple(float(value) for value in row) for row in pose.rotation),
        motion=moment.motion,
        contraction=round(closed, 4),
        lumen="open" if closed < 0.45 else "narrow" if closed < 0.75 else "closed",
    )
