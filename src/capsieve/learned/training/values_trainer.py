"""What trainers on features share: which frames they learn from, their weights, one thread."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.checks import check_examples
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.lesson import Lesson, lesson_of
from capsieve.learned.training.libraries import one_thread
from capsieve.learned.training.trainer import GraphPart, Tell

__all__ = ["ValuesModel", "ValuesTrainer"]


class ValuesModel(ABC):
    """A model on features after training."""

    __slots__ = ()

    def logits(self, examples: Examples, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return one logit per chosen frame; not yet calibrated."""
        return self.judge(examples.values[examples.rows(chosen)])

    @abstractmethod
    def judge(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one logit for each row of features."""

    @abstractmethod
    def graph(self, prefix: str) -> GraphPart:
        """Return the same computation as a piece of an ONNX graph."""


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
    ) -> ValuesModel:
        """Learn from the chosen frames; quick enough to begin anew after a stop."""
        lesson = lesson_of(examples, check_examples(examples, chosen), seed=seed)
        tell(self.DOING, 0, 1)
        with one_thread():
            fitted = self.learn(lesson)
        tell(self.DOING, 1, 1)
        return fitted

    @abstractmethod
    def learn(self, lesson: Lesson) -> ValuesModel:
        """Learn from these frames."""
