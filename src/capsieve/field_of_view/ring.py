"""Lines around the field of view, which belong to the surround although they have its edge."""

import cv2
import numpy as np

from capsieve.field_of_view.intake import Exam
from capsieve.field_of_view.shapes import Shape

__all__ = ["line_width", "shrunk"]

STEP = 0.5
SAMPLES = 240


def line_width(shape: Shape, exam: Exam, distance: np.ndarray, reach: float) -> float:
    """Width of a line drawn along the inside of a shape, 0 where there is none.

    A line is unlike the surround, as the field is, but has one colour all along and always. The
    field's rim, even a dark one, varies in proportion to its brightness, or is at least of
    another colour than the line.

    Parameters
    ----------
    shape
        In pixels of the source.
    exam
        The frames' mean and spread.
    distance
        How unlike the surround every pixel is, in full size.
    reach
        The widest line to look for, in pixels.
    """
    outline = shape.outline(SAMPLES)
    offsets = np.arange(0.0, 2 * reach + STEP, STEP)
    places = outline.points[:, None] - offsets[None, :, None] * outline.normals[:, None]
    inner = np.abs(places - np.clip(places, 0, np.array(distance.shape) - 1)).max(axis=(1, 2)) == 0
    if inner.sum() < SAMPLES // 4:
        return 0.0
    rows = places[inner, :, 0].astype(np.float32)
    cols = places[inner, :, 1].astype(np.float32)

    def along(image: np.ndarray) -> np.ndarray:
        return cv2.remap(np.ascontiguousarray(image), cols, rows, cv2.INTER_LINEAR)

    colours = np.stack([along(exam.mean[..., k]) for k in range(exam.mean.shape[-1])])
    uneven = np.median(np.abs(colours - np.median(colours, axis=1, keepdims=True)), axis=1).max(0)
    variety = np.median(along(exam.spread), axis=0) + 1.5 * uneven
    strength = np.median(along(distance), axis=0)
    inside = offsets >= reach
    distinct = _distinct_line(np.median(colours, axis=1), variety, strength, offsets, reach)
    if distinct > 0:
        return distinct
    ratio = variety / np.maximum(strength, 1.0)
    usual = float(np.median(ratio[inside]))
    strong = strength > 0.35 * float(np.median(strength[inside]))
    # The outermost half pixel is a mixture with the surround, whatever comes behind it.
    first = int(np.argmax(strong & (offsets >= 0.5)))
    flat = strong & (ratio < 0.35 * usual)
    if not flat[first : first + 2].all() or usual < 0.08:
        return 0.0
    level = 0.5 * float(np.median(variety[inside]))
    behind = np.nonzero((variety >= level) & (offsets > offsets[first]))[0]
    if len(behind) == 0 or offsets[behind[0]] > reach:
        return 0.0
    k = int(behind[0])
    part = (level - variety[k - 1]) / max(variety[k] - variety[k - 1], 1e-6)
    return float(offsets[k - 1] + STEP * np.clip(part, 0, 1))


def _distinct_line(
    colours: np.ndarray,
    variety: np.ndarray,
    strength: np.ndarray,
    offsets: np.ndarray,
    reach: float,
) -> float:
    """Width of a line whose one colour is unlike the surround and unlike the field behind it."""
    near = (offsets >= 0.5) & (offsets <= reach / 2)
    behind = np.median(colours[:, (offsets > reach / 2) & (offsets <= reach)], axis=1)
    unlike = np.abs(colours - behind[:, None]).max(axis=0)
    peak = int(np.argmax(np.where(near, unlike, -1.0)))
    if unlike[peak] < 25.0 or strength[peak] < 25.0 or variety[peak] > 8.0:
        return 0.0
    after = np.nonzero((unlike < unlike[peak] / 2) & (offsets > offsets[peak]))[0]
    # A slow change is a dark rim, not a line; a line comes back to the field within a pixel.
    if len(after) == 0 or offsets[after[0]] > reach / 2 + 1.0:
        return 0.0
    k = int(after[0])
    part = (unlike[k - 1] - unlike[peak] / 2) / max(unlike[k - 1] - unlike[k], 1e-6)
    if unlike[min(k + 2, len(unlike) - 1)] > 0.4 * unlike[peak]:
        return 0.0
    return float(offsets[k - 1] + STEP * np.clip(part, 0, 1))


def shrunk(shape: Shape, width: float) -> Shape:
    """The shape with every edge moved inwards."""
    sides = shape.sides.copy()
    sides[:, 2] -= width
    circle = shape.circle
    if circle is not None:
        circle = (circle[0], circle[1], max(circle[2] - width, 1.0))
    return Shape(sides, circle)
