"""The card and the description of a trained model."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.engine.training_figures import SourceFigures
from capsieve.engine.training_frames import TrainingFrames
from capsieve.engine.training_table import figure_name, shown_metrics
from capsieve.errors import FileError, ParameterError
from capsieve.learned.card import NOT_A_DEVICE, DataSet, Hashes, ModelCard, ModelMetric
from capsieve.learned.features import VERSION
from capsieve.learned.spec import ImageInput, ModelSpec, Output, Strict, ValuesInput
from capsieve.screening.range_check import MEASURED, measures
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.labels.label_set import LabelSet
from capsieve.statistics.metric import Metric
from capsieve.store.exam import Exam

__all__ = ["CardTexts", "DataTexts", "make_card", "make_spec", "read_card_texts"]

PREVALENCE = 0.5
"""Calibration weighs polyp frames and others alike."""

_NOT_STATED = "not stated"
_INTENDED_USE = (
    "Research: to choose, for a person to look at, frames of capsule endoscopy that may show a "
    "polyp."
)


class DataTexts(Strict, frozen=True):
    """Whose the frames of a source are.

    Attributes
    ----------
    source
        The source's name; "" for all that have no text of their own.
    name, licence, citation
        What the card says.
    """

    source: str = ""
    name: str = ""
    licence: str = _NOT_STATED
    citation: str = _NOT_STATED


class CardTexts(Strict, frozen=True):
    """What only a person can say of a model.

    Attributes
    ----------
    name
        What it is called; the file's name where it is "".
    data
        By source.
    intended_use, limits
        In sentences; limits are added to those that hold for every model.
    """

    name: str = ""
    data: tuple[DataTexts, ...] = ()
    intended_use: str = _INTENDED_USE
    limits: tuple[str, ...] = ()

    def of(self, source: str) -> DataTexts:
        """Return the texts of a source."""
        for wanted in (source, ""):
            for texts in self.data:
                if texts.source == wanted:
                    return texts
        return DataTexts()

    def check(self, sources: Collection[str]) -> None:
        """Refuse texts of a source that gave no frame: most likely its name is misspelt.

        Raises
        ------
        ParameterError
            There is such a text.
        """
        for texts in self.data:
            if texts.source and texts.source not in sources:
                known = " and ".join(repr(source) for source in sorted(sources) if source)
                raise ParameterError(
                    "card",
                    f"has a text for the source {texts.source!r}, and the labels name no such "
                    f"source ({f'they name {known}' if known else 'they name none'})",
                )


def read_card_texts(path: Path) -> CardTexts:
    """Read the texts from a TOML file.

    Raises
    ------
    FileError
        It is absent, no TOML, or has entries that mean nothing.
    """
    try:
        return CardTexts.from_toml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        what = "in" if isinstance(error, ParameterError) else "cannot read"
        raise FileError(f"{what} {path}: {why}") from error


def make_spec(
    *, threshold: float, image_size: int | None, value_names: tuple[str, ...], has_map: bool
) -> ModelSpec:
    """Return how the model is run.

    Parameters
    ----------
    threshold
        The least probability at which a frame is flagged.
    image_size
        Of the crop; None if the model reads features.
    value_names
        The features that it then reads.
    has_map
        Whether the graph draws a map.
    """
    image = values = None
    if image_size is not None:
        image = ImageInput(input="image", size=image_size, colour="rgb", scale=1.0)
    else:
        values = ValuesInput(input="values", names=value_names, version=VERSION)
    return ModelSpec(
        threshold=threshold,
        output=Output(name="probability", kind="probability", map="map" if has_map else ""),
        image=image,
        values=values,
    )


def make_card(
    frames: TrainingFrames,
    figures: Sequence[SourceFigures],
    labels: LabelSet,
    texts: CardTexts,
    *,
    name: str,
    kind: str,
    seed: int,
    target_specificity: float,
    settings: dict[str, str | float | int | bool],
    judged: str,
) -> ModelCard:
    """Return the card.

    Parameters
    ----------
    frames, labels
        What was learned from.
    figures
        Out of fold.
    texts
        What the user says of the data.
    name, kind, seed, settings
        Of the model and its training.
    target_specificity
        Of the thresholds.
    judged
        How the figures came about.
    """
    group_kind = frames.judged.group_kind
    polyp_word = "runs of frames, which stand in for polyps" if figures[0].unit == "run" else ""
    limits = [
        NOT_A_DEVICE,
        "Judge it on your own device before you rely on it: capsieve evaluate.",
        "Its probability holds where polyp frames and others are equally frequent; in an exam "
        "polyps are rare, so that most flagged frames show none.",
        *([f"Figures per polyp are per run: {polyp_word}."] if polyp_word else []),
        *texts.limits,
    ]
    learned = [entry for entry in figures if entry.trained]
    return ModelCard(
        name=texts.name or name,
        kind=kind,
        created=datetime.now(UTC).date().isoformat(),
        capsieve=__version__,
        seed=seed,
        data=tuple(_data_set(entry, texts.of(entry.source)) for entry in learned),
        kept_apart=plural(group_kind),
        group_count=len(np.unique(frames.examples.group[frames.trained])),
        judged=judged,
        metrics=tuple(
            _metric(entry, metric, target_specificity)
            for entry in figures
            for metric in shown_metrics(entry)
        ),
        settings=settings,
        intended_use=texts.intended_use,
        limits=tuple(limits),
        prevalence=PREVALENCE,
        hashes=Hashes(labels=_labels_hash(labels), frames=_frames_hash(frames)),
        reference="the frames that it was trained on: "
        + ", ".join(entry.source for entry in learned),
        quantiles=_quantiles(frames),
    )


def _data_set(figures: SourceFigures, texts: DataTexts) -> DataSet:
    labels = {word: figures.counts[word] for word in ("polyp", "normal", "other")}
    return DataSet(
        name=texts.name or figures.source,
        licence=texts.licence,
        citation=texts.citation,
        frames=sum(labels.values()),
        groups=figures.counts["groups"],
        polyps=figures.counts["polyps"],
        labels=labels,
    )


def _metric(figures: SourceFigures, metric: Metric, target: float) -> ModelMetric:
    interval = metric.intervals[0] if metric.intervals else None
    count = metric.denominator
    if count is None:  # an area
        count = figures.counts["polyp" if metric.key.startswith("frames") else "polyps"]
    return ModelMetric(
        source=figures.source,
        what=figure_name(metric, target),
        value=metric.value,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        count=count,
    )


def _labels_hash(labels: LabelSet) -> str:
    path = Path(labels.path)
    if path.is_file():
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    return sha256(repr(labels.table.to_pylist()).encode()).hexdigest()


def _frames_hash(frames: TrainingFrames) -> str:
    chosen = np.flatnonzero(frames.trained).tolist()
    return sha256("\n".join(sorted(frames.pixel_hash[row] for row in chosen)).encode()).hexdigest()


def _quantiles(frames: TrainingFrames) -> dict[str, tuple[float, float]]:
    """Return the range of inputs: the 1 and 99 % quantiles over the frames learned from."""
    wanted = frames.place[frames.trained]
    exams = np.unique(frames.judged.exam[wanted])
    screened = [Exam(folder) for folder in frames.read.matched.folders]
    tables = [exam.columns(*MEASURED) for exam in screened]
    measured: dict[str, NDArray[np.float64]] = {}
    for name in MEASURED:
        column = pa.concat_arrays([chunk for table in tables for chunk in table[name].chunks])
        values = np.asarray(column.to_numpy(zero_copy_only=False), np.float64)[wanted]
        measured[name] = values[np.isfinite(values)]
    diameters = [
        2 * field["radius"]
        for code in exams.tolist()
        for field in screened[code].record["fields_of_view"]
    ]
    found: dict[str, tuple[float, float]] = {}
    for name, values in measures(measured, diameters).items():
        if len(values):
            low, high = np.quantile(values, (0.01, 0.99)).tolist()
            found[name] = (low, high)
    return found
