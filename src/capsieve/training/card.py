"""Threshold, metrics and card of a trained model: all follow from the out-of-fold scores."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.errors import FileError, ParameterError
from capsieve.frame_table import NORMAL, OTHER, POLYP, LabelledFrames
from capsieve.learned.card import NOT_A_DEVICE, DataSet, Hashes, ModelCard, ModelMetric, frames_hash
from capsieve.learned.features import NAMES
from capsieve.plurals import plural
from capsieve.screening.range_check import MEASURED, measures
from capsieve.statistics.frames import BLOCKS_ARE_NOT_EXAMS
from capsieve.statistics.intervals import draws
from capsieve.statistics.operating_point import cross_fit, smallest_threshold
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.results import Metric
from capsieve.statistics.roc import frame_roc, polyp_roc
from capsieve.strict_model import Strict
from capsieve.training.data import FrameSet
from capsieve.training.windows import Windows
from capsieve.user_files import read_text

_PREVALENCE = 0.5  # calibration gives polyp frames and others the same weight
_NOT_STATED = "not stated"
_INTENDED_USE = (
    "Research: to select frames of capsule endoscopy that may show a polyp for a person to look at."
)
_COVERED = (0.08, 0.2)  # shares of a window that separate small, medium and large polyps
_SIDES = ("left", "right")
_SPECIFICITIES = (0.95,)  # for which metrics are given besides the target
_DESCRIBED = (
    "bump.texture",
    "colour.a-range",
    "colour.green-share",
    "sharpness.contrast",
    "spots.highlight-share",
    "spots.dark-share",
)
"""Features by which the evidence of a frame is described."""


class DataTexts(Strict, frozen=True):
    """Name, licence and citation of the data of a source; "" for all sources without an entry."""

    source: str = ""
    name: str = ""
    licence: str = _NOT_STATED
    citation: str = _NOT_STATED


class CardTexts(Strict, frozen=True):
    """What only a person can say about a model.

    Attributes
    ----------
    name
        Name of the model; by default that of its file.
    data
        Texts about the training data, by source.
    intended_use, limits
        Sentences; the limits are added to those of every model.
    terms
        Under which terms the weights may be used.
    """

    name: str = ""
    data: tuple[DataTexts, ...] = ()
    intended_use: str = _INTENDED_USE
    limits: tuple[str, ...] = ()
    terms: str = ""

    def of(self, source: str) -> DataTexts:
        """Return the texts about a source."""
        by_source = {texts.source: texts for texts in reversed(self.data)}
        return by_source.get(source) or by_source.get("") or DataTexts()

    def check(self, sources: Collection[str]) -> None:
        """Raise a ParameterError if a text is about a source without frames: a wrong name."""
        for texts in self.data:
            if texts.source and texts.source not in sources:
                raise ParameterError(
                    "card",
                    f"has a text about the source {texts.source!r}, but the sources of the labels "
                    f"are {', '.join(map(repr, sources))}",
                )


def read_card_texts(path: Path) -> CardTexts:
    """Read the texts from a TOML file.

    Raises
    ------
    FileError
        The file is missing, not TOML, or has unknown entries.
    """
    text = read_text(path)
    try:
        return CardTexts.from_toml(text)
    except ParameterError as error:
        raise FileError(f"{path}: {error}") from error


def model_threshold(
    frames: FrameSet, probability: NDArray[np.float64], specificity: float
) -> float:
    """Return the smallest probability that reaches the specificity on trained sources."""
    return _threshold(_scored(frames, probability).take(frames.trained), specificity)


def out_of_fold_metrics(
    frames: FrameSet,
    probability: NDArray[np.float64],
    *,
    specificity: float,
    bootstrap_samples: int,
    seed: int,
) -> tuple[ModelMetric, ...]:
    """Return what the out-of-fold probabilities say about the model, source by source.

    Polyp frames are compared with frames of the same source only. Each fold is flagged with the
    threshold that the other folds choose. Frames without a probability are missed polyps or
    unflagged frames.

    Parameters
    ----------
    frames, probability
        All frames, and their probabilities.
    specificity
        That thresholds are chosen for; figures for 95 % are added.
    bootstrap_samples, seed
        Of the intervals.
    """
    options = EvaluationOptions(
        specificity=100 * specificity, bootstrap_samples=bootstrap_samples, seed=seed
    )
    scored, trained = _scored(frames, probability), frames.trained
    learned = np.unique(frames.source[trained])

    def choose(others: LabelledFrames, target: float) -> float:
        return _threshold(others.take(np.isin(others.source.code, learned)), target)

    flags = {
        target: cross_fit(scored, partial(choose, target=target)).flagged
        for target in dict.fromkeys((specificity, *_SPECIFICITIES))
    }
    metrics: list[ModelMetric] = []
    names = scored.source.names
    order = sorted(
        np.unique(frames.source).tolist(), key=lambda code: (code not in learned, names[code])
    )
    for code in order:
        here = frames.source == code
        of_source = scored.take(here)
        if code in learned:
            for roc in (frame_roc(of_source, options), polyp_roc(of_source, options)):
                count = 0 if roc.curve is None else roc.curve.positives
                metrics += _named(roc.metrics, names[code], _AREAS, "", count=count)
        keys = _TRAINED_KEYS if code in learned else _OTHER_KEYS
        for target, flagged in flags.items():
            rates = rate_metrics(of_source, flagged[here], options)
            metrics += _named(rates, names[code], keys, f", for {100 * target:g} %")
    return tuple(metrics)


def window_metrics(
    windows: Windows,
    logits: NDArray[np.float64],
    fold: NDArray[np.int64],
    *,
    specificity: float,
    bootstrap_samples: int,
    seed: int,
) -> tuple[ModelMetric, ...]:
    """Return what the out-of-fold logits of windows say about the model.

    Windows are compared with those of their fold, and found by the threshold that has the
    specificity on them. Frames are resampled for the intervals.

    Parameters
    ----------
    windows, logits, fold
        All windows, their logits and their folds.
    specificity
        That sensitivities are given for.
    bootstrap_samples, seed
        Of the intervals.
    """
    shown = windows.polyp
    kinds = {f"{name}, for {100 * specificity:g} %": kind for name, kind in _sizes(windows).items()}
    drawn = draws(len(windows.files), samples=bootstrap_samples, seed=seed)
    values = []
    for weight in (np.ones(len(windows)), *(each[windows.frame] for each in drawn)):
        rank = _ranks(logits, shown, fold, weight)
        found = (rank >= specificity) * weight
        totals = [weight[kind].sum() or np.nan for kind in kinds.values()]
        sensitivity = [
            found[kind].sum() / total for kind, total in zip(kinds.values(), totals, strict=True)
        ]
        values.append([np.average(rank[shown], weights=weight[shown]), *sensitivity])
    names = {"AUC per window": shown} | kinds
    return tuple(
        ModelMetric(
            source=windows.name,
            what=name,
            value=of_all,
            low=low,
            high=high,
            count=int(kind.sum()),
        )
        for (name, kind), of_all, (low, high) in zip(
            names.items(),
            values[0],
            np.nanquantile(values[1:], (0.025, 0.975), axis=0).T.tolist(),
            strict=True,
        )
    )


def _sizes(windows: Windows) -> dict[str, NDArray[np.bool_]]:
    """Return the windows with a polyp by the share that it covers, sizes that occur."""
    edges = (0.0, *_COVERED, 1.0)
    sizes = {
        f"Sensitivity per window, polyp covers {100 * low:g} to {100 * high:g} %": windows.polyp
        & (windows.covered > low)
        & (windows.covered <= high)
        for low, high in pairwise(edges)
    }
    return {name: kind for name, kind in sizes.items() if kind.any()}


def _ranks(
    logits: NDArray[np.float64],
    shown: NDArray[np.bool_],
    fold: NDArray[np.int64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the share of the windows without a polyp of the same fold with lower logits.

    Equal logits count half.
    """
    rank = np.zeros(len(logits))
    for code in np.unique(fold):
        here = fold == code
        others = np.flatnonzero(here & ~shown)
        others = others[np.argsort(logits[others])]
        total = np.concatenate([[0.0], np.cumsum(weight[others])])
        below, up_to = (np.searchsorted(logits[others], logits[here], side) for side in _SIDES)
        rank[here] = (total[below] + total[up_to]) / (2 * max(total[-1], 1e-9))
    return rank


_AREAS = ("frames.auc", "polyps.auc")
_TRAINED_KEYS = (
    "frames.specificity",
    "frames.sensitivity",
    "polyps.sensitivity",
    "polyps.sensitivity_long",
)
_OTHER_KEYS = ("frames.specificity", "frames.false_positives_per_exam")


def _named(
    metrics: Collection[Metric],
    source: str,
    keys: Collection[str],
    suffix: str,
    *,
    count: int | None = None,
) -> list[ModelMetric]:
    by_key = {metric.key: metric for metric in metrics}
    return [
        ModelMetric(
            source=source,
            what=metric.name + suffix,
            value=metric.value,
            low=None if metric.interval is None else metric.interval.low,
            high=None if metric.interval is None else metric.interval.high,
            count=metric.denominator if count is None else count,
        )
        for metric in (by_key[key] for key in keys if key in by_key)
    ]


def _scored(frames: FrameSet, probability: NDArray[np.float64]) -> LabelledFrames:
    return replace(frames.labelled, score=probability)


def _threshold(frames: LabelledFrames, specificity: float) -> float:
    threshold = smallest_threshold(
        frames.score[frames.normal_frames],
        specificity=specificity,
        candidates=frames.score[frames.scored],
    )
    return min(threshold, 1.0)


def make_card(
    frames: FrameSet,
    values: NDArray[np.float32],
    metrics: tuple[ModelMetric, ...],
    texts: CardTexts,
    *,
    name: str,
    kind: str,
    seed: int,
    settings: Mapping[str, str | float | int | bool],
    windows: Windows | None = None,
) -> ModelCard:
    """Return the card.

    Parameters
    ----------
    frames, values
        All frames, and their features.
    metrics
        From :func:`out_of_fold_metrics`.
    texts
        What the user says.
    name, kind, seed, settings
        Of the model and its training.
    windows
        Windows that the model learned from.
    """
    trained = frames.take(frames.trained)
    sources = [frames.labelled.source.names[code] for code in np.unique(trained.source)]
    groups = plural(frames.labelled.group_kind)
    limits = [
        NOT_A_DEVICE,
        "Evaluate it on your own device before you rely on it: capsieve evaluate.",
        "Its probability holds if polyp frames and others are equally frequent; in an exam polyps "
        "are rare, and most flagged frames show none.",
    ]
    if "block" in frames.labelled.group_kind:
        limits.append(BLOCKS_ARE_NOT_EXAMS)
    if frames.labelled.polyp_word == "run":
        limits.append("Figures per polyp are per run of polyp frames, because polyps are unknown.")
    data = [_data_set(trained, source, texts.of(source)) for source in sources]
    hashes = trained.pixel_hash.tolist()
    if windows is not None:
        data.append(_window_data(windows, texts.of(windows.name)))
        hashes += windows.pixel_hash
        limits.append(
            f"Folds of {windows.name} are blocks of file names: a patient may be on both sides. "
            "All its frames show a polyp; windows without one are other parts of the same frames."
        )
    return ModelCard(
        name=texts.name or name,
        kind=kind,
        created=datetime.now(UTC).date().isoformat(),
        capsieve=__version__,
        seed=seed,
        data=tuple(data),
        grouped_by=groups,
        group_count=len(np.unique(trained.labelled.group.code)),
        evaluation=f"out of fold, {len(frames.labelled.part.names)} folds of whole {groups}; "
        "threshold and calibration of each fold from the others",
        metrics=metrics,
        settings=dict(settings),
        intended_use=texts.intended_use,
        limits=(*limits, *texts.limits),
        terms=texts.terms,
        prevalence=_PREVALENCE,
        hashes=Hashes(labels=frames.labels_hash, frames=frames_hash(hashes)),
        reference=f"the training frames: {', '.join(sources)}",
        quantiles=_quantiles(trained),
        usual_values=_usual_values(values[frames.trained & (frames.truth == NORMAL)]),
    )


def _data_set(frames: FrameSet, source: str, texts: DataTexts) -> DataSet:
    of_source = frames.take(frames.source == frames.labelled.source.names.index(source)).labelled
    words = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}
    return DataSet(
        name=texts.name or source,
        licence=texts.licence,
        citation=texts.citation,
        frames=len(of_source),
        groups=len(np.unique(of_source.group.code)),
        polyps=len(np.unique(of_source.polyp.code[of_source.polyp.code >= 0])),
        labels={word: int((of_source.truth == code).sum()) for word, code in words.items()},
    )


def _window_data(windows: Windows, texts: DataTexts) -> DataSet:
    shown = int(windows.polyp.sum())
    return DataSet(
        name=texts.name or windows.name,
        licence=texts.licence,
        citation=texts.citation,
        frames=len(windows.files),
        groups=len(windows.files),
        polyps=len(windows.files),
        labels={"windows with polyp": shown, "windows without": len(windows) - shown},
    )


def _quantiles(frames: FrameSet) -> dict[str, tuple[float, float]]:
    """Return the range of inputs: the 1 and 99 % quantiles over the frames."""
    columns = {name: np.asarray(getattr(frames.labelled, name), np.float64) for name in MEASURED}
    known = {name: column[np.isfinite(column)] for name, column in columns.items()}
    diameters = frames.diameter[np.isfinite(frames.diameter)]
    return {
        name: (float(np.quantile(of, 0.01)), float(np.quantile(of, 0.99)))
        for name, of in measures(known, diameters.tolist()).items()
        if len(of)
    }


def _usual_values(values: NDArray[np.float32]) -> dict[str, tuple[float, float]]:
    """Return the 5 and 95 % quantiles of a few features over frames without a polyp."""
    known = values[np.isfinite(values).all(axis=1)]
    if not len(known):
        return {}
    low, high = np.quantile(known, (0.05, 0.95), axis=0)
    return {
        name: (float(f"{low[column]:.3g}"), float(f"{high[column]:.3g}"))
        for column, name in enumerate(NAMES)
        if name in _DESCRIBED
    }
