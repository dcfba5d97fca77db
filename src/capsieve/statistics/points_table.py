"""All operating points in one table: what each costs, and what it finds."""

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.evaluation import OperatingPoint
from capsieve.statistics.flags import flagged_at, normal_frames, polyp_frames
from capsieve.statistics.judged import Judged
from capsieve.statistics.polyps import polyp_scores
from capsieve.statistics.table import Column, Table

__all__ = ["points_table", "subsets"]

_WORDS = {
    "stated": "stated",
    "chosen": "chosen on the training part",
    "screened": "as screened",
    "fitted": "fitted to these frames (optimistic)",
}


def subsets(judged: Judged) -> dict[str, NDArray[np.bool_]]:
    """Return the frames of everything and of each part of the split."""
    every = {"all": np.ones(len(judged), np.bool_)}
    return every | {name: judged.part == code for code, name in enumerate(judged.parts)}


def points_table(judged: Judged, points: tuple[OperatingPoint, ...]) -> Table:
    """Return specificity and sensitivity of every point, on everything and on each part."""
    rows = tuple(
        (_WORDS.get(point.key, point.key), point.threshold, name, *_rates(judged.take(mask), point))
        for point in points
        for name, mask in subsets(judged).items()
    )
    unit = judged.unit
    return Table(
        key="operating-points",
        title="Operating points",
        columns=(
            Column("point", "Operating point"),
            Column("threshold", "Threshold", "number", 3),
            Column("frames", "On"),
            Column("normal", "Normal frames", "count"),
            Column("specificity", "Specificity", "share"),
            Column("polyp_frames", "Polyp frames", "count"),
            Column("sensitivity", "Sensitivity per frame", "share"),
            Column("polyps", f"{unit.capitalize()}s", "count"),
            Column("polyp_sensitivity", f"Sensitivity per {unit}", "share", 2),
        ),
        rows=rows,
        caption="A frame is flagged where its score is at least the threshold. "
        + " ".join(f"{_WORDS.get(p.key, p.key).capitalize()}: {p.how}" for p in points),
    )


def _rates(judged: Judged, point: OperatingPoint) -> tuple[int | float | None, ...]:
    flagged = flagged_at(judged.score, point.threshold)
    normal, polyp = normal_frames(judged), polyp_frames(judged)
    found = flagged_at(polyp_scores(judged).score, point.threshold)
    return (
        *_share(normal, ~flagged),
        *_share(polyp, flagged),
        *_share(np.ones(len(found), np.bool_), found),
    )


def _share(among: NDArray[np.bool_], hit: NDArray[np.bool_]) -> tuple[int, float | None]:
    total = int(np.count_nonzero(among))
    return total, int(np.count_nonzero(among & hit)) / total if total else None
