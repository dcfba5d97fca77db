"""Convex outlines: straight sides and at most one circle."""

from dataclasses import dataclass

import numpy as np

from capsieve.frames import ShapeName

__all__ = ["CIRCLE", "Outline", "Shape", "border_sides", "inscribed_circle"]

CIRCLE = -1
"""Marks points of an outline that lie on the circle; sides are numbered from 0."""

AXIS_NORMALS = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
"""Outward normals (row, col) of the top, bottom, left and right side."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Points on a shape's edge, their outward normals, and the part each lies on."""

    points: np.ndarray
    normals: np.ndarray
    parts: np.ndarray


@dataclass(frozen=True, slots=True)
class Shape:
    """All points that lie inside the circle and behind every side.

    Parameters
    ----------
    sides
        One row per side: outward unit normal (row, col) and its distance from the origin. The
        first four are top, bottom, left and right; what follows are cut corners.
    circle
        Row, column, radius; None where the outline has no round part.
    """

    sides: np.ndarray
    circle: tuple[float, float, float] | None = None

    def depth(self, points: np.ndarray) -> np.ndarray:
        """Distance to the edge for points (..., 2), negative outside."""
        points = np.asarray(points, dtype=float)
        inside = (self.sides[:, 2] - points @ self.sides[:, :2].T).min(axis=-1)
        if self.circle is not None:
            row, col, radius = self.circle
            away = np.hypot(points[..., 0] - row, points[..., 1] - col)
            inside = np.minimum(inside, radius - away)
        return inside

    def middle(self) -> np.ndarray:
        """The circle's centre, or the centre of the four axis-parallel sides."""
        if self.circle is not None:
            return np.array(self.circle[:2])
        top, bottom, left, right = self.sides[:4, 2]
        return np.array([(bottom - top) / 2, (right - left) / 2])

    def outline(self, count: int) -> Outline:
        """Points on the edge, seen under equal angles from the largest circle's centre."""
        centre = np.array(inscribed_circle(self)[:2])
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        ray = np.stack([np.sin(angle), np.cos(angle)], axis=1)
        slope = ray @ self.sides[:, :2].T
        room = self.sides[:, 2] - self.sides[:, :2] @ centre
        reach = np.where(slope > 1e-9, room / np.maximum(slope, 1e-9), np.inf)
        parts = reach.argmin(axis=1)
        length = reach.min(axis=1)
        normals = self.sides[parts, :2].copy()
        if self.circle is not None:
            row, col, radius = self.circle
            offset = centre - (row, col)
            along = ray @ offset
            far = -along + np.sqrt(np.maximum(along**2 - offset @ offset + radius**2, 0))
            round_part = far < length
            length = np.minimum(length, far)
            parts = np.where(round_part, CIRCLE, parts)
            arms = centre + far[:, None] * ray - (row, col)
            normals[round_part] = arms[round_part] / radius
        return Outline(centre + length[:, None] * ray, normals, parts)

    def rescaled(self, factor: tuple[float, float]) -> "Shape":
        """The same shape on a finer grid, `factor` times as many rows and columns."""
        rows, cols = factor
        normals = self.sides[:, :2] / (rows, cols)
        shift = normals @ np.array([(rows - 1) / 2, (cols - 1) / 2])
        length = np.linalg.norm(normals, axis=1)
        sides = np.column_stack([normals, self.sides[:, 2] + shift]) / length[:, None]
        circle = self.circle
        if circle is not None:
            circle = (
                (circle[0] + 0.5) * rows - 0.5,
                (circle[1] + 0.5) * cols - 0.5,
                circle[2] * (rows * cols) ** 0.5,
            )
        return Shape(sides, circle)

    def name(self, height: int, width: int, count: int = 360) -> ShapeName:
        """What the part inside an image of this size is called."""
        parts = self.outline(count).parts
        if (parts == CIRCLE).mean() > 0.02:
            return "circle"
        if (parts >= 4).any():
            return "cut-square"
        border = border_sides((height, width))
        return "full" if (border - self.sides[:4])[:, 2].max() < 1.0 else "rectangle"


def border_sides(size: tuple[int, ...]) -> np.ndarray:
    """The four sides of the image itself."""
    rows, cols = size[:2]
    return np.column_stack([AXIS_NORMALS, [0.5, rows - 0.5, 0.5, cols - 0.5]])


def inscribed_circle(shape: Shape) -> tuple[float, float, float]:
    """Row, column and radius of the largest circle inside a shape.

    The depth of a point in a convex shape is a concave function, so a grid that closes in on its
    highest point cannot be caught elsewhere. Where many circles are equally large (a long
    rectangle), the one nearest to the middle is taken.
    """
    middle = shape.middle()
    top, bottom, left, right = shape.sides[:4, 2]
    best = np.array([(bottom - top) / 2, (right - left) / 2])
    half = max(bottom + top, right + left, 1.0) / 2
    steps = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 17)], indexing="ij"), axis=-1)
    steps = steps.reshape(-1, 2)
    while half > 2e-3:
        grid = best + half * steps
        height = shape.depth(grid) - 1e-4 * np.linalg.norm(grid - middle, axis=1)
        best = grid[height.argmax()]
        half *= 0.35
    return float(best[0]), float(best[1]), max(float(shape.depth(best)), 1e-6)
