"""What is done with any plane of a view: smooth it, halve it, take quantiles."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.kernels.order import ranked

__all__ = ["Plane", "blurred", "halved", "quantiles"]

Plane = NDArray[np.float32]


def blurred(plane: Plane, sigma: float, *, out: Plane | None = None) -> Plane:
    """Return a plane, or planes side by side, under a Gaussian; the border is repeated.

    Parameters
    ----------
    plane
        Rows x columns, or rows x columns x channels.
    sigma
        Its standard deviation, in pixels. It is cut at four of them.
    out
        Where to write.
    """
    out = np.empty_like(plane) if out is None else out
    cv2.GaussianBlur(plane, (0, 0), sigma, dst=out, borderType=cv2.BORDER_REPLICATE)
    return out


def quantiles(values: NDArray[Any], *shares: float) -> list[float]:
    """Return quantiles of at least one value, each the nearest value below.

    Parameters
    ----------
    values
        float32.
    shares
        In ascending order.
    """
    ranks = np.array([int(share * (values.size - 1)) for share in shares])
    return ranked(values, ranks).tolist()


def halved(plane: Plane) -> Plane:
    """Return the means over 2 x 2 pixels; an odd last row or column is left out."""
    rows, cols = plane.shape[0] // 2, plane.shape[1] // 2
    even = np.ascontiguousarray(plane[: 2 * rows, : 2 * cols])
    return np.asarray(cv2.resize(even, (cols, rows), interpolation=cv2.INTER_AREA), np.float32)
