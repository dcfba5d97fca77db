"""Which outline holds which point: every mask is opened once, one at a time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.judged import Judged
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.regions.marks import Marks, best_balls
from capsieve.statistics.regions.outline import Misfit, outline_of
from capsieve.statistics.regions.placing import PlacedRegions
from capsieve.statistics.regions.problem_list import ProblemList

__all__ = ["Pointed", "point_at"]


@dataclass(frozen=True, slots=True, eq=False)
class Pointed:
    """Outlines that can be used, and what points at them.

    Attributes
    ----------
    frame
        Per outline its place among the judged frames, growing.
    polyp
        Per outline the polyp's name, or None: where the outline has none it is the one that the
        labels name, if the frame has a single outline.
    hit
        Per outline whether it holds the centre of the frame's best ball.
    marks
        All marks, or None where they were not asked for.
    best_mark
        Per outline the highest score of the marks in it; 0 where there is none, or without marks.
    marked
        Per mark whether it lies in an outline.
    problems
        Outlines that cannot be used. A frame with one of these is left out as a whole.
    """

    frame: NDArray[np.int64]
    polyp: tuple[str | None, ...]
    hit: NDArray[np.bool_]
    marks: Marks | None
    best_mark: NDArray[np.float64]
    marked: NDArray[np.bool_]
    problems: tuple[LabelProblem, ...]


def point_at(judged: Judged, placed: PlacedRegions, marks: Marks | None = None) -> Pointed:
    """Look which outlines hold the best ball, and which hold marks.

    Parameters
    ----------
    judged, placed
        The frames, and the outlines on them.
    marks
        Of :func:`~capsieve.statistics.regions.marks.read_marks`, where the marks count as well.
    """
    balls = best_balls(judged)
    points = balls if marks is None else marks
    first_ball, last_ball = _spans(balls.frame, placed.frame)
    first, last = _spans(points.frame, placed.frame)
    problems = ProblemList()
    usable = np.ones(len(placed.frame), bool)
    hit = np.zeros(len(placed.frame), bool)
    best = np.zeros(len(placed.frame))
    marked = np.zeros(len(points), bool)
    masks: dict[str, NDArray[np.uint8]] = {}
    for i, (region, frame) in enumerate(zip(placed.regions, placed.frame.tolist(), strict=True)):
        try:
            size = (int(judged.rows[frame]), int(judged.cols[frame]))
            outline = outline_of(region, size, masks)
        except Misfit as error:
            usable[i] = False
            problems.add(str(error), region.where or region.file or f"frame {region.frame}")
            continue
        ball = slice(first_ball[i], last_ball[i])
        hit[i] = bool(outline.holds(balls.row[ball], balls.col[ball]).any())
        own = slice(first[i], last[i])
        holds = outline.holds(points.row[own], points.col[own])
        marked[own] |= holds
        best[i] = points.score[own][holds].max(initial=0.0)
    kept = usable & ~np.isin(placed.frame, placed.frame[~usable])
    also = int((usable & ~kept).sum())
    if also:
        problems.add("another outline of the same frame cannot be used", rows=also)
    return Pointed(
        frame=placed.frame[kept],
        polyp=_names(judged, placed, kept),
        hit=hit[kept],
        marks=marks,
        best_mark=best[kept] if marks is not None else np.zeros(int(kept.sum())),
        marked=marked if marks is not None else np.empty(0, bool),
        problems=problems.result(),
    )


def _spans(
    frames: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.searchsorted(frames, wanted, side="left"), np.searchsorted(frames, wanted, "right")


def _names(
    judged: Judged, placed: PlacedRegions, kept: NDArray[np.bool_]
) -> tuple[str | None, ...]:
    """The outline's own name, or the labels' name where no other outline can be meant.

    Names that the labels do not know are often counted anew in each exam.
    """
    known = set(judged.polyps)
    _, place, count = np.unique(placed.frame, return_inverse=True, return_counts=True)
    names: list[str | None] = []
    for i in np.flatnonzero(kept).tolist():
        name = placed.regions[i].polyp
        code = int(judged.polyp[placed.frame[i]])
        if name is None and code >= 0 and count[place[i]] == 1:
            name = judged.polyps[code]
        elif name is not None and name not in known and len(judged.exams) > 1:
            name = f"{judged.exams[judged.exam[placed.frame[i]]]}/{name}"
        names.append(name)
    return tuple(names)
