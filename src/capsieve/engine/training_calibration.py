"""From the logits of a model to calibrated probabilities.

The scale of a model's logits is its own. Platt's method fits a logistic curve to logits of frames
that the model did not learn from. The out-of-fold probabilities are cross-fitted: the curve of a
fold is fitted without that fold.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.folds import CrossFit, align_folds
from capsieve.learned.training.platt import fit_platt
from capsieve.statistics.judged import POLYP

__all__ = ["Calibration", "calibrate_logits"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Calibrated out-of-fold probabilities, and the curve of the final model.

    Attributes
    ----------
    probability
        Out of fold, one per example.
    slope, intercept
        The calibrated logit is ``slope * logit + intercept``.
    nested
        Whether the curve of a fold comes from models that saw nothing of it. The thresholds of the
        reported figures are chosen on the scores of the other folds, whose models have seen it.
    """

    probability: Floats
    slope: float
    intercept: float
    nested: bool


def calibrate_logits(fit: CrossFit, examples: Examples, part: NDArray[np.int16]) -> Calibration:
    """Calibrate out-of-fold logits.

    Frames are weighted as in training: the probability is that of a frame drawn as often with a
    polyp as without, see :func:`~capsieve.learned.training.balance.balanced_weights`.

    Parameters
    ----------
    fit
        The out-of-fold logits.
    examples, part
        What the frames show, and their folds, 0 to K - 1.
    """
    nested = fit.inner is not None
    weights = balanced_weights(examples, np.arange(len(examples)))
    platt = fit_platt(fit.logits, examples.truth == POLYP, weights)
    aligned = align_folds(fit, examples, part)[0] if nested else _by_others(fit, examples, part)
    return Calibration(_sigmoid(aligned), platt.slope, platt.intercept, nested)


def _by_others(fit: CrossFit, examples: Examples, part: NDArray[np.int16]) -> Floats:
    """Calibrate each fold by the logits of the others."""
    calibrated = np.full(len(fit.logits), np.nan)
    for fold in np.unique(part).tolist():
        rows, here = np.flatnonzero(part != fold), part == fold
        weights = balanced_weights(examples, rows)
        platt = fit_platt(fit.logits[rows], examples.truth[rows] == POLYP, weights)
        calibrated[here] = platt.logits(fit.logits[here])
    return calibrated


def _sigmoid(logits: Floats) -> Floats:
    # Never 0: a score of 0 would be a frame that was rejected before it was measured.
    return np.maximum(1 / (1 + np.exp(-np.clip(logits, -60, 60))), 1e-12)
