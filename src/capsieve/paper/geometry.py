r"""Features: size, centre of mass, tensor of inertia, eccentricity, and the rules on them.

The eccentricity is :math:`E = \lambda_{max} / \lambda_{min}` of the tensor of inertia

.. math:: I = \sum \begin{bmatrix} \hat y^2 & -\hat x \hat y \\ -\hat x \hat y & \hat x^2
    \end{bmatrix}

over the feature's own pixels (equations 18 and 19). It passes if :math:`S_L \le S \le S_U` and
:math:`E \le E_{max}`: the sets K_S, K_E and their meet K_G.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.ball import best_ball_radius
from capsieve.paper.kernels import components as kernels
from capsieve.results import Feature, Rejection

__all__ = ["eccentricity", "find_features", "rejection"]

_DEGENERATE = 1e-9
_NO_LABELS = np.zeros((0, 0), np.int32)


def eccentricity(moment_rr: float, moment_rc: float, moment_cc: float) -> float:
    """Return E; infinite for a line or a single pixel, whose tensor is singular."""
    mean = 0.5 * (moment_rr + moment_cc)
    spread = math.hypot(0.5 * (moment_rr - moment_cc), moment_rc)
    largest = mean + spread
    # The product of the eigenvalues is the determinant: mean - spread would lose digits.
    determinant = moment_rr * moment_cc - moment_rc * moment_rc
    smallest = determinant / largest if largest > 0.0 else 0.0
    return math.inf if smallest <= _DEGENERATE * largest else largest / smallest


def rejection(
    size: int, eccentricity: float, *, size_low: int, size_high: int, eccentricity_max: float
) -> Rejection:
    """Return the rule at which a feature falls, or "" for a feature of K_G."""
    if size < size_low:
        return "size-low"
    if size > size_high:
        return "size-high"
    return "eccentricity" if eccentricity > eccentricity_max else ""


def find_features(
    midpass: NDArray[np.float32],
    threshold: float,
    *,
    size_low: int,
    size_high: int,
    eccentricity_max: float,
    radius_search: int,
    labels: NDArray[Any] = _NO_LABELS,
) -> tuple[Feature, ...]:
    """Return every connected component of u >= Theta, with its ball where it passes the rules.

    Parameters
    ----------
    midpass
        u, zero outside the mask.
    threshold
        Theta.
    size_low, size_high, eccentricity_max
        S_L, S_U and E_max, all inclusive.
    radius_search
        The largest radius that the ball search tries.
    labels
        Where to write the number of the feature at each pixel: int32, zero everywhere.
    """
    theta = np.float32(threshold)
    if float(theta) < threshold:  # the least float32 that is not below Theta
        theta = np.nextafter(theta, np.float32(np.inf))
    features: list[Feature] = []
    for number, moments in enumerate(kernels.components(midpass, theta, labels).tolist(), 1):
        size, row, col, rr, rc, cc, ball_row, ball_col = moments
        stretch = eccentricity(rr, rc, cc)
        rejected = rejection(
            int(size),
            stretch,
            size_low=size_low,
            size_high=size_high,
            eccentricity_max=eccentricity_max,
        )
        radius = (
            0 if rejected else best_ball_radius(midpass, ball_row, ball_col, largest=radius_search)
        )
        features.append(
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
    return tuple(features)
