"""The card of a model: training data, performance on other frames, limits."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import model_validator

from capsieve.detector import MEASURES, ReferenceRange
from capsieve.strict_model import Strict

__all__ = ["NOT_A_DEVICE", "DataSet", "Hashes", "ModelCard", "ModelMetric"]

NOT_A_DEVICE = "Research software, not a medical device."

Range = tuple[float, float]


class DataSet(Strict, frozen=True):
    """Frames that a model was trained on.

    Attributes
    ----------
    name, licence, citation
        Where they come from.
    frames, groups, polyps
        Their number; `polyps` counts polyps, or the runs of frames that replace them.
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


class ModelCard(Strict, frozen=True):
    """What a user should know about a model before trusting it.

    Attributes
    ----------
    name, kind, created, capsieve, seed
        Name; "svm", "cnn", ...; day, version of capsieve and seed of the training.
    data
        The training data.
    kept_apart, group_count
        The groups that were never divided by a split ("exams"), and their number.
    judged
        How the metrics were obtained, such as "out of fold, 5 folds".
    metrics
        Figures by source.
    settings
        Settings of the training.
    intended_use, limits
        In sentences.
    prevalence
        The share of polyp frames for which the probabilities are calibrated; None if they are not.
    hashes
        Of labels and frames.
    reference
        Name of the exams that `quantiles` describe.
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
    kept_apart: str = ""
    group_count: int = 0
    judged: str = "out of fold"
    metrics: tuple[ModelMetric, ...] = ()
    settings: Mapping[str, str | float | int | bool] = {}
    intended_use: str = ""
    limits: tuple[str, ...] = (NOT_A_DEVICE,)
    prevalence: float | None = None
    hashes: Hashes = Hashes()
    reference: str = ""
    quantiles: Mapping[str, Range] = {}
    usual_values: Mapping[str, Range] = {}
    schema_version: Literal[3] = 3

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
