r"""Binary segmentation of u and its connected components.

:math:`s = H(u - \Theta)` with :math:`\Theta = \max(\min(\max u / 2, M_U), M_L)`, equations 10, 11.
Components are 8-connected and numbered column by column, as in the labelling that the paper cites.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.kernels import components as kernels

__all__ = ["label_components", "threshold"]


def threshold(midpass_max: float, *, low: float = 0.11, high: float = 0.16) -> float:
    """Return Theta. With max u below M_L it is M_L, and nothing is segmented."""
    return max(min(0.5 * midpass_max, high), low)


def label_components(segmentation: NDArray[Any]) -> NDArray[np.int32]:
    """Return the number of the component of each pixel, 0 outside of all."""
    plane = np.ascontiguousarray(segmentation, np.float32)
    labels = np.zeros(plane.shape, np.int32)
    kernels.components(plane, np.float32(0.5), labels)
    return labels
