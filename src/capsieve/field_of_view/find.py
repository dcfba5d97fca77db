"""find_field_of_view: the composer of the steps in this package."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from capsieve.field_of_view.fitting import hypotheses
from capsieve.field_of_view.flat import flat_places
from capsieve.field_of_view.intake import Exam, greatest, take_in
from capsieve.field_of_view.refine import behind_border_lines, crossings, refined
from capsieve.field_of_view.region import regions
from capsieve.field_of_view.ring import line_width, shrunk
from capsieve.field_of_view.scoring import agreement, cleanness, swallowed
from capsieve.field_of_view.shapes import Shape, border_sides, inscribed_circle
from capsieve.field_of_view.surround import Evidence, distance_in_full_size, evidence_maps
from capsieve.frames import FieldOfView

__all__ = ["find_field_of_view"]

LEAST_SCORE = 0.55
"""Below this, no shape explains the picture and the whole frame is taken."""

MOST_FINALISTS = 4

LEAST_CONFIDENCE = 0.15
"""An answer that is less sure than this is a guess and not given."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A shape on the reduced grid, the evidence it came from, and how well it fits."""

    shape: Shape
    evidence: Evidence
    score: float
    clean: float


def find_field_of_view(frames: Iterable[Any]) -> FieldOfView:
    """Find the field of view of a capsule from several frames of one exam.

    The surround of the field is what keeps the colour of the image's corners, or never changes.
    Shapes (disc, rectangle with cut corners, rectangle; each possibly cut by the border) are
    fitted to the edge of the rest, the best one is moved to the edge in full size, and the
    largest circle inside it is returned.

    Parameters
    ----------
    frames
        Frames of one size: grey, RGB or RGBA, of any number type, as arrays, or objects whose
        ``pixels`` are one. An iterator is read to its end. Thirty frames spread over the exam
        are plenty; one is accepted.

    Returns
    -------
    FieldOfView
        Shape, and the largest circle inside the visible part, in pixels of the source.
        Its confidence is the product of three shares: of the outline along which an edge is seen
        where the shape says (at the image's border: along which the picture reaches it); of the
        outside that looks like surround; and n / (n + 0.5) for n frames that differ. Where
        nothing can be told, the centred circle that touches the border comes with confidence 0.

    Raises
    ------
    FrameError
        No frame, frames of different sizes, pixels that are not finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from capsieve import find_field_of_view
    >>> rows, cols = np.mgrid[:200, :200]
    >>> disc = np.hypot(rows - 100, cols - 90) < 80
    >>> noise = np.random.default_rng(0).integers(60, 200, (5, 200, 200))
    >>> seen = find_field_of_view((noise * disc).astype(np.uint8))
    >>> seen.shape, round(seen.row), round(seen.col), round(seen.radius)
    ('circle', 100, 90, 80)
    """
    exam = take_in(frames)
    candidates = _candidates(exam)
    if not candidates:
        return _whole_frame(exam)
    _, field = max((_finish(exam, c) for c in candidates), key=lambda pair: pair[0])
    return field if field.confidence >= LEAST_CONFIDENCE else _whole_frame(exam)


def _candidates(exam: Exam) -> list[Candidate]:
    """The best shapes on the reduced grid, one per family and map of evidence."""
    found: list[Candidate] = []
    size = exam.stack.shape[-2], exam.stack.shape[-1]
    tolerance = max(1.5, 0.01 * min(size))
    surround = flat_places(exam)
    for evidence in evidence_maps(exam, surround):
        levels = regions(evidence)
        for region in levels:
            for shape in hypotheses(region.edge, size, tolerance):
                if inscribed_circle(shape)[2] < 0.1 * min(size):
                    continue
                # The lowest threshold judges all: a bright middle must not pass for the field.
                clean, filled = cleanness(shape, levels[0].mask, tolerance)
                score = agreement(shape, region.edge, tolerance) * clean * filled
                score *= 1 - 0.8 * swallowed(shape, surround)
                score -= _complexity(shape, size)
                if score > LEAST_SCORE:
                    found.append(Candidate(shape, evidence, score, clean))
    found.sort(key=lambda candidate: -candidate.score)
    finalists: dict[tuple[bool, bool, bytes], Candidate] = {}
    for candidate in found:
        round_part, cuts = candidate.shape.circle is not None, len(candidate.shape.sides) > 4
        kind = round_part, cuts, candidate.evidence.colours.tobytes()
        if candidate.score > 0.8 * found[0].score:
            finalists.setdefault(kind, candidate)
    return list(finalists.values())[:MOST_FINALISTS]


def _complexity(shape: Shape, size: tuple[int, int]) -> float:
    """A small price per part, so that of two equal fits the simpler one wins."""
    inner = int((border_sides(size)[:, 2] - shape.sides[:4, 2] > 1.0).sum())
    return 0.004 * (inner + len(shape.sides) - 4) + (0.01 if shape.circle is not None else 0)


def _finish(exam: Exam, candidate: Candidate) -> tuple[float, FieldOfView]:
    """Score and field of view of one candidate in full size."""
    scale = max(exam.factor)
    windows = [2.5 * scale + 3.0, 1.5 * scale + 2.5, scale + 2.0]
    image = distance_in_full_size(exam, candidate.evidence.colours)
    contrast = max(4.0, 0.1 * candidate.evidence.level)
    shape = refined(candidate.shape.rescaled(exam.factor), image, windows, contrast)
    tolerance = max(1.0, 0.4 * scale)
    support, closeness = crossings(shape, image, windows[-1], contrast).support(tolerance)
    bright = greatest(np.moveaxis(exam.mean, -1, 0))
    shape = behind_border_lines(shape, bright, windows[0])
    reach = max(6.0, 0.03 * inscribed_circle(shape)[2])
    shape = shrunk(shape, line_width(shape, exam, image, reach))
    confidence = support * candidate.clean * exam.views / (exam.views + 0.5)
    name = shape.name(exam.height, exam.width)
    field = FieldOfView(name, *inscribed_circle(shape), confidence)
    return candidate.score * (0.5 + 0.5 * closeness), field


def _whole_frame(exam: Exam) -> FieldOfView:
    """The centred circle, as large as fits; with confidence 0 `analyze` takes the whole frame."""
    row, col = (exam.height - 1) / 2, (exam.width - 1) / 2
    return FieldOfView("full", row, col, min(exam.height, exam.width) / 2, 0.0)
