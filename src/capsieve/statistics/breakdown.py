"""Metrics by rule, finding and source, distributions, and baselines without a detector."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from capsieve.frame_table import NORMAL, OTHER, POLYP, Coded, Floats, LabelledFrames, Mask
from capsieve.plurals import number_of
from capsieve.statistics.delong import delong_auc
from capsieve.statistics.intervals import proportion
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.results import Histogram, Metric, make_metric
from capsieve.statistics.roc import frame_roc, polyp_roc

CLASSES = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}
"""The classes of frames by their words."""

_STOPPED = ("texture-low", "texture-high")
RULES = (*_STOPPED, "no-feature", "radius-low")
"""Rules of the paper's detector, in the order in which they reject a frame."""

_MOST_BINS = 120
_SCORE_BINS = 50
_STOPPED_WORDS = (
    "have R_max = 0 and are in no bar: pre-selection or the geometric criteria stopped them"
)
_UNKNOWN = "(unknown)"


def preselection_metrics(frames: LabelledFrames, options: EvaluationOptions) -> tuple[Metric, ...]:
    """Return the share of each class that passes pre-selection; () for other detectors."""
    reason = known_reasons(frames)
    if reason is None:
        return ()
    names = np.array([*(name in _STOPPED for name in reason.names), False])
    known, stopped = reason.code >= 0, names[reason.code]
    texture = frames.texture_max
    has_texture = texture is not None and bool(np.isfinite(texture).any())
    if not stopped.any() and (score_decides(reason) or not has_texture):
        return ()
    metrics = []
    common: dict[str, Any] = {"frames": frames, "options": options}
    for word, truth in CLASSES.items():
        among = frames.truth == truth
        unknown = int(np.count_nonzero(among & ~known))
        note = f"{number_of(unknown, 'frame')} not scored: left out." if unknown else ""
        key = f"preselection.{word}"
        metrics.append(proportion(key, hit=~stopped, among=among & known, note=note, **common))
    return tuple(metrics)


def histograms(frames: LabelledFrames, parameters: Mapping[str, Any]) -> tuple[Histogram, ...]:
    """Return the distributions of T_max and R_max in both classes, or else that of the score.

    `parameters` are those of the detector: texture_low, texture_high, radius_threshold and width,
    if it has them.
    """
    made = []
    texture, radius = frames.texture_max, frames.radius_max
    if texture is not None and (defined := np.isfinite(texture)).any():
        label = "Largest texture energy, T_max"
        bounds = _bounds(parameters, {"T_L": "texture_low", "T_U": "texture_high"})
        edges, left_out = _texture_edges(texture[defined], bounds), {"without T_max": ~defined}
        quantity = "texture_max", label, edges, bounds
        made.append(_histogram(frames, texture, *quantity, left_out))
    if radius is not None and np.isfinite(radius).any():
        label = "Largest ball radius, R_max (working pixels)"
        bounds = _bounds(parameters, {"R_P": "radius_threshold"})
        quantity = "radius_max", label, _radius_edges(radius[radius > 0], parameters), bounds
        left_out = {_STOPPED_WORDS: radius == 0, "not scored": ~np.isfinite(radius)}
        made.append(_histogram(frames, radius, *quantity, left_out))
    if made:
        return tuple(made)
    scored = np.isfinite(frames.score)
    if not scored.any():
        return ()
    low, high = float(frames.score[scored].min()), float(frames.score[scored].max())
    if low >= 0 and high <= 1:  # probabilities
        low, high = 0.0, 1.0
    edges = np.linspace(low, high if high > low else low + 1, _SCORE_BINS + 1)
    left_out = {"without a score": ~scored}
    return (_histogram(frames, frames.score, "score", "Score", edges, {}, left_out),)


def source_metrics(
    frames: LabelledFrames, flagged: Mask, options: EvaluationOptions
) -> tuple[Metric, ...]:
    """Return rates, areas and baselines of each source (device or data set).

    Their subsets are "source: NAME"; () if there are fewer than two sources.
    """
    metrics: list[Metric] = []
    for name, mask in _sources(frames).items():
        part, subset = frames.take(mask), f"source: {name}"
        metrics += rate_metrics(part, flagged[mask], options, subset=subset)
        metrics += frame_roc(part, options, subset=subset).metrics
        metrics += polyp_roc(part, options, subset=subset).metrics
        metrics += baseline_metrics(part, options, subset=subset)
    return tuple(metrics)


def source_warnings(frames: LabelledFrames) -> tuple[str, ...]:
    """Return a warning that metrics over several sources mix them; () for a single source."""
    names = list(_sources(frames))
    if not names:
        return ()
    return (
        f"The frames are of {len(names)} sources ({', '.join(names[:5])}"
        f"{', ...' if len(names) > 5 else ''}). Metrics over all of them mix differences between "
        "the sources with those between polyps and normal frames; use the metrics by source.",
    )


def baseline_metrics(
    frames: LabelledFrames, options: EvaluationOptions, *, subset: str = "all"
) -> tuple[Metric, ...]:
    """Return the AUC of mean redness, brightness and sharpness on the frames of the ROC curve.

    A detector that is not clearly better uses no more than that. () if the columns are not known.
    """
    red, green, blue, sharpness = frames.red, frames.green, frames.blue, frames.sharpness
    scores: dict[str, Floats] = {}
    if red is not None and green is not None and blue is not None:
        total = np.sum(np.asarray([red, green, blue], np.float64), axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores["redness"] = red.astype(np.float64) / total
        scores["brightness"] = total / 3
    if sharpness is not None:
        scores["sharpness"] = sharpness.astype(np.float64)
    metrics = []
    for name, score in scores.items():
        # Only frames that the detector scored; black frames have no redness.
        same = replace(frames, score=np.where(frames.scored & np.isfinite(score), score, np.nan))
        polyp = same.polyp_frames
        both = polyp | same.normal_frames
        estimate = delong_auc(
            np.where(np.isnan(same.score), -np.inf, same.score)[both],
            polyp[both],
            frames.group.code[both],
            kind=frames.group_kind,
        )
        value, intervals, note = estimate.value, (estimate.interval(least=0.0),), ""
        if np.isnan(value):
            value, intervals, note = None, (), "No value: a class is empty."
        elif value < 0.5:
            note = f"With the opposite sign: {1 - value:.3f}."
        fields: dict[str, Any] = {"intervals": intervals, "note": note, "subset": subset}
        metrics.append(make_metric(f"baseline.{name}.auc", value, frames, options, **fields))
    return tuple(metrics)


def _sources(frames: LabelledFrames) -> dict[str, Mask]:
    """Return the labelled frames of each source if there are several."""
    codes = np.unique(frames.source.code[frames.labelled])
    if len(codes) < 2:
        return {}
    return {
        frames.source.names[code] if code >= 0 else _UNKNOWN: frames.source.code == code
        for code in sorted(codes, key=lambda code: (code < 0, code))
    }


def known_reasons(frames: LabelledFrames) -> Coded | None:
    """Return the reasons; None if no frame has one."""
    return frames.reason if (frames.reason.code >= 0).any() else None


def score_decides(reason: Coded) -> bool:
    """Return whether the score alone decided, without rules before it."""
    return "score-low" in reason.names and not any(name in reason.names for name in RULES)


def _bounds(parameters: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, float]:
    return {
        symbol: float(parameters[name])
        for symbol, name in names.items()
        if parameters.get(name) is not None
    }


def _texture_edges(values: Floats, bounds: Mapping[str, float]) -> Floats:
    """Return edges from 0 that meet T_L and T_U if those are whole multiples of a bin."""
    high = max(float(np.quantile(values, 0.995)), *(1.25 * bound for bound in bounds.values()), 0.0)
    step = 0.25
    while high / step > _MOST_BINS:
        step *= 2
    return step * np.arange(int(np.ceil(high / step)) + 2, dtype=np.float64)


def _radius_edges(values: Floats, parameters: Mapping[str, Any]) -> Floats:
    """Return edges at whole radii from 1: a bin then has the frames of one R_max."""
    width = parameters.get("width")
    largest = float(values.max(initial=1.0))
    if width is not None:
        largest = max(largest, float(int(width) // 3))
    step = max(1, int(np.ceil(largest / _MOST_BINS)))
    return 1.0 + step * np.arange(int(np.ceil(largest / step)) + 1, dtype=np.float64)


def _histogram(
    frames: LabelledFrames,
    values: Floats,
    key: str,
    label: str,
    edges: Floats,
    bounds: Mapping[str, float],
    left_out: Mapping[str, Mask],
) -> Histogram:
    """Count the frames of each bin, without those of the masks `left_out`, which are named."""
    binned = ~np.any(list(left_out.values()), axis=0)
    classes = {
        word: frames.truth == truth for word, truth in (("normal", NORMAL), ("polyp", POLYP))
    }
    # The last bin also has what is beyond it; nothing is before the first.
    bins = {
        word: np.histogram(np.clip(values[binned & mask], edges[0], edges[-1]), edges)[0]
        for word, mask in classes.items()
    }
    notes = []
    for why, mask in left_out.items():
        counts = {word: int(np.count_nonzero(mask & of)) for word, of in classes.items()}
        shares = [
            f"{count:,} of {number_of(int(classes[word].sum()), f'{word} frame')}"
            for word, count in counts.items()
            if count
        ]
        if shares:
            notes.append(f"{' and '.join(shares)} {why}.")
    return Histogram(
        key,
        label,
        edges,
        bins["polyp"].astype(np.int64),
        bins["normal"].astype(np.int64),
        int(classes["polyp"].sum()),
        int(classes["normal"].sum()),
        dict(bounds),
        " ".join(notes),
    )
