"""Values brought to one scale, so that an odd frame cannot outweigh all others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LIMIT", "Scaling", "robust_scaling"]

LIMIT = 3.0
"""Where scaled values are cut off, in standard deviations of a normal distribution."""
_QUARTILES_APART = 1.3489795  # of a normal distribution with deviation 1


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Takes x to ``clip((x - centre) * factor, -limit, limit)``, one column at a time.

    Attributes
    ----------
    centre, factor
        float32, one per column; the factor of a constant column is 0.
    """

    centre: NDArray[np.float32]
    factor: NDArray[np.float32]
    limit: float = LIMIT

    def __call__(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return scaled values, computed in float32 as the graph does it."""
        values = np.asarray(values, dtype=np.float32)
        limit = np.float32(self.limit)
        return np.clip((values - self.centre) * self.factor, -limit, limit)


def robust_scaling(values: NDArray[np.float32], *, limit: float = LIMIT) -> Scaling:
    """Return the scaling by each column's median and quartiles.

    The deviation is the distance of the quartiles over 1.349. Where they coincide, as for a
    measurement that is 0 in most frames, it is the standard deviation, and the values stay within
    the limit all the same.
    """
    exact = values.astype(np.float64)
    low, centre, high = np.quantile(exact, [0.25, 0.5, 0.75], axis=0)
    spread = (high - low) / _QUARTILES_APART
    spread = np.where(spread > 0, spread, exact.std(axis=0))
    # What rounding alone leaves of a constant column is no spread.
    constant = spread <= 1e-7 * np.abs(centre)
    factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant & (spread > 0))
    largest = float(np.finfo(np.float32).max)
    return Scaling(centre.astype(np.float32), np.minimum(factor, largest).astype(np.float32), limit)
