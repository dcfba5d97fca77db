"""The ball: the patch that is brighter than its surround on every side, and its rim."""

from collections.abc import Sequence

import numpy as np

from capsieve.learned.features.description import described
from capsieve.learned.features.patches import Patch
from capsieve.learned.features.regions import regions
from capsieve.learned.features.view import View, blurred

__all__ = ["DESCRIPTIONS", "ball_values"]

DESCRIPTIONS = described(
    "ball",
    ("present", "0 or 1", "Whether any round patch is brighter than its surround on every side."),
    ("radius", "pixels", "Radius of the ball, the patch that stands out most; 0: none."),
    ("fall", "log", "Fall of brightness over the ball's rim on its weaker sides."),
    ("mean-fall", "log", "Fall of brightness over the ball's rim, all sides."),
    ("closure", "0..1", "Evenness of the rim: weak sides against all sides, 1 for a closed rim."),
    ("distance", "0..1", "Distance of the ball from the centre of the view; 1: none."),
    ("rivals", "0..1", "How close the second-best radius comes to the ball: 1 for a vague size."),
    ("rim", "0..1", "Share of the edges at the rim that run around the ball; 0.5 for chance."),
    ("dome", "log", "Brightness of the ball's middle against its outer part: a dome is above 0."),
    ("a", "Lab a", "The ball against the ring around it, from green to red."),
    ("b", "Lab b", "The ball against the ring around it, from blue to yellow."),
    ("hue", "radians", "The ball against the ring around it, from red towards yellow."),
    ("detail", "log", "Fine detail in the ball against the ring: below 0 for a smooth surface."),
    ("texture", "log", "Texture energy in the ball against the ring around it."),
    ("variance", "log", "Unevenness of brightness in the ball against that of the ring."),
    ("highlights", "share", "Share of the ball that is a highlight."),
    ("highlights-ring", "share", "Share of the ring around the ball that is a highlight."),
)

_NONE = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5] + [0.0] * 9


def ball_values(view: View, patches: Sequence[Patch], highlights: np.ndarray) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`.

    Parameters
    ----------
    view
        The frame.
    patches
        The patches that are brighter than their surround, one for each radius.
    highlights
        Where highlights are.
    """
    ordered = sorted(patches, key=lambda patch: -patch.fall)
    ball = ordered[0]
    if ball.fall <= 0.0:
        return list(_NONE)
    around = regions(view, ball.row, ball.col, ball.radius)
    core = regions(view, ball.row, ball.col, 0.6 * ball.radius).inside
    light = view.light.ravel()
    a, b = (np.ascontiguousarray(view.lab[:, :, n]) for n in (1, 2))
    inside_a, ring_a = around.means(a)
    inside_b, ring_b = around.means(b)
    hues = np.arctan2([inside_b, ring_b], [inside_a, ring_a])
    turn = (hues[0] - hues[1] + np.pi) % (2 * np.pi) - np.pi
    shares = around.means(highlights)
    return [
        1.0,
        2.0 * ball.radius,
        ball.fall,
        ball.mean_fall,
        ball.fall / max(ball.mean_fall, ball.fall),
        float(min(view.distance[int(ball.row), int(ball.col)], 1.0)),
        max(0.0, ordered[1].fall) / ball.fall,
        _rim(view, ball),
        float(np.log(light[core].mean() / light[around.inside].mean())),
        inside_a - ring_a,
        inside_b - ring_b,
        float(turn),
        around.contrast(view.detail),
        around.log_contrast(view.energy, floor=0.1),
        float(
            np.log(
                (_deviation(view.light, around.inside) + 0.01)
                / (_deviation(view.light, around.ring) + 0.01)
            )
        ),
        *shares,
    ]


def _deviation(plane: np.ndarray, where: np.ndarray) -> float:
    return float(plane.ravel()[where].std()) if len(where) else 0.0


def _rim(view: View, ball: Patch) -> float:
    """Share of the squared gradient across the rim that points along the radius."""
    rows, cols = view.mask.shape
    reach = int(1.35 * ball.radius) + 1
    top, bottom = max(1, int(ball.row) - reach), min(rows - 1, int(ball.row) + reach + 1)
    left, right = max(1, int(ball.col) - reach), min(cols - 1, int(ball.col) + reach + 1)
    smooth = blurred(view.light, 1.5)
    down = smooth[top + 1 : bottom + 1, left:right] - smooth[top - 1 : bottom - 1, left:right]
    across = smooth[top:bottom, left + 1 : right + 1] - smooth[top:bottom, left - 1 : right - 1]
    y = (np.arange(top, bottom) - ball.row)[:, None]
    x = (np.arange(left, right) - ball.col)[None, :]
    square = np.maximum(x * x + y * y, 1e-6)
    near = view.mask[top:bottom, left:right] & (square >= (0.65 * ball.radius) ** 2)
    near &= square <= (1.35 * ball.radius) ** 2
    radial = (down * y + across * x) ** 2 / square
    total = (down * down + across * across)[near].sum()
    return float(radial[near].sum() / total) if total > 1e-9 else 0.5
