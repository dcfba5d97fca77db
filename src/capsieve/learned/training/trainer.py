"""What every trainer offers: one interface for feature models and networks."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.examples import Examples

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = ["Fitted", "GraphPart", "Tell", "Trainer"]

Tell = Callable[[str, int, int], None]
"""Takes what is being done, steps done and steps to do."""


@dataclass(frozen=True, slots=True)
class GraphPart:
    """A piece of an ONNX graph that ends in one logit per frame.

    It reads the tensors ``image`` (float32, N x 3 x S x S, RGB, 0..255, as
    :func:`capsieve.learned.crop.crop` gives it) or ``values`` (float32, N x F). Every other
    name in it begins with a prefix.

    Attributes
    ----------
    logit
        Name of its output, float32, N x 1.
    nodes, weights
        In the order of their work.
    map
        Name of its evidence map, float32, N x H x W, higher where the frame looks more like a
        polyp, in units of the logit; "" where it has none.
    """

    logit: str
    nodes: tuple["NodeProto", ...]
    weights: tuple["TensorProto", ...]
    map: str = ""


class Fitted(Protocol):
    """A model after training, before it is written."""

    def logits(self, examples: Examples, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return one logit per chosen frame; not yet calibrated."""
        ...

    def graph(self, prefix: str) -> GraphPart:
        """Return the same computation as a piece of an ONNX graph."""
        ...


class Trainer(Protocol):
    """Learns from examples. The same examples and seed give the same model."""

    FORMAT: ClassVar[int]
    """Raised with any change by which the same examples, settings and seed give another model: kept
    fits of another number are not used again."""

    @property
    def name(self) -> str:
        """As in ``capsieve train --model``."""
        ...

    @property
    def looks_at(self) -> frozenset[str]:
        """Which of "values" and "image" it reads."""
        ...

    def fit(
        self,
        examples: Examples,
        chosen: NDArray[np.int64],
        *,
        seed: int,
        folder: Path,
        tell: Tell,
    ) -> Fitted:
        """Learn from the chosen frames.

        Parameters
        ----------
        folder
            For what a later run may go on from; empty or left by an earlier run of the same work.
        tell
            Called as the work goes on.
        """
        ...
