"""The steps of Algorithm 1 under one name, and a recorder of their results.

:func:`~capsieve.paper.algorithm.algorithm1` calls the steps as attributes of one object: `STEPS`, a
:class:`Recorded` or a :class:`~capsieve.paper.many_settings.Memoised`.
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


class Steps:
    """The step functions, in the order of Algorithm 1."""

    working_grid = staticmethod(working_grid)
    circular_mask = staticmethod(circular_mask)
    gray = staticmethod(gray)
    correct_vignetting = staticmethod(correct_vignetting)
    extend = staticmethod(extend)
    spectrum = staticmethod(spectrum)
    texture = staticmethod(texture)
    texture_energy = staticmethod(texture_energy)
    preselection = staticmethod(preselection)
    smooth = staticmethod(smooth)
    midpass = staticmethod(midpass)
    segmentation_threshold = staticmethod(segmentation_threshold)
    components = staticmethod(components)
    component_labels = staticmethod(component_labels)
    features = staticmethod(features)
    best_ball = staticmethod(best_ball)
    classify = staticmethod(classify)

    def _replace_each(
        self, steps: "Steps", wrapped: Callable[[str, Callable[..., Any]], Callable[..., Any]]
    ) -> None:
        """Replace each step by what `wrapped` makes of its name and the function in `steps`."""
        for name in vars(Steps):
            if not name.startswith("_"):
                setattr(self, name, wrapped(name, getattr(steps, name)))


STEPS = Steps()


class Recorded(Steps):
    """The steps; `results` has the last result of each by name."""

    def __init__(self, steps: Steps = STEPS) -> None:
        self.results: dict[str, Any] = {}
        self._replace_each(steps, self._recorded)

    def _recorded(self, name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*arguments: Any) -> Any:
            self.results[name] = step(*arguments)
            return self.results[name]

        return recorded
