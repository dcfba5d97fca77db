"""The ellipse of inertia, to be drawn over a feature (section III-D, equation 20)."""

import math

import numpy as np
from numpy.typing import NDArray

from capsieve.results import Feature


def inertia_ellipse(
    feature: Feature, *, points: int = 129
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the outline of a feature's ellipse of inertia.

    With the tensor of inertia I = sum [[y^2, -x y], [-x y, x^2]] the curve is

        r(theta) = sqrt(S * lambda_max * lambda_min / pi) * I^-1 (cos theta, sin theta) + centre

    The scale gives it the area S of the feature. The paper prints I instead of I^-1, which
    would draw the ellipse across the feature instead of along it. The axes are in the ratio E (not
    its square root, as for an ellipse with the feature's own moments): a long fold gets an ellipse
    much longer than itself.

    Parameters
    ----------
    feature
        Its size, centre of mass and central second moments are used.
    points
        How many points; the last one closes the curve. An odd number holds both tips of a segment.

    Returns
    -------
    rows, cols
        The curve in working pixels. A point or a line of pixels has no ellipse: the curve is then
        the segment that those pixels cover.
    """
    theta = np.linspace(0.0, 2.0 * math.pi, points)
    cos, sin = np.cos(theta), np.sin(theta)
    rr, rc, cc = feature.moment_rr, feature.moment_rc, feature.moment_cc
    determinant = rr * cc - rc * rc
    if math.isinf(feature.eccentricity) or determinant <= 0:
        # n pixels in a line have the moment n (n^2 - 1) / 12 and cover n / 2 each way.
        half_length = math.sqrt(3.0 * (rr + cc) / feature.size + 0.25)
        direction = 0.5 * math.atan2(2.0 * rc, cc - rr)
        return (
            feature.row + half_length * math.sin(direction) * cos,
            feature.col + half_length * math.cos(direction) * cos,
        )
    # det(I) * I^-1 is the matrix of second moments itself.
    scale = math.sqrt(feature.size / (math.pi * determinant))
    return (
        feature.row + scale * (rc * cos + rr * sin),
        feature.col + scale * (cc * cos + rc * sin),
    )
