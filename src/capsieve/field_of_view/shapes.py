"""Shapes that a field of view may have, and their fit to the edge of an image."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frames import ShapeName

Points = NDArray[np.float64]
Circle = tuple[float, float, float]

# Outward normals (row, column) of the top, bottom, left and right side.
_AXIS_NORMALS = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
_TRIALS = 240  # random triples or pairs per robust fit; the seeds are fixed
_SAMPLES = 480  # points of an outline at which the edge is measured
_STEP = 0.5  # pixels between samples across the edge


class EdgePoints(NamedTuple):
    """Points on the edge of a shape, outward normals, and the number of the part of each."""

    points: Points
    normals: Points
    parts: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A convex shape: all points inside of every side and of the circle.

    Attributes
    ----------
    sides
        Outward unit normal (row, column) and distance from the origin, one row per side: top,
        bottom, left, right, then cut corners. They are the first parts of the shape.
    circle
        Row, column and radius, the last part; the radius is infinite if the shape is a polygon.
    """

    sides: NDArray[np.float64]
    circle: Circle = (0.0, 0.0, np.inf)

    @property
    def is_round(self) -> bool:
        """Whether the shape has a round part."""
        return bool(np.isfinite(self.circle[2]))

    def clearance(self, points: Points) -> NDArray[np.float64]:
        """Distance of points (..., 2) to each part, negative outside."""
        room = self.sides[:, 2] - points @ self.sides[:, :2].T
        row, col, radius = self.circle
        away = np.hypot(points[..., 0] - row, points[..., 1] - col)
        return np.concatenate([room, radius - away[..., None]], axis=-1)

    def depth(self, points: Points) -> NDArray[np.float64]:
        """Distance of points (..., 2) to the nearest part, negative outside."""
        return self.clearance(points).min(axis=-1)

    def outline(self, count: int) -> EdgePoints:
        """Points on the edge at equal angles around the centre of the inscribed circle."""
        centre = np.array(inscribed_circle(self)[:2])
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        ray = np.stack([np.sin(angle), np.cos(angle)], axis=1)
        slope = ray @ self.sides[:, :2].T
        room = self.sides[:, 2] - self.sides[:, :2] @ centre
        reach = np.where(slope > 1e-9, room / np.maximum(slope, 1e-9), np.inf)
        offset, radius = centre - self.circle[:2], self.circle[2]
        along = ray @ offset
        far = np.sqrt(np.maximum(along**2 - offset @ offset + radius**2, 0)) - along
        reach = np.column_stack([reach, far])
        parts = reach.argmin(axis=1)
        points = centre + reach.min(axis=1)[:, None] * ray
        on_circle = (parts == len(self.sides))[:, None]
        normals = self.sides[np.minimum(parts, len(self.sides) - 1), :2]
        normals = np.where(on_circle, (points - self.circle[:2]) / radius, normals)
        return EdgePoints(points, normals, parts)

    def rescaled(self, rows: float, cols: float) -> "Shape":
        """The shape on a grid with `rows` times as many rows and `cols` times as many columns."""
        normals = self.sides[:, :2] / (rows, cols)
        shift = normals @ np.array([(rows - 1) / 2, (cols - 1) / 2])
        length = np.linalg.norm(normals, axis=1)
        sides = np.column_stack([normals, self.sides[:, 2] + shift]) / length[:, None]
        row, col, radius = self.circle
        centre = (row + 0.5) * rows - 0.5, (col + 0.5) * cols - 0.5
        return Shape(sides, (*centre, radius * (rows * cols) ** 0.5))

    def name(self, size: tuple[int, int]) -> ShapeName:
        """Name of the shape in an image of this size."""
        parts = self.outline(360).parts
        if (parts == len(self.sides)).mean() > 0.02:
            return "circle"
        if (parts[parts < len(self.sides)] >= 4).any():
            return "cut-square"
        inner = border_sides(size)[:, 2] - self.sides[:4, 2]
        return "full" if inner.max() < 1.0 else "rectangle"


def border_sides(size: tuple[int, ...]) -> NDArray[np.float64]:
    """The four sides of an image."""
    rows, cols = size[:2]
    return np.column_stack([_AXIS_NORMALS, [0.5, rows - 0.5, 0.5, cols - 0.5]])


def inscribed_circle(shape: Shape) -> Circle:
    """Row, column and radius of the largest circle inside a shape.

    The depth inside a convex shape is concave, so a shrinking grid finds its maximum. If many
    circles are equally large (a long rectangle), the one nearest to the middle is taken.
    """
    top, bottom, left, right = shape.sides[:4, 2]
    best = np.array([(bottom - top) / 2, (right - left) / 2])
    middle = np.array(shape.circle[:2]) if shape.is_round else best
    half = max(bottom + top, right + left, 1.0) / 2
    axis = np.linspace(-1, 1, 17)
    steps = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    while half > 2e-3:
        grid = best + half * steps
        height = shape.depth(grid) - 1e-4 * np.linalg.norm(grid - middle, axis=1)
        best = grid[height.argmax()]
        half *= 0.35
    return float(best[0]), float(best[1]), max(float(shape.depth(best)), 1e-6)


def fit_shapes(
    points: Points, normals: Points, size: tuple[int, int], tolerance: float
) -> list[Shape]:
    """Fit shapes to the edge of a region.

    Parameters
    ----------
    points, normals
        Points on the edge and outward normals, (n, 2). Some may belong to something else: letters
        over the edge, dark folds.
    size
        Rows and columns of the image.
    tolerance
        Largest distance of a point from the part to which it belongs, in pixels.

    Returns
    -------
    list of Shape
        A rectangle, a rectangle with cut corners, a disc cut by the border of the image, and a
        disc cut by the sides of the rectangle; without those that cannot be fitted.
    """
    border = border_sides(size)
    sides = _straight_sides(points, normals, border, tolerance)
    shapes = [Shape(sides)]
    cuts = _cut_corners(points, normals, sides, tolerance)
    if cuts:
        shapes.append(Shape(np.vstack([sides, *cuts])))
    on_border = Shape(border).depth(points) < tolerance
    on_sides = np.abs(Shape(sides).clearance(points)[:, :4]) < tolerance
    facing = normals @ _AXIS_NORMALS.T > 0.92
    for outer, known in ((border, on_border), (sides, on_border | (on_sides & facing).any(axis=1))):
        circle = _robust_circle(points[~known], size, tolerance)
        if circle is not None:
            shapes.append(Shape(outer, circle))
    return shapes


def refine(shape: Shape, image: NDArray[np.float32], window: float, contrast: float) -> Shape:
    """Move the parts of a shape to the edge; the parameters are those of `edge_offsets`."""
    outline, offset = edge_offsets(shape, image, window, contrast)
    sides, circle = shape.sides.copy(), shape.circle
    measured = np.isfinite(offset)
    edge = outline.points + np.where(measured, offset, 0)[:, None] * outline.normals
    for part in range(len(sides)):
        mine = measured & (outline.parts == part)
        if mine.sum() >= 6:
            sides[part, 2] += np.median(offset[mine])
    mine = measured & (outline.parts == len(sides))
    if mine.sum() >= 12:
        circle = _fit_circle(edge[mine], circle)
    # Blur of half a pixel must not move a side out of the image.
    sides[:4, 2] = np.minimum(sides[:4, 2], border_sides(image.shape)[:, 2])
    return Shape(sides, circle)


def edge_offsets(
    shape: Shape, image: NDArray[np.float32], window: float, contrast: float
) -> tuple[EdgePoints, NDArray[np.float64]]:
    """Measure the distance from the outline of a shape to the edge in an image.

    Parameters
    ----------
    shape
        In pixels of the image.
    image
        Low in the surround, high in the field of view. Outside the image it counts as 0, so an
        image that reaches the border ends half a pixel beyond the last pixel.
    window
        Largest offset, in pixels.
    contrast
        Smallest difference between the two sides of an edge.

    Returns
    -------
    outline
        Points of the outline, without those near a joint of two parts.
    offset
        Distance from each point to the edge, outwards positive; NaN if there is no edge.
    """
    outline = shape.outline(_SAMPLES)
    half = int(np.ceil(window / _STEP))
    steps = _STEP * np.arange(-half, half + 1)
    places = outline.points[:, None] + steps[:, None] * outline.normals[:, None]
    rows, cols = np.moveaxis(places.astype(np.float32), -1, 0)
    profile = cv2.remap(image, cols, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    third = max(2, len(steps) // 3)
    inside = np.median(profile[:, :third], axis=1)
    outside = np.median(profile[:, -third:], axis=1)
    middle = (inside + outside) / 2
    # The outermost crossing: the image may be dark inside, but the surround is not bright.
    above = profile >= middle[:, None]
    last = len(steps) - 1 - above[:, ::-1].argmax(axis=1)
    has_edge = above.any(axis=1) & (last < len(steps) - 1) & (inside - outside > contrast)
    last = np.minimum(last, len(steps) - 2)
    line = np.arange(len(profile))
    high, low = profile[line, last], profile[line, last + 1]
    fraction = np.clip((high - middle) / np.maximum(high - low, 1e-6), 0, 1)
    offset = np.where(has_edge, steps[last] + _STEP * fraction, np.nan)
    # The nearest part is the point's own; near a second one there is no single edge.
    single = np.partition(shape.clearance(outline.points), 1, axis=1)[:, 1] >= window / 2
    points, normals, parts = outline
    return EdgePoints(points[single], normals[single], parts[single]), offset[single]


def _straight_sides(
    points: Points, normals: Points, border: NDArray[np.float64], tolerance: float
) -> NDArray[np.float64]:
    """Top, bottom, left and right side: the best line, or the border if there is none."""
    sides = border.copy()
    for k, normal in enumerate(_AXIS_NORMALS):
        position = points[normals @ normal > 0.92] @ normal
        if len(position) < 5:
            continue
        near = np.abs(position[:, None] - position) < 0.6 * tolerance
        # Of equally good positions the outermost: dark content moves an edge inwards only.
        best = near[:, (near.sum(axis=0) + 1e-6 * position).argmax()]
        if best.sum() >= max(5, 0.03 * len(points)):
            sides[k, 2] = min(sides[k, 2], np.median(position[best]))
    return sides


def _cut_corners(
    points: Points, normals: Points, sides: NDArray[np.float64], tolerance: float
) -> list[NDArray[np.float64]]:
    """Slanted sides, at most one per corner."""
    rectangle = Shape(sides)
    middle = np.array(inscribed_circle(rectangle)[:2])
    free = rectangle.depth(points) > tolerance
    cuts = []
    for quadrant in np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]):
        facing = normals @ quadrant / 2**0.5 > 0.85
        in_corner = ((points - middle) * quadrant > 0).all(axis=1)
        cut = _robust_line(points[free & facing & in_corner], quadrant, tolerance)
        if cut is not None:
            cuts.append(cut)
    return cuts


def _robust_line(
    points: Points, outward: NDArray[Any], tolerance: float
) -> NDArray[np.float64] | None:
    """The slanted line with most points near it, of many through two random points."""
    if len(points) < 5:
        return None
    first, second = np.random.default_rng(11).integers(0, len(points), size=(2, _TRIALS))
    along = points[second] - points[first]
    length = np.linalg.norm(along, axis=1)
    normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]
    normals *= np.sign(normals @ outward)[:, None]
    # Between 20 and 70 degrees; two points close together give no direction.
    good = (np.abs(normals).min(axis=1) > 0.34) & (length > 2 * tolerance)
    if not good.any():
        return None
    normals = normals[good]
    distance = (normals * points[first[good]]).sum(axis=1)
    near = np.abs(points @ normals.T - distance) < tolerance
    best = near.sum(axis=0).argmax()
    if near[:, best].sum() < 5:
        return None
    near = points[near[:, best]]
    # The direction across which the points vary least.
    normal = np.linalg.eigh(np.cov(near.T))[1][:, 0]
    normal *= np.sign(normal @ outward)
    return np.array([*normal, np.median(near @ normal)])


def _robust_circle(points: Points, size: tuple[int, int], tolerance: float) -> Circle | None:
    """The circle with most points near it, of many through three random points."""
    if len(points) < 12:
        return None
    a, b, c = points[np.random.default_rng(7).integers(0, len(points), size=(3, _TRIALS))]
    # Equal distances of the centre to the three points are two linear equations.
    ab, ac = b - a, c - a
    cross = 2 * (ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0])
    cross = np.where(np.abs(cross) > 1e-3 * max(size) ** 2, cross, np.nan)
    bb, cc = (ab**2).sum(axis=1), (ac**2).sum(axis=1)
    offset = np.stack([ac[:, 1] * bb - ab[:, 1] * cc, ab[:, 0] * cc - ac[:, 0] * bb], axis=1)
    offset /= cross[:, None]
    radii = np.linalg.norm(offset, axis=1)
    smallest, largest = 0.08 * min(size), 1.5 * max(size)
    good = (radii > smallest) & (radii < largest)
    if not good.any():
        return None
    centres, radii = (a + offset)[good], radii[good]
    misfit = np.abs(np.linalg.norm(points - centres[:, None], axis=2) - radii[:, None])
    best = int(np.maximum(1 - (misfit / tolerance) ** 2, 0).sum(axis=1).argmax())
    start = float(centres[best, 0]), float(centres[best, 1]), float(radii[best])
    circle = _fit_circle(points[misfit[best] < 2 * tolerance], start)
    return circle if smallest < circle[2] < largest else None


def _fit_circle(points: Points, circle: Circle) -> Circle:
    """The circle through points, by Gauss-Newton steps with Tukey's weights."""
    values = np.array(circle)
    for _ in range(4):
        arms = points - values[:2]
        away = np.maximum(np.linalg.norm(arms, axis=1), 1e-9)
        misfit = away - values[2]
        centred = misfit - np.median(misfit)
        scale = max(0.25, 1.4826 * float(np.median(np.abs(centred))))
        weight = np.maximum(1 - (centred / (4 * scale)) ** 2, 0)
        design = np.column_stack([arms / away[:, None], np.ones(len(points))])
        values += np.linalg.lstsq(design * weight[:, None], misfit * weight, rcond=None)[0]
    row, col, radius = values.tolist()
    return row, col, radius
