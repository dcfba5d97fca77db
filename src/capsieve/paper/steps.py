"""The steps of Algorithm 1 under one name, and a recorder of their results.

:func:`~capsieve.paper.algorithm.algorithm1` calls the steps as attributes of one object: this
module, a :class:`Recorded` or a :class:`~capsieve.paper.many_settings.Memoised`.
"""

from collections.abc import Callable
from typing import Any

from capsieve.paper.extension import extend
from capsieve.paper.features import best_ball, classify, component_labels, components, features
from capsieve.paper.filters import smooth, spectrum
from capsieve.paper.mask import circular_mask
from capsieve.paper.midpass import midpass, segmentation_threshold
from capsieve.paper.texture import preselection, texture, texture_energy
from capsieve.paper.vignetting import correct_vignetting
from capsieve.paper.working_frame import gray, working_grid

__all__ = [
    "Recorded", "best_ball", "circular_mask", "classify", "component_labels", "components",
    "correct_vignetting", "extend", "features", "gray", "midpass", "preselection",
    "segmentation_threshold", "smooth", "spectrum", "texture", "texture_energy", "working_grid",
]  # fmt: skip


class Recorded:
    """The steps; `results` has the last result of each by name."""

    def __init__(self, steps: Any) -> None:
        self._steps = steps
        self.results: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        step = getattr(self._steps, name)

        def recorded(*arguments: Any) -> Any:
            self.results[name] = step(*arguments)
            return self.results[name]

        return recorded
