"""Search for the field of view of a capsule."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.field_of_view import shapes
from capsieve.field_of_view.shapes import Shape, border_sides, inscribed_circle
from capsieve.field_of_view.surround import Edge, Sample, find_edge, find_surround, read_frames
from capsieve.frames import FieldOfView

_LEAST_SCORE = 0.55  # a shape with a lower score does not explain the image
_LEAST_CONFIDENCE = 0.15  # a less certain result is a guess
_MANY_VIEWS = 6  # smooth mucosa has a constant colour in fewer views


class _Fit(NamedTuple):
    shape: Shape
    score: float
    confidence: float


def find_field_of_view(frames: Iterable[Any]) -> FieldOfView:
    """Find the field of view of a capsule in several frames of one exam.

    The corners of the image show the colours of the surround. Shapes (disc, rectangle, rectangle
    with cut corners; each possibly cut by the border of the image) are fitted to the edge of all
    that differs from them, at reduced size. The best one is moved to the edge in full size, and the
    largest circle inside it is returned.

    Parameters
    ----------
    frames
        Frames of one size: grey, RGB or RGBA, of any number type. An iterator is read to its end.
        Thirty frames spread over the exam are enough; one is accepted.

    Returns
    -------
    FieldOfView
        Shape, and the largest circle inside the visible part, in pixels of the source.
        The confidence is the product of three fractions: the fraction of the outline with an edge
        at the expected place, the fraction of the outside that has a colour of the surround, and
        n / (n + 0.5) for n frames that differ. If no corner has a constant colour in six or more
        different frames, the image fills the frame and only the third factor counts. If nothing
        is found, the centred circle that touches the border is returned with confidence 0.

    Raises
    ------
    FrameError
        No frame, frames of different sizes, or pixels that are not finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from capsieve import find_field_of_view
    >>> rows, cols = np.mgrid[:200, :200]
    >>> disc = np.hypot(rows - 100, cols - 90) < 80
    >>> noise = np.random.default_rng(0).integers(60, 200, (5, 200, 200))
    >>> field = find_field_of_view((noise * disc).astype(np.uint8))
    >>> field.shape, round(field.row), round(field.col), round(field.radius)
    ('circle', 100, 90, 80)
    """
    sample = read_frames(frames)
    certainty = sample.views / (sample.views + 0.5)
    surround = find_surround(sample)
    if surround is None:
        return _centred(sample, certainty if sample.views >= _MANY_VIEWS else 0.0)
    edge = find_edge(surround)
    candidates = _candidates(edge, sample.small_size) if edge else []
    image, contrast = surround.distance_in_full_size(sample), max(4.0, 0.1 * surround.level)
    fits = [_fit_in_full_size(fit, sample.small_size, image, contrast) for fit in candidates]
    best = max(fits, key=lambda fit: fit.score, default=None)
    if best is None or best.confidence * certainty < _LEAST_CONFIDENCE:
        return _centred(sample, 0.0)
    shape = best.shape
    if image.shape != sample.size:  # otherwise the circle is exactly the fitted one
        shape = shape.rescaled(sample.size[0] / image.shape[0], sample.size[1] / image.shape[1])
    circle = inscribed_circle(shape)
    return FieldOfView(shape.name(sample.size), *circle, best.confidence * certainty)


def _centred(sample: Sample, confidence: float) -> FieldOfView:
    rows, cols = sample.size
    return FieldOfView("full", (rows - 1) / 2, (cols - 1) / 2, min(rows, cols) / 2, confidence)


def _candidates(edge: Edge, size: tuple[int, int]) -> list[_Fit]:
    """The best disc, rectangle and rectangle with cut corners, at reduced size."""
    tolerance = max(1.5, 0.01 * min(size))
    best: dict[tuple[bool, bool], _Fit] = {}
    for shape in shapes.fit_shapes(edge.points, edge.normals, size, tolerance):
        if inscribed_circle(shape)[2] < 0.1 * min(size):
            continue
        clean, filled = _separation(shape, edge.mask, tolerance)
        score = _agreement(shape, edge.points, tolerance) * clean * filled
        score -= _complexity(shape, size)
        kind = shape.is_round, len(shape.sides) > 4
        if score > (best[kind].score if kind in best else _LEAST_SCORE):
            best[kind] = _Fit(shape, score, clean)
    top = max((fit.score for fit in best.values()), default=0.0)
    return [fit for fit in best.values() if fit.score > 0.8 * top]


def _fit_in_full_size(
    fit: _Fit, small_size: tuple[int, int], image: NDArray[np.float32], contrast: float
) -> _Fit:
    """Move a shape to the edge in full size; an outline that follows the edge scores more."""
    rows, cols = (n / small for n, small in zip(image.shape, small_size, strict=True))
    scale = max(rows, cols)
    wide, narrow = 2.5 * scale + 3.0, scale + 2.0
    shape = shapes.refine(fit.shape.rescaled(rows, cols), image, wide, contrast)
    shape = shapes.refine(shape, image, narrow, contrast)
    _, offset = shapes.edge_offsets(shape, image, narrow, contrast)
    misfit = np.abs(offset[np.isfinite(offset)]) / max(1.0, 0.4 * scale)
    count = max(len(offset), 1)
    closeness = float(np.maximum(1 - misfit, 0).sum()) / count
    support = float((misfit < 1).sum()) / count
    return _Fit(shape, fit.score * (1 + closeness), fit.confidence * support)


def _agreement(shape: Shape, points: NDArray[np.float64], tolerance: float) -> float:
    """Harmonic mean of two fractions: edge points on the outline, outline near edge points.

    The first alone would prefer shapes with many parts, the second small ones.
    """
    explained = float((np.abs(shape.depth(points)) < tolerance).mean())
    outline = shape.outline(144).points
    rows, cols = outline.T[:, :, None] - points.T[:, None, :]
    covered = float(((rows**2 + cols**2).min(axis=1) < (2 * tolerance) ** 2).mean())
    return 2 * explained * covered / max(explained + covered, 1e-9)


def _separation(shape: Shape, mask: NDArray[np.bool_], tolerance: float) -> tuple[float, float]:
    """Fraction of the outside that is surround, and of the inside that is not."""
    step = max(1, min(mask.shape) // 90)
    rows, cols = np.mgrid[0 : mask.shape[0] : step, 0 : mask.shape[1] : step]
    depth = shape.depth(np.stack([rows, cols], axis=-1))
    seen = mask[::step, ::step]
    outside, inside = depth < -tolerance, depth > tolerance
    clean = float(1 - seen[outside].mean()) if outside.sum() > 0.002 * depth.size else 1.0
    filled = float(seen[inside].mean()) if inside.any() else 0.0
    return clean, filled


def _complexity(shape: Shape, size: tuple[int, int]) -> float:
    """A small cost per part: of two equal fits the simpler one is better."""
    inner = int((border_sides(size)[:, 2] - shape.sides[:4, 2] > 1.0).sum())
    return 0.004 * (inner + len(shape.sides) - 4) + 0.01 * shape.is_round
