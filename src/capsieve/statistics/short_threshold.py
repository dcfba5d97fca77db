"""A threshold in few digits that flags the same frames."""

from decimal import ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["short_threshold"]

_FEWEST = 2
_MOST = 17  # digits that tell any two floats apart


def short_threshold(threshold: float, scores: ArrayLike) -> float:
    """Cut a threshold to the fewest digits that flag the same scores.

    A threshold that is itself a score hangs on that score's last digit. A little lower it does
    not, and it is easier to read.

    Parameters
    ----------
    threshold
        Positive.
    scores
        Of all frames; NaN flags nothing.

    Returns
    -------
    float
        Above the highest score that is below the threshold, and at most the threshold.

    Examples
    --------
    >>> short_threshold(0.4837123, [0.1, 0.4801, 0.4837123, 0.9])
    0.483
    """
    values = np.asarray(scores, dtype=np.float64)
    below = float(np.max(values[values < threshold], initial=0.0))
    exact = Decimal(threshold)
    for digits in range(_FEWEST, _MOST):
        unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
        # The nearest float to a decimal between two floats lies between them as well.
        short = float((exact / unit).to_integral_value(ROUND_FLOOR) * unit)
        if below < short <= threshold:
            return short
    return threshold
