"""One frame with many settings: each step is computed once for the settings that share it."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from capsieve.errors import ParameterError
from capsieve.frames import FieldOfView, FrameLike, checked_pixels
from capsieve.paper.algorithm import algorithm1
from capsieve.paper.steps import STEPS, Steps
from capsieve.parameters import Parameters
from capsieve.results import FrameResult


def analyze_each(
    frame: FrameLike,
    settings: Sequence[Parameters],
    field_of_view: FieldOfView | None = None,
    value_range: tuple[float, float] | None = None,
) -> list[FrameResult]:
    """Run Algorithm 1 on one frame with each of many settings.

    The results are those of :func:`capsieve.analyze`, in the order of the settings. They take less
    time the more the settings have in common.

    Parameters
    ----------
    frame, field_of_view, value_range
        See :func:`capsieve.analyze`.
    settings
        Any number; the same one may occur several times.

    Raises
    ------
    FrameError
        The frame cannot be analysed with one of the settings.

    Examples
    --------
    >>> import capsieve
    >>> from capsieve.paper.many_settings import analyze_each
    >>> settings = [capsieve.Parameters(radius_threshold=r) for r in (20, 37, 85)]
    >>> [result.label for result in analyze_each(capsieve.phantom.polyp_frame(), settings)]
    ['polyp', 'polyp', 'normal']
    """
    for each in settings:
        if not isinstance(each, Parameters):
            raise ParameterError("parameters", f"must be Parameters, not {type(each).__name__}")
    if not settings:
        return []
    pixels, step = checked_pixels(frame, value_range=value_range), Memoised(STEPS)
    rows, cols = pixels.shape[:2]
    for each in settings:  # a setting that does not fit is refused before any work
        step.working_grid(rows, cols, each.width, each.derived.smallest_side, field_of_view)
    return [algorithm1(pixels, each, field_of_view, step=step) for each in settings]


class Memoised(Steps):
    """The steps; each remembers its last results.

    Arguments are compared by value, arrays and lists by identity. A remembered result is the same
    object again, so the steps after it are remembered too. The arguments are kept with the result,
    so no other object can get their identity. Use one object per frame.

    Parameters
    ----------
    steps
        The step functions.
    keep
        The number of results that each step remembers.
    """

    def __init__(self, steps: Steps = STEPS, keep: int = 8) -> None:
        self._keep = keep
        self._replace_each(steps, self._remembered)

    def _remembered(self, name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        del name
        known: OrderedDict[tuple[Any, ...], tuple[Any, tuple[Any, ...]]] = OrderedDict()

        def remembered(*arguments: Any) -> Any:
            key = tuple([id(each) if each.__hash__ is None else each for each in arguments])
            if key in known:
                known.move_to_end(key)
            else:
                known[key] = step(*arguments), arguments
                if len(known) > self._keep:
                    known.popitem(last=False)
            return known[key][0]

        return remembered
