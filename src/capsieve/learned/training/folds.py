"""Logits of frames by models that did not learn from them, on one scale over all folds.

Each fold has a model of its own, and their logits need not mean the same. To judge all folds
together they must be put on one scale, and no frame may have a say in its own. The mean and
spread of a fold's own logits would be easy to take and wrong: a fold with many polyps has a higher
mean, which would then be taken away, and no model in use knows the exams that are still to come.
So the scale of fold k is a calibration (Platt) that is learned on the training part of fold k
alone: on frames of the other folds, each scored by a model that saw neither its own fold nor
fold k. One model without folds j and k serves both, so K folds need K (K - 1) / 2 more fits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.platt import Platt, fit_platt
from capsieve.statistics.judged import POLYP

__all__ = ["CrossFit", "align_folds"]


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """Logits by models that did not learn from the frame.

    Attributes
    ----------
    logits
        N: by the model that learned from all other folds; NaN for frames in no fold.
    inner
        N x K: column k by a model that saw neither the frame's fold nor fold k; NaN in the
        frame's own fold. None where it was not asked for.
    """

    logits: NDArray[np.float64]
    inner: NDArray[np.float64] | None


def align_folds(
    fit: CrossFit, examples: Examples, part: NDArray[np.integer]
) -> tuple[NDArray[np.float64], dict[int, Platt]]:
    """Return the logits of all folds on one scale, and the calibration of each fold.

    The calibrations keep the order of the frames within a fold. They are balanced as the training
    is, see :func:`capsieve.learned.training.balance.balanced_weights`.

    Raises
    ------
    ParameterError
        The fit was not nested.
    """
    if fit.inner is None:
        raise ParameterError("nested", "folds are put on one scale by a nested fit only")
    aligned = np.full(len(examples), np.nan)
    maps: dict[int, Platt] = {}
    for fold in range(fit.inner.shape[1]):
        rows = np.flatnonzero((part >= 0) & (part != fold))
        weights = balanced_weights(examples, rows)
        maps[fold] = fit_platt(fit.inner[rows, fold], examples.truth[rows] == POLYP, weights)
        here = part == fold
        aligned[here] = maps[fold].logits(fit.logits[here])
    return aligned, maps
