"""A window on the screen, opened only on request."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from capsieve.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["show_in_window"]

_TOOLKITS = ("macosx", "qtagg", "gtk4agg", "gtk3agg", "tkagg", "wxagg")


def show_in_window(draw: Callable[["Figure"], object], *, title: str = "capsieve") -> None:
    """Open a window, let the function draw into its figure, and wait until it is closed.

    This is the one place that uses pyplot: its global state owns the windows.

    Raises
    ------
    MissingExtraError
        There is no display, or no window toolkit that Matplotlib can use.
    """
    from matplotlib import pyplot

    for toolkit in _TOOLKITS:
        try:
            pyplot.switch_backend(toolkit)
            figure = pyplot.figure(title)
        except Exception:  # each toolkit fails in its own way where it is absent or has no display
            continue
        draw(figure)
        pyplot.show(block=True)
        return
    raise MissingExtraError(
        "no window can be opened here: there is no display, or no window toolkit (such as tkinter "
        "or PyQt6); write the picture to a file with -o FILE.png instead"
    )
