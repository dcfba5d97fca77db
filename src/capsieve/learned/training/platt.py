"""From logits to probabilities that mean what they say."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.logistic import fit_logistic, sigmoid

__all__ = ["LEAST_SLOPE", "Platt", "fit_platt"]

LEAST_SLOPE = 1e-3
"""Per deviation of the logits: a calibration never turns the order of frames round."""


@dataclass(frozen=True, slots=True)
class Platt:
    """The calibrated logit is ``slope * logit + intercept``; `slope` is positive."""

    slope: float
    intercept: float

    def logits(self, logits: ArrayLike) -> NDArray[np.float64]:
        """Return calibrated logits."""
        return self.slope * np.asarray(logits, dtype=np.float64) + self.intercept

    def probabilities(self, logits: ArrayLike) -> NDArray[np.float64]:
        """Return calibrated probabilities."""
        return sigmoid(self.logits(logits))


def fit_platt(logits: ArrayLike, polyp: ArrayLike, weights: ArrayLike | None = None) -> Platt:
    """Fit P(polyp | logit) = 1 / (1 + exp(-(A logit + B))) by maximum likelihood [1]_.

    The logits must come from frames that the model did not learn from: on its own training frames
    a model is too sure. The targets are those of [2]_, (n+ + 1) / (n+ + 2) for polyps and
    1 / (n- + 2) for the others, where n counts frames: they keep the fit finite where the
    classes do not overlap.

    Parameters
    ----------
    logits, polyp
        One per frame; `polyp` tells whether it shows one.
    weights
        How much each frame counts. The probabilities are those of a frame drawn with these
        weights: with balanced weights 0.5 is where a polyp is as likely as not, if as many polyp
        frames were shown as others. Frames of weight 0 are left out.

    Returns
    -------
    Platt
        Where the logits are no better than chance the least slope is taken, so that the order of
        the frames stays.

    Raises
    ------
    ParameterError
        Only one class, or logits that are not numbers.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin
       Classifiers, 61-74, MIT Press, 1999.
    .. [2] H.-T. Lin, C.-J. Lin, R. C. Weng, "A note on Platt's probabilistic outputs for support
       vector machines", Machine Learning 68, 267-276, 2007.
    """
    z = np.asarray(logits, dtype=np.float64)
    shown = np.asarray(polyp, dtype=bool)
    w = np.ones(len(z)) if weights is None else np.asarray(weights, dtype=np.float64)
    z, shown, w = z[w > 0], shown[w > 0], w[w > 0]
    positives = np.count_nonzero(shown)
    negatives = len(shown) - positives
    if not positives or not negatives:
        raise ParameterError("labels", "calibration needs frames with and without a polyp")
    targets = np.where(shown, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    centre = float(np.average(z, weights=w))
    spread = float(np.sqrt(np.average((z - centre) ** 2, weights=w))) or 1.0
    scaled = ((z - centre) / spread)[:, None]
    slopes, intercept = fit_logistic(
        scaled, targets, w, ridge=np.zeros(1), least=np.array([LEAST_SLOPE])
    )
    slope = float(slopes[0]) / spread
    return Platt(slope, intercept - slope * centre)
