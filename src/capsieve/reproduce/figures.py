"""The figures of the page, numbered as in the paper."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.parameters import Parameters
from capsieve.report.data_flow import data_flow_drawing
from capsieve.report.evaluation_figures import histogram_drawing, roc_drawing
from capsieve.report.figures import Drawing
from capsieve.report.galleries import Gallery, choose, draw
from capsieve.report.nine_panels import nine_panels
from capsieve.reproduce.readings import Reading

Drawings = dict[str, Drawing]
"""By the name of the reading."""

_GALLERIES = {2: "texture", 4: "geometry", 5: "found"}
_HISTOGRAMS = {3: "texture_max", 7: "radius_max"}


def paper_figures(readings: Sequence[Reading]) -> dict[int, Drawings]:
    """Return Figures 1 to 9 with each reading; a figure that no frame fits is left out."""
    found: dict[int, Drawings] = {number: {} for number in range(1, 10)}
    row = _found_by_all(readings)
    for reading in readings:
        for number, drawing in _figures(reading, row).items():
            found[number][reading.name] = drawing
    found[8] = {"": data_flow_drawing(Parameters())}  # the readings differ in nothing that it shows
    return found


def _figures(reading: Reading, row: int | None) -> dict[int, Drawing]:
    evaluation, images = reading.evaluation, reading.images
    galleries = {each.key: each for each in choose(evaluation, images)}
    histograms = {each.key: each for each in evaluation.histograms}
    found: dict[int, Drawing | None] = {
        1: None if row is None else _steps(reading, row),
        6: _gallery_drawing(reading, _errors(reading)),
        9: roc_drawing(evaluation),
    }
    for number, key in _GALLERIES.items():
        found[number] = _gallery_drawing(reading, galleries.get(key))
    for number, key in _HISTOGRAMS.items():
        found[number] = histogram_drawing(histograms[key]) if key in histograms else None
    return {number: drawing for number, drawing in found.items() if drawing is not None}


def _found_by_all(readings: Sequence[Reading]) -> int | None:
    """Return the frame of Figure 1: a polyp that all readings flag, or else the first one.

    Of these the one with the highest score; with outlines only frames with the ball on the polyp.
    """
    masks = []
    for reading in readings:
        evaluation = reading.evaluation
        mask = evaluation.points[0].flagged & evaluation.frames.polyp_frames
        masks.append(mask if evaluation.on_polyp is None else mask & evaluation.on_polyp)
    score = readings[0].evaluation.frames.score
    for mask in (np.logical_and.reduce(masks), masks[0]):
        rows = np.flatnonzero(mask)
        if rows.size:
            return int(rows[np.argmax(score[rows])])
    return None


def _steps(reading: Reading, row: int) -> Drawing | None:
    explain = reading.images.explain
    explanation = None if explain is None else explain(row)
    if explanation is None:
        return None
    figure = nine_panels(explanation, reading.parameters)
    return Drawing(figure, "", "Nine images of the steps of the algorithm for one frame")


def _errors(reading: Reading) -> Gallery | None:
    """Return two missed polyp frames and two flagged normal ones, of different kinds if possible.

    As in the paper: a polyp with a stretched component, one with a radius below R_P, and
    the two false positives with the highest scores.
    """
    frames, images = reading.evaluation.frames, reading.images
    flagged = reading.evaluation.points[0].flagged
    missed = frames.polyp_frames & ~flagged
    stretched = missed & frames.reason.isin(["no-feature"])
    if images.fold is not None:
        stretched &= images.fold > 0
    small = missed & np.isfinite(frames.score)
    rows = [*_best(stretched, images.fold, 1), *_best(small, frames.score, 1)]
    others = missed.copy()
    others[rows] = False
    rows = sorted(
        [*rows, *_best(others, frames.score, 2 - len(rows))], key=frames.score.__getitem__
    )
    titles = [
        f"({letter}) Missed: {frames.polyp[row]}" for letter, row in zip("ab", rows, strict=False)
    ]
    false = _best_of_groups(flagged & frames.normal_frames, frames.score, frames.group.code)
    letters = "abcd"[len(rows) :]
    titles += [f"({letter}) False positive" for letter, _ in zip(letters, false, strict=False)]
    rows += false
    return Gallery("false-positives", "Errors", "", rows, titles) if rows else None


def _best(among: NDArray[np.bool_], score: NDArray[Any] | None, count: int) -> list[int]:
    rows = np.flatnonzero(among)
    if score is not None:
        rows = rows[np.argsort(-np.nan_to_num(score[rows].astype(float)), kind="stable")]
    return rows[: max(count, 0)].tolist()


def _best_of_groups(
    among: NDArray[np.bool_], score: NDArray[np.float64], group: NDArray[np.int32]
) -> list[int]:
    """Return the rows with the highest scores of two different patients, or of one."""
    first = _best(among, score, 1)
    if not first:
        return []
    other = among & (group != group[first[0]])
    return first + (_best(other, score, 1) or _best(among, score, 2)[1:])


def _gallery_drawing(reading: Reading, gallery: Gallery | None) -> Drawing | None:
    if gallery is None:
        return None
    [drawing] = draw(reading.evaluation, gallery, reading.images)
    return drawing
