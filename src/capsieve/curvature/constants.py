"""The constants of the curvature detector."""

from dataclasses import dataclass

__all__ = ["Constants"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What the curvature detector looks for. Lengths are in widths Nx of the working frame.

    They were chosen on the demo study of the phantom alone; see docs/baselines.md.

    Attributes
    ----------
    scales
        Standard deviations of the Gaussians that smooth the surface; the best of them counts.
    height
        How high white stands above black. Curvature depends on it, and no optics say what it is.
    least_shape
        Least shape index of a point of a dome. Koenderink and van Doorn call what lies above 5/8
        dome and cap, and from 3/8 to 5/8 ridge: a fold.
    least_curvedness
        Least curvedness times scale of such a point: what is flatter has no shape.
    least_area
        Least area of a dome in squares of its scale. A single bright point, smoothed, makes a dome
        of 2.5 such squares.
    least_radius
        The threshold: the least radius of the half-ball that a flagged frame shows. Nine of ten
        normal frames of the demo study stay below. The number is small because the height is.
    """

    scales: tuple[float, ...] = (1 / 40, 1 / 25)
    height: float = 1 / 4
    least_shape: float = 5 / 8
    least_curvedness: float = 0.02
    least_area: float = 3.0
    least_radius: float = 0.0091
