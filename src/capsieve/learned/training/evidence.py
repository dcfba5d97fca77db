"""One measured value, for instance the paper's R_max, as evidence of its own in a fusion."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import usable
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.linear import WeightedSum
from capsieve.learned.training.scaling import robust_scaling
from capsieve.learned.training.trainer import Tell

__all__ = ["EvidenceTrainer"]


@dataclass(frozen=True, slots=True)
class EvidenceTrainer:
    """Takes one column of the values, scaled and clipped, for a logit.

    It learns the column's centre and spread alone; what the evidence weighs is for the fusion.
    """

    column: str

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column

    @property
    def looks_at(self) -> frozenset[str]:
        """Features alone."""
        return frozenset({"values"})

    def fit(
        self,
        examples: Examples,
        chosen: NDArray[np.int64],
        *,
        seed: int,
        folder: Path,
        tell: Tell,
    ) -> WeightedSum:
        """Learn centre and spread from the chosen frames.

        Raises
        ------
        ParameterError
            The examples have no such column.
        """
        if self.column not in examples.value_names:
            raise ParameterError("evidence", f"there is no value of the name {self.column!r}")
        rows = examples.rows(chosen)
        scaling = robust_scaling(examples.values[rows[usable(examples, rows)]])
        weights = np.zeros(len(examples.value_names))
        weights[examples.value_names.index(self.column)] = 1.0
        return WeightedSum(scaling, weights, 0.0)
