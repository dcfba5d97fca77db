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

__all__ = ["Components", "eccentricity", "rejection"]

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


class Components:
    """The connected components of u >= Theta, and their balls, each fitted when it is needed.

    A ball does not depend on the rules: what one call of :meth:`features` fitted, the next finds.

    Parameters
    ----------
    midpass
        u, zero outside the mask. It must not change as long as this lives.
    threshold
        Theta.
    radius_search
        The largest radius that the ball search tries.
    labels
        Where to write the number of the component at each pixel: int32, zero everywhere.
    """

    __slots__ = ("_features", "_midpass", "_moments", "_radius_search")

    def __init__(
        self,
        midpass: NDArray[np.float32],
        threshold: float,
        *,
        radius_search: int,
        labels: NDArray[Any] = _NO_LABELS,
    ) -> None:
        theta = np.float32(threshold)
        if float(theta) < threshold:  # the least float32 that is not below Theta
            theta = np.nextafter(theta, np.float32(np.inf))
        self._midpass = midpass
        self._radius_search = radius_search
        self._moments = [
            (*moments, eccentricity(*moments[3:6]))
            for moments in kernels.components(midpass, theta, labels).tolist()
        ]
        self._features: dict[tuple[int, Rejection], Feature] = {}

    def features(
        self, *, size_low: int, size_high: int, eccentricity_max: float
    ) -> tuple[Feature, ...]:
        """Return every component as a feature, with its ball where it passes the rules.

        Parameters
        ----------
        size_low, size_high, eccentricity_max
            S_L, S_U and E_max, all inclusive.
        """
        features: list[Feature] = []
        for number, moments in enumerate(self._moments, 1):
            rejected = rejection(
                int(moments[0]),
                moments[-1],
                size_low=size_low,
                size_high=size_high,
                eccentricity_max=eccentricity_max,
            )
            feature = self._features.get((number, rejected))
            if feature is None:
                feature = self._features[number, rejected] = self._feature(number, rejected)
            features.append(feature)
        return tuple(features)

    def _feature(self, number: int, rejected: Rejection) -> Feature:
        size, row, col, rr, rc, cc, ball_row, ball_col, stretch = self._moments[number - 1]
        radius = 0
        if not rejected:
            radius = best_ball_radius(
                self._midpass, ball_row, ball_col, largest=self._radius_search
            )
        return Feature(
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
