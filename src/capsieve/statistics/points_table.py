"""All operating points in one table: what each costs, and what it finds."""

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.evaluation import OperatingPoint
from capsieve.statistics.flags import flagged_at, normal_frames, polyp_frames
from capsieve.statistics.judged import Judged
from capsieve.statistics.operating_point import CrossFitted
from capsieve.statistics.table import Column, Table

__all__ = ["cross_fitted_table", "points_table", "subsets"]

_WORDS = {
    "stated": "stated",
    "chosen": "chosen on the training part",
    "screened": "as screened",
    "instead": "instead of the reading lists",
    "fitted": "fitted to these frames (optimistic)",
}


def subsets(judged: Judged) -> dict[str, NDArray[np.bool_]]:
    """Return the frames of everything and of each part of the split."""
    every = {"all": np.ones(len(judged), np.bool_)}
    return every | {name: judged.part == code for code, name in enumerate(judged.parts)}


def points_table(judged: Judged, points: tuple[OperatingPoint, ...]) -> Table:
    """Return specificity and sensitivity of every point, on everything and on each part."""
    rows = []
    for point in points:
        flagged = flagged_at(judged.score, point.threshold)
        word = _WORDS.get(point.key, point.key)
        rows += [
            (word, point.threshold, name, *_rates(judged.take(mask), flagged[mask]))
            for name, mask in subsets(judged).items()
        ]
    return Table(
        key="operating-points",
        title="Operating points",
        columns=(
            Column("point", "Operating point"),
            Column("threshold", "Threshold", "number", 3),
            Column("frames", "On"),
            *_rate_columns(judged.unit),
        ),
        rows=tuple(rows),
        caption="A frame is flagged where its score is at least the threshold. "
        + " ".join(f"{_WORDS.get(p.key, p.key).capitalize()}: {p.how}" for p in points),
    )


def cross_fitted_table(judged: Judged, fitted: CrossFitted) -> Table:
    """Return the rates of every fold, each with the threshold that the others chose for it."""
    rows = [
        (judged.parts[code], threshold, *_rates(judged.take(mask), fitted.flagged[mask]))
        for code, threshold in fitted.thresholds.items()
        for mask in (judged.part == code,)
    ]
    inside = judged.part >= 0
    return Table(
        key="cross-fitted",
        title="Fold by fold, with the threshold that the other folds chose",
        columns=(
            Column("fold", "Fold"),
            Column("threshold", "Threshold", "number", 3),
            *_rate_columns(judged.unit),
        ),
        rows=tuple(rows),
        caption="No frame had a say in the threshold that it is judged with: these are the honest "
        "figures at the target specificity.",
        total=("All folds", None, *_rates(judged.take(inside), fitted.flagged[inside])),
    )


def _rate_columns(unit: str) -> tuple[Column, ...]:
    return (
        Column("normal", "Normal frames", "count"),
        Column("specificity", "Specificity", "share"),
        Column("polyp_frames", "Polyp frames", "count"),
        Column("sensitivity", "Sensitivity per frame", "share"),
        Column("polyps", f"{unit.capitalize()}s", "count"),
        Column("polyp_sensitivity", f"Sensitivity per {unit}", "share", 2),
    )


def _rates(judged: Judged, flagged: NDArray[np.bool_]) -> tuple[int | float | None, ...]:
    normal, polyp = normal_frames(judged), polyp_frames(judged)
    named = polyp & (judged.polyp >= 0)
    polyps = np.unique(judged.polyp[named])
    found = np.isin(polyps, judged.polyp[named & flagged])
    return (
        *_share(normal, ~flagged),
        *_share(polyp, flagged),
        *_share(np.ones(len(found), np.bool_), found),
    )


def _share(among: NDArray[np.bool_], hit: NDArray[np.bool_]) -> tuple[int, float | None]:
    total = int(np.count_nonzero(among))
    return total, int(np.count_nonzero(among & hit)) / total if total else None
