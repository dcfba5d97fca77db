"""The card of a model: training data, performance on other frames, limits."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Literal, Self

from pydantic import model_validator

from capsieve.detector import MEASURES, ReferenceRange
from capsieve.strict_model import Strict

NOT_A_DEVICE = "Research software, not a medical device."

Range = tuple[float, float]


class DataSet(Strict, frozen=True):
    """Frames that a model was trained on.

    Attributes
    ----------
    name, licence, citation
        Name of the data set, its licence, and how to cite it.
    frames, groups, polyps
        Numbers of frames, groups and polyps; if polyps are unknown, of runs of polyp frames.
    labels
        Number of frames by label.
    """

    name: str
    licence: str
    citation: str
    frames: int
    groups: int
    polyps: int
    labels: Mapping[str, int] = {}


class ModelMetric(Strict, frozen=True):
    """One figure, with its 95 % interval if there is one.

    Attributes
    ----------
    source
        Device or data set of the frames.
    what
        Name of the figure, such as "sensitivity per frame at 90 % specificity".
    value, low, high
        The figure and its interval; None if there is none.
    count
        Number of frames, runs or exams.
    """

    source: str
    what: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int | None = None


class Hashes(Strict, frozen=True):
    """SHA-256 of the labels, and of the sorted frame hashes of the training frames."""

    labels: str = ""
    frames: str = ""


def frames_hash(pixel_hashes: Iterable[str | None]) -> str:
    """Return the SHA-256 of the sorted frame hashes of the frames that could be decoded."""
    return sha256("\n".join(sorted(filter(None, pixel_hashes))).encode()).hexdigest()


class ModelCard(Strict, frozen=True):
    """What a user should know about a model before trusting it.

    Attributes
    ----------
    name, kind, created, capsieve, seed
        Name of the model; its kind ("svm", "cnn", ...); day, version of capsieve and seed of the
        training.
    data
        The training data.
    grouped_by, group_count
        What no split divides ("exams"), and how many there are.
    evaluation
        How the metrics were obtained, such as "out of fold, 5 folds".
    metrics
        Figures by source.
    settings
        Settings of the training.
    intended_use, limits
        Sentences about what the model is for, and what it cannot do.
    terms
        Under which terms the weights may be used, apart from those of the code; "" if not stated.
    prevalence
        The share of polyp frames for which the probabilities are calibrated; None if they are not.
    hashes
        SHA-256 of labels and frames.
    reference
        Name of the frames that `quantiles` describe.
    quantiles
        The 1 and 99 % quantiles of :data:`capsieve.detector.MEASURES` over the training frames.
    usual_values
        The 5 and 95 % quantiles of a few :mod:`features <capsieve.learned.features>` over the
        training frames without a polyp. The evidence of a frame describes it by these features.
    schema_version
        Version of the card; files with another one are refused.
    """

    name: str
    kind: str
    created: str
    capsieve: str
    seed: int
    data: tuple[DataSet, ...] = ()
    grouped_by: str = ""
    group_count: int = 0
    evaluation: str = "out of fold"
    metrics: tuple[ModelMetric, ...] = ()
    settings: Mapping[str, str | float | int | bool] = {}
    intended_use: str = ""
    limits: tuple[str, ...] = (NOT_A_DEVICE,)
    terms: str = ""
    prevalence: float | None = None
    hashes: Hashes = Hashes()
    reference: str = ""
    quantiles: Mapping[str, Range] = {}
    usual_values: Mapping[str, Range] = {}
    schema_version: Literal[4] = 4

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, (low, high) in self.quantiles.items():
            if name not in MEASURES:
                raise ValueError(f"quantiles.{name}: unknown; use {', '.join(MEASURES)}")
            if low > high:
                raise ValueError(f"quantiles.{name}: {low:g} is above {high:g}")
        return self

    @property
    def range(self) -> ReferenceRange:
        """The range of inputs that the model was trained on."""
        return ReferenceRange(
            self.reference or f"the training frames of {self.name}", self.quantiles
        )
