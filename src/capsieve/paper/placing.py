"""Where the working frame lies on a frame, and whether it can lie there."""

from capsieve.errors import FrameError
from capsieve.frames import FieldOfView, Placement
from capsieve.paper.resample import place_circle, place_frame

__all__ = ["check_room", "place"]

_SMALLEST_SOURCE = 21  # the width of the texture kernel: less than that is not a picture
_TALLEST = 4  # times the width: the working frame would grow without bound
_CIRCLE_SLACK = 2.0  # pixels by which a found circle may stick out of the frame


def place(rows: int, cols: int, width: int, circle: FieldOfView | None) -> Placement:
    """Return where the working frame of that width lies on a frame of that size.

    Parameters
    ----------
    rows, cols
        Size of the frame.
    width
        Nx.
    circle
        The field of view; without it, or where its confidence is 0, the whole frame is taken.

    Raises
    ------
    FrameError
        The frame is far too high, or the circle does not fit it.
    """
    if circle is None or circle.confidence == 0.0:
        if rows > _TALLEST * cols:
            raise FrameError(
                f"the frame is {rows} x {cols}: more than {_TALLEST} times as high as wide; crop "
                "it, or give a field of view"
            )
        return place_frame(rows, cols, width=width)
    _check_circle(rows, cols, circle)
    return place_circle(circle.row, circle.col, circle.radius, width=width)


def check_room(rows: int, cols: int, placement: Placement, smallest_side: int) -> None:
    """Raise a FrameError where a frame is too small to be a picture, or for the filters."""
    if min(rows, cols) < _SMALLEST_SOURCE or placement.rows < smallest_side:
        raise FrameError(
            f"a frame of {rows} x {cols} pixels is too small: at least {_SMALLEST_SOURCE} each way "
            f"are needed, and {smallest_side} rows at the working width of {placement.cols}"
        )


def _check_circle(rows: int, cols: int, circle: FieldOfView) -> None:
    if 2.0 * circle.radius < _SMALLEST_SOURCE:
        raise FrameError(
            f"a field of view of radius {circle.radius:g} pixels is too small; at least "
            f"{_SMALLEST_SOURCE / 2:g} are needed"
        )
    reach = circle.radius - _CIRCLE_SLACK
    if (
        circle.row - reach < -0.5
        or circle.col - reach < -0.5
        or circle.row + reach > rows - 0.5
        or circle.col + reach > cols - 0.5
    ):
        raise FrameError(
            f"the field of view (row {circle.row:g}, col {circle.col:g}, radius "
            f"{circle.radius:g}) does not fit a frame of {rows} x {cols} pixels; was it found on "
            "frames of another size?"
        )
