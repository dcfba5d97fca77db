r"""Features: connected components, geometry, best-fit ball, classification (equations 12 to 29).

The segmentation :math:`s = H(u - \Theta)` (equation 10) has 8-connected components, numbered column
by column. The eccentricity is :math:`E = \lambda_{max} / \lambda_{min}` of the tensor of inertia

.. math:: I = \sum \begin{bmatrix} \hat y^2 & -\hat x \hat y \\ -\hat x \hat y & \hat x^2
    \end{bmatrix}

over the pixels of the component (equations 16 to 19). A component passes if
:math:`S_L \le S \le S_U` and :math:`E \le E_{max}` (equations 14, 21 and 22: the sets K_S, K_E and
K_G). A ball b(R), cut at zero, is then fitted to u at its u-weighted centre:
:math:`R_{opt} = \arg\min_R \|u - b(R)\|_F` over the integers 1 .. floor(Nx / 3), the first of
equals (equations 23 to 27). The frame is a polyp frame if the largest R_opt is at least R_P.

`ball_fit` chooses among three readings of equations 23 to 27, with d the distance to the centre:

printed     :math:`b = (R^2 - d^2) / N_x^2`, the square of a ball's height, fitted to the whole u
feature     the same ball, fitted to :math:`u s^{(k)}`
hemisphere  :math:`b = \sqrt{R^2 - d^2} / N_x`, a ball's height, fitted to the whole u
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from capsieve.paper.kernels.ball import best_hemisphere, best_radius
from capsieve.paper.kernels.components import component_moments
from capsieve.parameters import BallFit
from capsieve.results import Feature, Label, Reason, Rejection

_DEGENERATE = 1e-9


def components(u: NDArray[np.float32], theta: float) -> list[tuple[float, ...]]:
    """Return the moments of each connected component of u >= Theta.

    A component is size, row, col, moment_rr, moment_rc, moment_cc, ball_row and ball_col of
    :class:`~capsieve.Feature`.
    """
    return [tuple(moments) for moments in component_moments(u, _rounded_up(theta)).tolist()]


def component_labels(u: NDArray[np.float32], theta: float) -> NDArray[np.int32]:
    """Return the number k of the component of each pixel, 0 for none."""
    labels = np.zeros(u.shape[::-1], np.int32)
    ndimage.label((u >= _rounded_up(theta)).T, np.ones((3, 3)), output=labels)
    return np.ascontiguousarray(labels.T)


def _rounded_up(theta: float) -> np.float32:
    """The smallest float32 that is not below Theta: u >= Theta is then decided exactly."""
    rounded = np.float32(theta)
    return rounded if float(rounded) >= theta else np.nextafter(rounded, np.float32(np.inf))


def best_ball(
    u: NDArray[np.float32], row: float, col: float, largest: int, ball_fit: BallFit = "printed"
) -> int:
    """Return R_opt of the ball at (row, col), 0-based, among the radii 1 .. `largest`.

    For the fit "feature", `u` is zero outside the feature.
    """
    search = best_hemisphere if ball_fit == "hemisphere" else best_radius
    return int(search(u, row, col, largest))


def features(
    u: NDArray[np.float32],
    labels: NDArray[np.int32] | None,
    components: Sequence[tuple[float, ...]],
    size_low: int,
    size_high: int,
    eccentricity_max: float,
    largest_radius: int,
    ball_fit: BallFit = "printed",
    best_ball: Callable[..., int] = best_ball,
) -> tuple[Feature, ...]:
    """Return every component as a feature, with its ball if it passes the rules.

    Parameters
    ----------
    u, labels, components
        The mid-pass filtered frame, its :func:`component_labels` and its :func:`components`. The
        labels are used for the fit "feature" only.
    size_low, size_high, eccentricity_max
        S_L, S_U and E_max, inclusive.
    largest_radius
        The largest radius of a ball.
    ball_fit
        The reading of the ball, see the module.
    best_ball
        The function that fits a ball.
    """
    measured: list[Feature] = []
    for number, (size, row, col, rr, rc, cc, ball_row, ball_col) in enumerate(components, 1):
        stretch = eccentricity(rr, rc, cc)
        rejected: Rejection = ""
        if size < size_low:
            rejected = "size-low"
        elif size > size_high:
            rejected = "size-high"
        elif stretch > eccentricity_max:
            rejected = "eccentricity"
        radius = 0
        if not rejected:
            fitted = u if ball_fit != "feature" else np.where(labels == number, u, np.float32(0))
            radius = best_ball(fitted, ball_row, ball_col, largest_radius, ball_fit)
        measured.append(
            Feature(
                number=number,
                size=int(size),
                eccentricity=stretch,
                row=row,
                col=col,
                ball_row=ball_row,
                ball_col=ball_col,
                radius=radius,
                rejected=rejected,
                moment_rr=rr,
                moment_rc=rc,
                moment_cc=cc,
            )
        )
    return tuple(measured)


def eccentricity(moment_rr: float, moment_rc: float, moment_cc: float) -> float:
    """Return E (equation 19); infinite for a line or a single pixel, whose tensor is singular."""
    mean = 0.5 * (moment_rr + moment_cc)
    largest = mean + math.hypot(0.5 * (moment_rr - moment_cc), moment_rc)
    # The product of the eigenvalues is the determinant: a difference would lose digits.
    determinant = moment_rr * moment_cc - moment_rc * moment_rc
    smallest = determinant / largest if largest > 0 else 0.0
    return math.inf if smallest <= _DEGENERATE * largest else largest / smallest


def classify(
    features: Sequence[Feature], failed: Reason | None, radius_threshold: int
) -> tuple[Label, Reason, int]:
    """Return label, reason and R_max (equations 28 and 29).

    Parameters
    ----------
    features
        Every component; those that were rejected have the radius 0.
    failed
        The rule of pre-selection that the frame failed, if any; R_max is then 0.
    radius_threshold
        R_P.
    """
    if failed:
        return "normal", failed, 0
    radius_max = max((feature.radius for feature in features), default=0)
    if radius_max == 0:
        return "normal", "no-feature", 0
    if radius_max < radius_threshold:
        return "normal", "radius-low", radius_max
    return "polyp", "polyp", radius_max
