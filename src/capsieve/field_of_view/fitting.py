"""Shapes that explain the edge of a region. Every fit tolerates points that lie elsewhere."""

import numpy as np

from capsieve.field_of_view.region import Edge
from capsieve.field_of_view.shapes import AXIS_NORMALS, Shape, border_sides

__all__ = ["hypotheses"]

TRIALS = 240
"""Random triples (pairs) per robust fit. The generator has a fixed seed."""


def hypotheses(edge: Edge, size: tuple[int, int], tolerance: float) -> list[Shape]:
    """Shapes that the edge of a region may have.

    Parameters
    ----------
    edge
        Points and outward normals.
    size
        Rows and columns of the image.
    tolerance
        How far a point may lie from the shape that explains it, in pixels.

    Returns
    -------
    list of Shape
        A rectangle, a rectangle with cut corners, a disc, a disc cut by the image's border, and
        a disc cut by straight sides: those that can be fitted.
    """
    border = border_sides(size)
    sides, explained = straight_sides(edge, size, tolerance)
    shapes = [Shape(sides)]
    cuts = cut_corners(edge, sides, tolerance)
    if len(cuts):
        shapes.append(Shape(np.vstack([sides, cuts])))
    on_border = Shape(border).depth(edge.points) < tolerance
    for outer, known in ((border, on_border), (sides, explained | on_border)):
        circle = robust_circle(edge.points[~known], size, tolerance)
        if circle is not None:
            shapes.append(Shape(outer, circle))
    return shapes


def straight_sides(
    edge: Edge, size: tuple[int, int], tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Top, bottom, left and right side, and which points they explain.

    A side lies where most points that face its way are lined up; without enough of them it is
    the image's own border.
    """
    sides = border_sides(size)
    explained = np.zeros(len(edge.points), dtype=bool)
    for k, normal in enumerate(AXIS_NORMALS):
        facing = edge.normals @ normal > 0.92
        place = edge.points @ normal
        if facing.sum() < 5:
            continue
        votes = np.abs(place[facing, None] - place[None, facing]) < 0.6 * tolerance
        # Of equally good places the outer one: dark bites never move an edge outwards.
        rank = votes.sum(axis=0) + 1e-6 * place[facing]
        lined_up = votes[:, rank.argmax()]
        if lined_up.sum() < max(5, 0.03 * len(place)):
            continue
        sides[k, 2] = min(sides[k, 2], np.median(place[facing][lined_up]))
        explained |= facing & (np.abs(place - sides[k, 2]) < tolerance)
    return sides, explained


def cut_corners(edge: Edge, sides: np.ndarray, tolerance: float) -> np.ndarray:
    """Slanted sides, at most one per corner, as rows of normal and distance."""
    shape = Shape(sides)
    middle = shape.middle()
    free = shape.depth(edge.points) > tolerance
    cuts = []
    for quadrant in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        facing = edge.normals @ np.array(quadrant) / 2**0.5 > 0.85
        in_corner = ((edge.points - middle) * quadrant > 0).all(axis=1)
        line = _robust_line(edge.points[free & facing & in_corner], np.array(quadrant), tolerance)
        if line is not None:
            cuts.append(line)
    return np.array(cuts).reshape(-1, 3)


def robust_circle(
    points: np.ndarray, size: tuple[int, int], tolerance: float
) -> tuple[float, float, float] | None:
    """The circle with most points near it, out of many through three random points each."""
    if len(points) < 12:
        return None
    random = np.random.default_rng(7)
    picks = random.integers(0, len(points), size=(TRIALS, 3))
    a, b, c = points[picks[:, 0]], points[picks[:, 1]], points[picks[:, 2]]
    # Centre of the circle through three points: equal distances give two linear equations.
    ab, ac = b - a, c - a
    cross = 2 * (ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0])
    good = np.abs(cross) > 1e-3 * max(size) ** 2
    if not good.any():
        return None
    a, ab, ac, cross = a[good], ab[good], ac[good], cross[good]
    bb, cc = (ab**2).sum(axis=1), (ac**2).sum(axis=1)
    offset = np.stack([ac[:, 1] * bb - ab[:, 1] * cc, ab[:, 0] * cc - ac[:, 0] * bb], axis=1)
    offset /= cross[:, None]
    centres, radii = a + offset, np.linalg.norm(offset, axis=1)
    good = (radii < 1.5 * max(size)) & (radii > 0.08 * min(size))
    if not good.any():
        return None
    centres, radii = centres[good], radii[good]
    away = np.linalg.norm(points[None] - centres[:, None], axis=2)
    misfit = np.abs(away - radii[:, None]) / tolerance
    best = int(np.maximum(1 - misfit**2, 0).sum(axis=1).argmax())
    circle = np.array([*centres[best], radii[best]])
    for _ in range(6):
        circle = _closer_circle(points, circle, tolerance)
    row, col, radius = (float(v) for v in circle)
    if not 0.08 * min(size) < radius < 1.5 * max(size):
        return None
    return row, col, radius


def _closer_circle(points: np.ndarray, circle: np.ndarray, tolerance: float) -> np.ndarray:
    """One weighted Gauss-Newton step towards the circle through the points near it."""
    arms = points - circle[:2]
    away = np.maximum(np.linalg.norm(arms, axis=1), 1e-9)
    misfit = away - circle[2]
    weight = np.maximum(1 - (misfit / (2 * tolerance)) ** 2, 0)
    design = np.column_stack([arms / away[:, None], np.ones(len(points))])
    step = np.linalg.lstsq(design * weight[:, None], misfit * weight, rcond=None)[0]
    return circle + step


def _robust_line(
    points: np.ndarray, outward: np.ndarray, tolerance: float
) -> tuple[float, float, float] | None:
    """The slanted line with most points near it: normal (row, col) and distance."""
    if len(points) < 5:
        return None
    random = np.random.default_rng(11)
    picks = random.integers(0, len(points), size=(TRIALS, 2))
    along = points[picks[:, 1]] - points[picks[:, 0]]
    length = np.linalg.norm(along, axis=1)
    normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]
    normals *= np.sign(normals @ outward)[:, None]
    # Between 20 and 70 degrees; two points close together give no direction.
    good = (np.abs(normals).min(axis=1) > 0.34) & (length > 2 * tolerance)
    normals, starts = normals[good], points[picks[:, 0]][good]
    if len(normals) == 0:
        return None
    distance = (normals * starts).sum(axis=1)
    misfit = np.abs(points @ normals.T - distance)
    votes = (misfit < tolerance).sum(axis=0)
    best = int(votes.argmax())
    if votes[best] < 5:
        return None
    near = misfit[:, best] < tolerance
    normal = normals[best]
    return float(normal[0]), float(normal[1]), float(np.median(points[near] @ normal))
