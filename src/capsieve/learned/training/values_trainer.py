"""What trainers on features share: which frames they learn from, their weights, one thread."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.checks import check_examples
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.libraries import one_thread
from capsieve.learned.training.trainer import Fitted, Tell

__all__ = ["ValuesTrainer"]


class ValuesTrainer(ABC):
    """Learns from the features of frames.

    Of the chosen frames those count that :func:`capsieve.learned.training.balance.usable` names:
    those of sources that have polyps.
    """

    __slots__ = ()

    MODEL: ClassVar[str]
    """As in ``capsieve train --model``."""
    DOING: ClassVar[str]
    """What progress says."""
    FORMAT: ClassVar[int]
    """See :class:`~capsieve.learned.training.trainer.Trainer`; a change here raises all of them."""

    @property
    def name(self) -> str:
        """As in ``capsieve train --model``."""
        return self.MODEL

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
    ) -> Fitted:
        """Learn from the chosen frames; quick enough to begin anew after a stop."""
        rows = check_examples(examples, chosen)
        weights = balanced_weights(examples, rows)
        rows, weights = rows[weights > 0], weights[weights > 0]
        tell(self.DOING, 0, 1)
        with one_thread():
            fitted = self.learn(examples, rows, weights, seed=seed)
        tell(self.DOING, 1, 1)
        return fitted

    @abstractmethod
    def learn(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        *,
        seed: int,
    ) -> Fitted:
        """Learn from these rows, each with its weight, which is above 0."""
