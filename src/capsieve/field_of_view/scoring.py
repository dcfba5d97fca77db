"""How well a shape explains what is seen."""

import numpy as np

from capsieve.field_of_view.flat import Surround
from capsieve.field_of_view.region import Edge
from capsieve.field_of_view.shapes import Shape

__all__ = ["agreement", "cleanness", "swallowed"]

SAMPLES = 144


def agreement(shape: Shape, edge: Edge, tolerance: float) -> float:
    """Harmonic mean of two shares: edge that the shape explains, outline that the edge covers.

    The first alone would favour shapes with many parts, the second alone small ones.
    """
    explained = float((np.abs(shape.depth(edge.points)) < tolerance).mean())
    outline = shape.outline(SAMPLES).points
    rows, cols = outline.T[:, :, None] - edge.points.T[:, None, :]
    covered = float(((rows**2 + cols**2).min(axis=1) < (2 * tolerance) ** 2).mean())
    return 2 * explained * covered / max(explained + covered, 1e-9)


def cleanness(shape: Shape, mask: np.ndarray, tolerance: float) -> tuple[float, float]:
    """Share of the outside that looks like surround, and of the inside that does not.

    Parameters
    ----------
    shape
        On the grid of the mask.
    mask
        True where a pixel is unlike the surround.
    tolerance
        Pixels this close to the outline are left out.
    """
    step = max(1, min(mask.shape) // 90)
    rows, cols = np.mgrid[0 : mask.shape[0] : step, 0 : mask.shape[1] : step]
    depth = shape.depth(np.stack([rows, cols], axis=-1))
    seen = mask[::step, ::step]
    outside, inside = depth < -tolerance, depth > tolerance
    clean = float(1 - seen[outside].mean()) if outside.sum() > 0.002 * depth.size else 1.0
    filled = float(seen[inside].mean()) if inside.any() else 0.0
    return clean, filled


def swallowed(shape: Shape, surround: Surround) -> float:
    """Share of the flat corners of the image that a shape counts as field of view."""
    weights = surround.corner_weights()
    if len(weights) == 0:
        return 0.0
    half = (surround.tiles[:, 1] - surround.tiles[:, 0]).max() / 2
    inside = shape.depth(surround.centres()) > half
    return float(weights[inside].sum() / weights.sum())
