"""The last pixel: move a shape's parts to where the brightness falls, in full size."""

from dataclasses import dataclass

import cv2
import numpy as np

from capsieve.field_of_view.shapes import CIRCLE, Shape, border_sides

__all__ = ["Crossings", "behind_border_lines", "crossings", "refined"]

SAMPLES = 480
STEP = 0.5


@dataclass(frozen=True, slots=True)
class Crossings:
    """Where the edge was found along normals of a shape's outline.

    Parameters
    ----------
    points
        Of the outline, (n, 2).
    normals
        Outward, (n, 2).
    parts
        The part of the shape that each point lies on.
    shift
        Distance from the outline to the edge, outwards positive; NaN where no edge was found.
    clear
        False where two parts of the outline meet, so that no single edge is to be expected.
    """

    points: np.ndarray
    normals: np.ndarray
    parts: np.ndarray
    shift: np.ndarray
    clear: np.ndarray

    def support(self, tolerance: float) -> tuple[float, float]:
        """Share of the outline with an edge within `tolerance`, and the same graded by misfit."""
        misfit = np.abs(np.nan_to_num(self.shift[self.clear], nan=np.inf)) / tolerance
        if len(misfit) == 0:
            return 0.0, 0.0
        return float((misfit < 1).mean()), float(np.maximum(1 - misfit, 0).mean())


def crossings(shape: Shape, image: np.ndarray, window: float, contrast: float) -> Crossings:
    """Look for the edge along the normals of a shape.

    Parameters
    ----------
    shape
        In pixels of the image.
    image
        Low in the surround, high in the field of view, float32. Outside the image it counts as 0,
        so that a field that reaches the border ends half a pixel beyond the last pixel.
    window
        How far to look to either side, in pixels.
    contrast
        The least difference between inside and outside that makes an edge.
    """
    outline = shape.outline(SAMPLES)
    half = int(np.ceil(window / STEP))
    offsets = STEP * np.arange(-half, half + 1)
    places = outline.points[:, None] + offsets[None, :, None] * outline.normals[:, None]
    profile = cv2.remap(
        np.ascontiguousarray(image, dtype=np.float32),
        places[..., 1].astype(np.float32),
        places[..., 0].astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=0,
    )
    third = max(2, len(offsets) // 3)
    inside = np.median(profile[:, :third], axis=1)
    outside = np.median(profile[:, -third:], axis=1)
    middle = (inside + outside) / 2
    above = profile >= middle[:, None]
    # The outermost crossing: content may be dark, but the surround is not bright (letters are
    # left to the robust fit).
    last = above.shape[1] - 1 - above[:, ::-1].argmax(axis=1)
    found = above.any(axis=1) & (last < above.shape[1] - 1) & (inside - outside > contrast)
    last = np.minimum(last, above.shape[1] - 2)
    line = np.arange(len(profile))
    high, low = profile[line, last], profile[line, last + 1]
    part = (high - middle) / np.maximum(high - low, 1e-6)
    shift = np.where(found, offsets[last] + STEP * np.clip(part, 0, 1), np.nan)
    joint = _near_a_joint(shape, outline.points, outline.parts, window / 2)
    shift[joint] = np.nan
    return Crossings(outline.points, outline.normals, outline.parts, shift, ~joint)


def refined(shape: Shape, image: np.ndarray, windows: list[float], contrast: float) -> Shape:
    """Fit the parts of a shape to the edge, once per window (the widest first)."""
    for window in windows:
        seen = crossings(shape, image, window, contrast)
        sides = shape.sides.copy()
        for k in range(len(sides)):
            picked = (seen.parts == k) & np.isfinite(seen.shift)
            if picked.sum() < 6:
                continue
            if k < 4:
                sides[k, 2] += _location(seen.shift[picked])
            else:
                edge = seen.points[picked] + seen.shift[picked, None] * seen.normals[picked]
                sides[k] = _line(edge, sides[k])
        circle = shape.circle
        if circle is not None:
            picked = (seen.parts == CIRCLE) & np.isfinite(seen.shift)
            if picked.sum() >= 12:
                edge = seen.points[picked] + seen.shift[picked, None] * seen.normals[picked]
                circle = _circle(edge, circle)
        # Half a pixel of blur must not push a side out of the image.
        sides[:4, 2] = np.minimum(sides[:4, 2], border_sides(image.shape)[:, 2])
        shape = Shape(sides, circle)
    return shape


def behind_border_lines(shape: Shape, bright: np.ndarray, window: float) -> Shape:
    """Move sides that lie on the image's border behind dark lines drawn along it.

    Parameters
    ----------
    shape
        In pixels of the image.
    bright
        Brightness of the mean frame. Where the surround is not black, a black line is as unlike
        it as the field is; only the brightness tells them apart.
    window
        The widest line to look for, in pixels.
    """
    border = border_sides(bright.shape)
    on_border = np.abs(shape.sides[:4, 2] - border[:, 2]) < 1.0
    if not on_border.any():
        return shape
    seen = crossings(shape, bright, window, contrast=8.0)
    sides = shape.sides.copy()
    for k in np.nonzero(on_border)[0]:
        shift = seen.shift[(seen.parts == k) & np.isfinite(seen.shift)]
        if len(shift) >= 6 and _location(shift) < -0.6:
            sides[k, 2] += _location(shift)
    return Shape(sides, shape.circle)


def _near_a_joint(shape: Shape, points: np.ndarray, parts: np.ndarray, reach: float) -> np.ndarray:
    """Points so close to a second part of the outline that their profile is not a clean step."""
    slack = shape.sides[:, 2] - points @ shape.sides[:, :2].T
    slack[np.arange(len(points)), np.where(parts >= 0, parts, 0)] = np.where(
        parts >= 0, np.inf, slack[:, 0]
    )
    near = slack.min(axis=1) < reach
    if shape.circle is not None:
        row, col, radius = shape.circle
        room = radius - np.hypot(points[:, 0] - row, points[:, 1] - col)
        near |= (parts >= 0) & (room < reach)
    return near


def _weights(misfit: np.ndarray) -> np.ndarray:
    """Tukey's weights: one for a small misfit, none beyond about four deviations."""
    scale = max(0.25, 1.4826 * float(np.median(np.abs(misfit))))
    return np.maximum(1 - (misfit / (4 * scale)) ** 2, 0) ** 2


def _location(values: np.ndarray) -> float:
    centre = float(np.median(values))
    for _ in range(3):
        weight = _weights(values - centre)
        centre = float((weight * values).sum() / weight.sum())
    return centre


def _line(points: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The line near a given one: shifted, and turned where the points span some length."""
    along = np.array([-side[1], side[0]])
    place = points @ along
    misfit = points @ side[:2] - side[2]
    turn, shift = 0.0, float(np.median(misfit))
    middle = place.mean()
    for _ in range(3):
        weight = np.sqrt(_weights(misfit - shift - turn * (place - middle)))
        design = np.column_stack([np.ones(len(place)), place - middle])
        shift, turn = np.linalg.lstsq(design * weight[:, None], misfit * weight, rcond=None)[0]
    turn = float(np.clip(turn, -0.1, 0.1))
    normal = side[:2] - turn * along
    normal /= np.linalg.norm(normal)
    anchor = along * middle + side[:2] * (side[2] + shift)
    return np.array([*normal, normal @ anchor])


def _circle(points: np.ndarray, circle: tuple[float, float, float]) -> tuple[float, float, float]:
    values = np.array(circle)
    for _ in range(4):
        arms = points - values[:2]
        away = np.maximum(np.linalg.norm(arms, axis=1), 1e-9)
        misfit = away - values[2]
        weight = np.sqrt(_weights(misfit - np.median(misfit)))
        design = np.column_stack([arms / away[:, None], np.ones(len(points))]) * weight[:, None]
        values = values + np.linalg.lstsq(design, misfit * weight, rcond=None)[0]
    row, col, radius = (float(v) for v in values)
    return row, col, radius
