"""Areas under a receiver operating characteristic, whole and up to a false positive rate."""

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.curves import RocCurve

__all__ = ["MOST", "area", "mean_rate", "partial_area", "standardised_partial_area"]

MOST = 0.2
"""Up to which false positive rate the partial area reaches: more alarms nobody reads."""


def area(curve: RocCurve) -> float | None:
    """Return the area under the whole curve, AUC.

    From its last point the curve goes on in a straight line to (1, 1). That makes the area the
    chance that a random positive scores higher than a random negative, where rejected frames share
    the score 0 and ties count half (Mann and Whitney). No threshold reaches that last part.

    Returns
    -------
    float or None
        None where a class is empty.
    """
    if not curve.positives or not curve.negatives:
        return None
    false, true = _to_the_corner(curve)
    return float(np.trapezoid(true, false))


def partial_area(curve: RocCurve, most: float = MOST) -> float | None:
    """Return the mean true positive rate over false positive rates from 0 to `most`.

    It is the area under that part of the curve, divided by `most`: 1 for a perfect sieve, most / 2
    for a blind one. Where the curve ends before `most`, its last true positive rate is held: no
    threshold of the sieve reaches a higher one.

    Returns
    -------
    float or None
        None where a class is empty.
    """
    _check(most)
    if not curve.positives or not curve.negatives:
        return None
    return float(mean_rate(curve.false_positive_rate, curve.true_positive_rate, most))


def standardised_partial_area(curve: RocCurve, most: float = MOST) -> float | None:
    """Return the partial area on McClish's scale: 0.5 for a blind sieve, 1 for a perfect one.

        1/2 (1 + (A - most^2 / 2) / (most - most^2 / 2))

    with the area A between 0 and `most`. This is the figure that scikit-learn gives as
    ``roc_auc_score(..., max_fpr=most)``, here for comparison with other reports; like it, and
    unlike :func:`partial_area`, it follows the straight line to (1, 1) where the curve ends early.

    Returns
    -------
    float or None
        None where a class is empty.

    References
    ----------
    D. K. McClish, Med. Decis. Making 9 (1989) 190-195.
    """
    _check(most)
    if not curve.positives or not curve.negatives:
        return None
    false, true = _to_the_corner(curve)
    below = mean_rate(false, true, most) * most
    blind = most * most / 2
    return float((1 + (below - blind) / (most - blind)) / 2)


def mean_rate(
    false: NDArray[np.float64], true: NDArray[np.float64], most: float
) -> NDArray[np.float64]:
    """Return the mean height of curves over 0..most, each a row, held level after its end.

    Both arrays rise along the last axis; the first false positive rate of a row is 0.
    """
    rows = false.reshape(-1, false.shape[-1])
    heights = true.reshape(-1, true.shape[-1])
    # np.interp takes the upper end of a vertical step, and holds the last value after the end.
    at_most = np.array([np.interp(most, x, y) for x, y in zip(rows, heights, strict=True)])
    x = np.minimum(rows, most)
    y = np.where(rows > most, at_most[:, None], heights)
    sums = np.trapezoid(y, x, axis=-1) + (most - x[:, -1]) * at_most
    return (sums / most).reshape(false.shape[:-1])


def _to_the_corner(curve: RocCurve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.append(curve.false_positive_rate, 1.0), np.append(curve.true_positive_rate, 1.0)


def _check(most: float) -> None:
    if not 0 < most <= 1:
        raise ParameterError("most", f"{most} is no false positive rate; give one above 0, up to 1")
