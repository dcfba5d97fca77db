r"""The classifier: a logistic model over a few values of a frame.

Each value v has a centre and a spread from training, :math:`s = (v - centre) / spread`, cut off at
three spreads. The chance that a frame is informative is

.. math::
    p = 1 / (1 + e^{-z}), \quad z = a + \sum_j (b_j s_j - c_j s_j^2), \quad c_j \ge 0,

so that a value may have a best place in the middle, as the paper's T_max has: too little and too
much are both bad. The weights are a JSON file; no code is loaded with them.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError, ParameterError
from capsieve.learned.features.view import view_of
from capsieve.learned.informative.values import NAMES, VERSION, informative_values
from capsieve.learned.plain_data import decode, encode, entry, require
from capsieve.paper.staged import Stages
from capsieve.parameters import Parameters

__all__ = ["SCHEMA", "Classifier", "ValueWeight", "expanded", "frame_values", "shipped"]

SCHEMA = 1
"""Version of the JSON file."""

LIMIT = 3.0
"""Spreads: what lies further out counts as if it lay there."""

_PAPER = Parameters()


@dataclass(frozen=True, slots=True)
class ValueWeight:
    """How one value of a frame is scaled, and what it weighs."""

    name: str = entry("which value it is")
    centre: float = entry("the median over the frames of training")
    spread: float = entry("the standard deviation over them")
    linear: float = entry("b, the weight of s")
    square: float = entry("c, the weight of -s^2")

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ParameterError("name", f"no such value of a frame: {self.name!r}")
        require(self.spread > 0, "spread", "above 0", self.spread)
        require(self.square >= 0, "square", "0 or more", self.square)


@dataclass(frozen=True, slots=True)
class Classifier:
    """The model; made by ``tools/train_informative.py``, see docs/preselection.md."""

    schema: int = entry("the version of the file")
    values_version: int = entry("the version of the values that it learned from")
    values: tuple[ValueWeight, ...] = entry("the values that it looks at")
    intercept: float = entry("a")
    threshold: float = entry("the least p of an informative frame")
    training: Mapping[str, str] = entry("how it was trained, and on what")

    def __post_init__(self) -> None:
        require(self.schema == SCHEMA, "schema", f"{SCHEMA} for this version", self.schema)
        require(
            self.values_version == VERSION,
            "values_version",
            f"{VERSION} for this version; run tools/train_informative.py",
            self.values_version,
        )
        require(0 < self.threshold < 1, "threshold", "between 0 and 1", self.threshold)
        names = [each.name for each in self.values]
        require(0 < len(names) == len(set(names)), "values", "one or more, each once", names)

    def chance(self, values: Sequence[float]) -> float:
        """Return p from the values of a frame, in the order of :data:`NAMES`."""
        weights = self.values
        chosen = np.array([[values[NAMES.index(each.name)] for each in weights]])
        centre, spread, linear, square = (
            np.array([getattr(each, part) for each in weights])
            for part in ("centre", "spread", "linear", "square")
        )
        inputs = expanded(chosen, centre, spread)[0]
        z = self.intercept + float(inputs @ np.concatenate([linear, square]))
        return 1.0 / (1.0 + math.exp(-z)) if z > -700 else 0.0

    def of(self, stages: Stages) -> float:
        """Return p of a frame on its way through the algorithm."""
        return self.chance(frame_values(stages))

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(encode(self), indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Classifier":
        """Build from the text of a file, every entry checked."""
        try:
            table: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FileError(
                f"the informative-frame classifier is no valid JSON: {error}"
            ) from error
        return decode(cls, table)

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides about its answers: how it was trained is left out."""
        table = encode(self)
        del table["training"]
        return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()


def expanded(
    values: NDArray[np.float64], centre: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return s and -s^2 side by side, one row per frame."""
    scaled = np.clip((values - centre) / spread, -LIMIT, LIMIT)
    return np.concatenate([scaled, -(scaled**2)], axis=1)


def frame_values(stages: Stages) -> list[float]:
    """Return the values of a frame, all of :data:`NAMES`.

    They are measured with the paper's parameters, whatever the setting: the classifier learned
    from those, and its answer is one of the frame alone.
    """
    return informative_values(view_of(stages, _PAPER))


@cache
def shipped() -> Classifier:
    """Return the classifier that capsieve ships with."""
    path = files("capsieve.learned.informative") / "weights.json"
    return Classifier.from_json(path.read_text(encoding="utf-8"))
