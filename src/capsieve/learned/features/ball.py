"""The ball: the patch that is brighter than its surround on every side, and its rim."""

import math
from collections.abc import Sequence

import numpy as np

from capsieve.learned.features.description import described
from capsieve.learned.features.kernels.regions import rim_sums
from capsieve.learned.features.patches import Patch
from capsieve.learned.features.regions import regions
from capsieve.learned.features.view import View

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
    place = (ball.row, ball.col)
    shown = highlights.astype(np.float32)
    planes = (view.light, view.a, view.b, view.detail, view.energy, shown)
    around = regions(view.mask, planes, *place, ball.radius)
    core = regions(view.mask, (view.light,), *place, 0.6 * ball.radius)
    (inside_a, ring_a), (inside_b, ring_b) = around.pair(1), around.pair(2)
    hue = math.atan2(inside_b, inside_a) - math.atan2(ring_b, ring_a)
    unevenness = around.deviations[0]
    return [
        1.0,
        2.0 * ball.radius,
        ball.fall,
        ball.mean_fall,
        ball.fall / max(ball.mean_fall, ball.fall),
        float(min(view.distance[int(ball.row), int(ball.col)], 1.0)),
        max(0.0, ordered[1].fall) / ball.fall,
        _rim(view, ball),
        math.log(core.means[0][0] / around.means[0][0]),
        inside_a - ring_a,
        inside_b - ring_b,
        (hue + math.pi) % (2 * math.pi) - math.pi,
        around.contrast(3),
        around.log_contrast(4, floor=0.1),
        math.log((unevenness[0] + 0.01) / (unevenness[1] + 0.01)),
        *around.pair(5),
    ]


def _rim(view: View, ball: Patch) -> float:
    """Share of the squared gradient across the rim that points along the radius."""
    low, high = (0.65 * ball.radius) ** 2, (1.35 * ball.radius) ** 2
    radial, total = rim_sums(view.fine, view.mask, ball.row, ball.col, low, high)
    return radial / total if total > 1e-9 else 0.5
