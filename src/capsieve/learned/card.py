"""The card of a model: what it learned from, how well it did on other frames, its limits."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from capsieve.detector import MEASURES, ReferenceRange
from capsieve.errors import ParameterError
from capsieve.learned.plain_data import check_schema, decode, encode, entry, parsed_json

__all__ = ["CARD_SCHEMA", "NOT_A_DEVICE", "DataSet", "Hashes", "ModelCard", "ModelMetric"]

CARD_SCHEMA = 2
"""Version of the card; a file with another one is refused."""

NOT_A_DEVICE = "Research software, not a medical device."


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """Frames that a model learned from.

    Attributes
    ----------
    name, licence, citation
        Whose they are, and how to say so.
    frames, groups, polyps
        How many; `polyps` counts polyps, or runs of frames that stand in for them.
    labels
        How many frames of each label.
    """

    name: str
    licence: str
    citation: str
    frames: int
    groups: int
    polyps: int
    labels: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMetric:
    """One figure, with its 95 % interval where there is one.

    Attributes
    ----------
    source
        Of the frames that were judged: a device or a data set.
    what
        Which figure, such as "sensitivity per frame at 90 % specificity".
    value, low, high
        The figure and its interval; None where there is none.
    count
        Over how many frames, runs or exams.
    """

    source: str
    what: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashes:
    """By which everything is known again.

    Attributes
    ----------
    labels
        SHA-256 of the labels.
    frames
        SHA-256 over the SHA-1 of the training frames' pixels, sorted.
    graph
        SHA-256 of the graph with its weights; written by
        :func:`capsieve.learned.model_file.write_model`.
    """

    labels: str = ""
    frames: str = ""
    graph: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """All that a user should know about a model before trusting it.

    Attributes
    ----------
    name, kind, created, capsieve, seed
        What it is called; "svm", "cnn", ...; the day; the version that trained it; its seed.
    data
        What it learned from.
    kept_apart, group_count
        What never stood on both sides of a split ("blocks of 300 frames"), and how many of it.
    judged
        How the metrics came about, such as "out of fold, 5 folds".
    metrics
        By source.
    settings
        Of the training.
    intended_use, limits
        In sentences.
    prevalence
        The share of polyp frames at which its probabilities hold; None where not calibrated.
    hashes
        Of labels, frames and graph.
    reference
        Which exams the range is of, in words.
    quantiles
        The 1 and 99 % quantiles of :data:`capsieve.detector.MEASURES`.
    schema
        Version of the card.
    """

    name: str = entry("what the model is called")
    kind: str = entry("what kind of model it is")
    created: str = entry("the day on which it was trained")
    capsieve: str = entry("the version of capsieve that trained it")
    seed: int = entry("the seed of the training")
    data: tuple[DataSet, ...] = ()
    kept_apart: str = ""
    group_count: int = 0
    judged: str = "out of fold"
    metrics: tuple[ModelMetric, ...] = ()
    settings: Mapping[str, str | float | int | bool] = field(default_factory=dict[str, Any])
    intended_use: str = ""
    limits: tuple[str, ...] = (NOT_A_DEVICE,)
    prevalence: float | None = None
    hashes: Hashes = field(default_factory=Hashes)
    reference: str = ""
    quantiles: Mapping[str, tuple[float, float]] = field(
        default_factory=dict[str, tuple[float, float]]
    )
    schema: int = CARD_SCHEMA

    def __post_init__(self) -> None:
        for name, (low, high) in self.quantiles.items():
            if name not in MEASURES:
                known = ", ".join(MEASURES)
                raise ParameterError(f"quantiles.{name}", f"no such measure; one of {known}")
            if low > high:
                raise ParameterError(f"quantiles.{name}", f"{low:g} lies above {high:g}")

    @property
    def range(self) -> ReferenceRange:
        """The range of inputs that the model learned from."""
        return ReferenceRange(
            self.reference or f"the training frames of {self.name}", self.quantiles
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain tables."""
        return encode(self)

    @classmethod
    def from_dict(cls, table: object) -> "ModelCard":
        """Build from plain tables; what is wrong with them is a ParameterError."""
        check_schema(table, CARD_SCHEMA)
        return decode(cls, table)

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "ModelCard":
        """Build from JSON."""
        return cls.from_dict(parsed_json(text))
