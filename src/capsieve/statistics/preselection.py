"""What pre-selection lets pass, which rule decided how often, and how T_max and R_max spread."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.bootstrap import ROUNDS, SEED, ratio_interval
from capsieve.statistics.evaluation import Histogram
from capsieve.statistics.flags import number_of
from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, share_metric
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, Judged
from capsieve.statistics.metric import Metric
from capsieve.statistics.table import Column, Table

__all__ = ["histograms", "preselection_metrics", "reasons_table"]

_STOPPED = ("texture-low", "texture-high")
_RULES = (*_STOPPED, "no-feature", "radius-low")
_ORDER = (*_RULES, "score-low", "polyp")
_CLASSES = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}
_MOST_BINS = 120
_SCORE_BINS = 50


def reasons_table(judged: Judged) -> Table | None:
    """Return how many frames of each class each rule decided, in the order of the algorithm.

    Shares are of all frames of the class, with those for which no rule is known in a row apart.
    There is no table where none of the paper's rules decided a frame: a score that is too low
    says nothing that the operating points do not say.
    """
    if "score-low" in judged.reasons and not any(name in _RULES for name in judged.reasons):
        return None
    names = sorted(judged.reasons, key=lambda name: (_place(name), name))
    counts = {
        word: np.bincount(
            judged.reason[judged.truth == truth].astype(np.int64) + 1,
            minlength=len(judged.reasons) + 1,
        )
        for word, truth in _CLASSES.items()
    }
    codes = [(name, judged.reasons.index(name) + 1) for name in names]
    if any(count[0] for count in counts.values()):
        codes.append(("not scored", 0))
    rows = []
    for name, code in codes:
        cells: list[Any] = [name]
        for count in counts.values():
            total = int(count.sum())
            cells += [int(count[code]), int(count[code]) / total if total else None]
        if any(cells[1::2]):
            rows.append(tuple(cells))
    totals: list[Any] = ["Total"]
    for count in counts.values():
        totals += [int(count.sum()), 1.0 if count.sum() else None]
    columns = [Column("reason", "Rule that decided")]
    for word in _CLASSES:
        columns += [
            Column(f"{word}_frames", f"{word.capitalize()} frames", "count"),
            Column(f"{word}_share", "Share", "share"),
        ]
    return Table(
        key="reasons",
        title="The rule that decided each frame, as screened",
        columns=tuple(columns),
        rows=tuple(rows),
        caption="How many frames of each class each rule decided when the exams were screened; "
        "texture-low and texture-high are pre-selection, polyp are the flagged frames.",
        total=tuple(totals),
    )


def preselection_metrics(
    judged: Judged, *, rounds: int = ROUNDS, seed: int = SEED
) -> tuple[Metric, ...]:
    """Return the share of each class that passes pre-selection.

    A frame passes if its reason is known and is neither texture-low nor texture-high. For a
    detector without pre-selection (no texture is known, or a score alone decides) there are no
    such metrics.
    """
    stopped = np.array([name in _STOPPED for name in judged.reasons], dtype=np.bool_)
    known = judged.reason >= 0
    passes = known.copy()
    passes[known] = ~stopped[judged.reason[known]]
    if not (known & ~passes).any() and (
        "score-low" in judged.reasons or not np.isfinite(judged.texture_max).any()
    ):
        return ()
    groups, code = np.unique(judged.group, return_inverse=True)
    metrics = []
    for word, truth in _CLASSES.items():
        frames = (judged.truth == truth) & known
        unknown = int(np.count_nonzero((judged.truth == truth) & ~known))
        every = np.bincount(code[frames], minlength=len(groups))
        passed = np.bincount(code[frames & passes], minlength=len(groups))
        what = "frames with another finding" if truth == OTHER else f"{word} frames"
        metrics.append(
            share_metric(
                f"preselection.{word}.passed",
                f"{what.capitalize()} that pass pre-selection",
                f"The share of {what} whose T_max lies between T_L and T_U.",
                numerator=int(passed.sum()),
                denominator=int(every.sum()),
                resampled=[
                    ratio_interval(passed, every, kind=judged.group_kind, rounds=rounds, seed=seed)
                ],
                independent=FRAMES_NOT_INDEPENDENT,
                note=f"{number_of(unknown, 'frame')} not scored: left out." if unknown else "",
                empty=f"there are no {what} that were scored",
            )
        )
    return tuple(metrics)


def histograms(judged: Judged, parameters: Mapping[str, Any]) -> tuple[Histogram, ...]:
    """Return how T_max and R_max spread in both classes, or the score where it alone decides.

    Parameters
    ----------
    judged
        The frames.
    parameters
        Of the detector: texture_low, texture_high, radius_threshold, width, where it has them.
    """
    if "score-low" in judged.reasons and not any(name in _RULES for name in judged.reasons):
        return (_score_histogram(judged),)
    found = []
    texture = _bounds(parameters, {"T_L": "texture_low", "T_U": "texture_high"})
    if np.isfinite(judged.texture_max).any():
        unknown = ~np.isfinite(judged.texture_max)
        found.append(
            _histogram(
                judged,
                judged.texture_max,
                ~unknown,
                key="texture_max",
                label="Largest texture energy, T_max",
                edges=_texture_edges(judged.texture_max[~unknown], texture),
                bounds=texture,
                why="without a T_max",
            )
        )
    if np.isfinite(judged.radius_max).any():
        measured = judged.radius_max > 0
        found.append(
            _histogram(
                judged,
                judged.radius_max,
                measured,
                key="radius_max",
                label="Largest ball radius, R_max (working pixels)",
                edges=_radius_edges(judged.radius_max[measured], parameters),
                bounds=_bounds(parameters, {"R_P": "radius_threshold"}),
                why="without an R_max: rejected before a ball was fitted, or not scored",
            )
        )
    return tuple(found)


def _score_histogram(judged: Judged) -> Histogram:
    scored = np.isfinite(judged.score)
    values = judged.score[scored]
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if low >= 0 and high <= 1:  # the scale of probabilities, whatever part of it is used
        low, high = 0.0, 1.0
    return _histogram(
        judged,
        judged.score,
        scored,
        key="score",
        label="Score",
        edges=np.linspace(low, high, _SCORE_BINS + 1),
        bounds={"threshold": float("nan")},  # that of the operating point takes its place
        why="not scored",
    )


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _bounds(parameters: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, float]:
    return {
        symbol: float(parameters[field])
        for symbol, field in fields.items()
        if parameters.get(field) is not None
    }


def _texture_edges(values: NDArray[np.float64], bounds: Mapping[str, float]) -> NDArray[np.float64]:
    """Return edges from 0 that meet T_L and T_U where those are whole multiples of a bin."""
    high = float(np.quantile(values, 0.995))
    step = 0.25
    if bounds:
        high = max(high, 1.25 * max(bounds.values()))
    while high / step > _MOST_BINS:
        step *= 2
    return step * np.arange(int(np.ceil(high / step)) + 2, dtype=np.float64)


def _radius_edges(
    values: NDArray[np.float64], parameters: Mapping[str, Any]
) -> NDArray[np.float64]:
    """Return edges at whole radii from 1: a bin then holds the frames of one R_max."""
    width = parameters.get("width")
    largest = float(values.max()) if len(values) else 1.0
    if width is not None:
        largest = max(largest, float(int(width) // 3))
    step = max(1, int(np.ceil(largest / _MOST_BINS)))
    return 1.0 + step * np.arange(int(np.ceil(largest / step)) + 1, dtype=np.float64)


def _histogram(
    judged: Judged,
    values: NDArray[np.float64],
    defined: NDArray[np.bool_],
    *,
    key: str,
    label: str,
    edges: NDArray[np.float64],
    bounds: Mapping[str, float],
    why: str,
) -> Histogram:
    def bins(truth: int) -> NDArray[np.int64]:
        # The last bin also holds what lies beyond it; nothing lies before the first.
        chosen = np.clip(values[defined & (judged.truth == truth)], edges[0], edges[-1])
        return np.histogram(chosen, edges)[0].astype(np.int64)

    missing = [
        number_of(int(np.count_nonzero(~defined & (judged.truth == truth))), f"{word} frame")
        for word, truth in (("polyp", POLYP), ("normal", NORMAL))
        if (~defined & (judged.truth == truth)).any()
    ]
    left_out = f"{' and '.join(missing)} {why}" if missing else ""
    return Histogram(key, label, edges, bins(POLYP), bins(NORMAL), dict(bounds), left_out)
