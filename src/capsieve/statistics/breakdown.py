"""Figures by rule, finding and source, distributions, and baselines without a detector."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from capsieve.frame_table import NORMAL, OTHER, POLYP, Coded, Floats, Integers, LabelledFrames, Mask
from capsieve.plurals import number_of
from capsieve.statistics.delong import delong_auc
from capsieve.statistics.frames import split_findings
from capsieve.statistics.intervals import proportion, share_cells
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.results import Column, Histogram, Metric, Table, make_metric
from capsieve.statistics.roc import frame_roc, polyp_roc

_STOPPED = ("texture-low", "texture-high")
_RULES = (*_STOPPED, "no-feature", "radius-low")
_ORDER = {name: place for place, name in enumerate((*_RULES, "score-low", "polyp"))}
_OTHER_RULE = len(_ORDER)
_ORDER["not scored"] = _OTHER_RULE + 1
_CLASSES = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}
_MOST_BINS = 120
_SCORE_BINS = 50
_STOPPED_WORDS = (
    "have R_max = 0 and are in no bar: pre-selection or the geometric criteria stopped them"
)
_UNNAMED = "(nothing named)"
_UNKNOWN = "(unknown)"


def reasons_table(frames: LabelledFrames) -> Table | None:
    """Return how many frames of each class each rule of the detector decided, as screened.

    None if the reasons are not known, or only a score decided.
    """
    reason = _reasons(frames)
    if reason is None or _score_alone(reason):
        return None
    size = len(reason.names) + 1  # the code -1 is a frame that was not scored
    counts = np.stack(
        [
            np.bincount(reason.code[frames.truth == truth] % size, minlength=size)
            for truth in _CLASSES.values()
        ],
        axis=1,
    )
    totals = counts.sum(axis=0).tolist()

    def row(name: str, values: list[int]) -> tuple[Any, ...]:
        shares = (n / total if total else None for n, total in zip(values, totals, strict=True))
        cells = zip(values, shares, strict=True)
        return name, *(cell for pair in cells for cell in pair)

    rows = zip((*reason.names, "not scored"), counts.tolist(), strict=True)
    rows = sorted(rows, key=lambda item: (_ORDER.get(item[0], _OTHER_RULE), item[0]))
    columns = [Column("reason", "Rule")]
    for word in _CLASSES:
        columns += [
            Column(f"{word}_frames", f"{word.capitalize()} frames", "count"),
            Column(f"{word}_share", "Share", "share"),
        ]
    return Table(
        "reasons",
        "Deciding rule of each frame, as screened",
        tuple(columns),
        tuple(row(*each) for each in rows if any(each[1])),
        "Frames of each class by the rule that decided when the exams were screened. texture-low "
        "and texture-high are pre-selection; polyp are the flagged frames.",
        row("Total", totals),
    )


def preselection_metrics(frames: LabelledFrames, options: EvaluationOptions) -> tuple[Metric, ...]:
    """Return the share of each class that passes pre-selection; () for other detectors."""
    reason = _reasons(frames)
    if reason is None:
        return ()
    names = np.array([*(name in _STOPPED for name in reason.names), False])
    known, stopped = reason.code >= 0, names[reason.code]
    texture = frames.texture_max
    has_texture = texture is not None and bool(np.isfinite(texture).any())
    if not stopped.any() and (_score_alone(reason) or not has_texture):
        return ()
    metrics = []
    common: dict[str, Any] = {"frames": frames, "options": options}
    for word, truth in _CLASSES.items():
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
    found = []
    texture, radius = frames.texture_max, frames.radius_max
    if texture is not None and (defined := np.isfinite(texture)).any():
        label = "Largest texture energy, T_max"
        bounds = _bounds(parameters, {"T_L": "texture_low", "T_U": "texture_high"})
        edges, left_out = _texture_edges(texture[defined], bounds), {"without T_max": ~defined}
        quantity = "texture_max", label, edges, bounds
        found.append(_histogram(frames, texture, *quantity, left_out))
    if radius is not None and np.isfinite(radius).any():
        label = "Largest ball radius, R_max (working pixels)"
        bounds = _bounds(parameters, {"R_P": "radius_threshold"})
        quantity = "radius_max", label, _radius_edges(radius[radius > 0], parameters), bounds
        left_out = {_STOPPED_WORDS: radius == 0, "not scored": ~np.isfinite(radius)}
        found.append(_histogram(frames, radius, *quantity, left_out))
    if found:
        return tuple(found)
    scored = np.isfinite(frames.score)
    if not scored.any():
        return ()
    low, high = float(frames.score[scored].min()), float(frames.score[scored].max())
    if low >= 0 and high <= 1:  # probabilities
        low, high = 0.0, 1.0
    edges = np.linspace(low, high if high > low else low + 1, _SCORE_BINS + 1)
    left_out = {"without a score": ~scored}
    return (_histogram(frames, frames.score, "score", "Score", edges, {}, left_out),)


def causes_table(frames: LabelledFrames, flagged: Mask) -> Table:
    """Return how often each finding is flagged among scored frames without a polyp."""
    chosen = frames.normal_frames | frames.other_frames
    other, hit = frames.truth[chosen] == OTHER, flagged[chosen]
    # Frames are counted by the whole text of their findings first: there are few such texts.
    code = frames.finding.code[chosen].astype(np.int64) + 1
    texts = [(), *map(split_findings, frames.finding.names)]
    masks = (other, np.ones(len(code), np.bool_), hit)
    counted = [np.bincount(code[mask], minlength=len(texts)) for mask in masks]
    by_text = np.stack(counted, axis=1)
    counts: dict[str, Integers] = {}
    for words, line in zip(texts, by_text, strict=True):
        for word in {word for word in words if word.lower() != "normal"} or (_UNNAMED,):
            counts[word] = counts.get(word, 0) + line
    plain = counts.pop(_UNNAMED)
    rows: list[tuple[Any, ...]] = [
        (word, *_flag_cells(line)) for word, line in counts.items() if line[1]
    ]
    rows.sort(key=lambda row: (-row[3], -row[2], row[0]))
    if plain[1]:
        rows.append((_UNNAMED, *_flag_cells(plain)))
    unscored = np.count_nonzero(np.isin(frames.truth, (NORMAL, OTHER)) & ~frames.scored)
    caption = (
        "Scored frames without a polyp by finding. A frame with several findings counts under each "
        "of them. Wilson's interval treats frames as independent and is too narrow."
    )
    if unscored:
        caption += f" {number_of(int(unscored), 'frame')} not scored: left out."
    return Table(
        "causes",
        "False positives by finding",
        (
            Column("finding", "Finding"),
            Column("other_frames", "Labelled other", "count"),
            Column("frames", "Frames", "count"),
            Column("flagged", "Flagged", "count"),
            Column("share", "Share flagged", "share"),
            Column("low", "from", "share"),
            Column("high", "to", "share"),
        ),
        tuple(rows),
        caption,
        ("All frames without a polyp", *_flag_cells(by_text.sum(axis=0))),
    )


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
    """Return a warning that figures over several sources mix them; () for a single source."""
    names = list(_sources(frames))
    if not names:
        return ()
    return (
        f"The frames are of {len(names)} sources ({', '.join(names[:5])}"
        f"{', ...' if len(names) > 5 else ''}). Figures over all of them mix differences between "
        "the sources with those between polyps and normal frames; use the figures by source.",
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


def _reasons(frames: LabelledFrames) -> Coded | None:
    """Return the reasons; None if no frame has one."""
    return frames.reason if (frames.reason.code >= 0).any() else None


def _score_alone(reason: Coded) -> bool:
    return "score-low" in reason.names and not any(name in reason.names for name in _RULES)


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


def _flag_cells(line: Integers) -> tuple[Any, ...]:
    other, total, hits = line.tolist()
    return other, *share_cells(hits, total)
