"""Stacking: several models and the paper's evidence joined by a few weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.logistic import fit_logistic
from capsieve.statistics.judged import POLYP

__all__ = ["RIDGE", "CrossFusion", "Fusion", "cross_fitted_fusion", "fit_fusion"]

RIDGE = 0.03


@dataclass(frozen=True, slots=True, eq=False)
class Fusion:
    """The joined logit is ``logits @ weights + intercept``."""

    weights: NDArray[np.float64]
    intercept: float

    def logits(self, logits: ArrayLike) -> NDArray[np.float64]:
        """Return one logit per row."""
        return np.asarray(logits, dtype=np.float64) @ self.weights + self.intercept


@dataclass(frozen=True, slots=True, eq=False)
class CrossFusion:
    """What each fold gets from weights that were learned on the other folds.

    Attributes
    ----------
    logits
        One per frame; NaN for frames in no fold.
    fusions
        By fold.
    """

    logits: NDArray[np.float64]
    fusions: dict[int, Fusion]


def fit_fusion(
    logits: NDArray[np.float64],
    truth: NDArray[np.int8],
    weights: NDArray[np.float64],
    *,
    ridge: float = RIDGE,
    signed: Sequence[bool] | None = None,
) -> Fusion:
    """Learn a logistic combination of the columns of `logits`.

    Each column is divided by its spread before the ridge applies, so that a model is not favoured
    for the unit of its logits. Weights are not negative: a model that would get a negative one
    only tells the fusion about the errors of another, which does not carry over to other exams.

    Parameters
    ----------
    logits
        N x M, one column per model or piece of evidence, of frames that the models did not learn
        from.
    truth, weights
        What each frame shows, and how much it counts; see
        :func:`capsieve.learned.training.balance.balanced_weights`. Frames of weight 0 are left
        out.
    ridge
        On the weights of the standardised columns, beside the mean cross entropy.
    signed
        Columns whose weight may be negative: evidence of which nobody knows which way it points.

    Raises
    ------
    ParameterError
        Only one class, shapes that do not fit, or logits that are not numbers.

    References
    ----------
    D. H. Wolpert, "Stacked generalization", Neural Networks 5(2), 241-259, 1992.
    L. Breiman, "Stacked regressions", Machine Learning 24, 49-64, 1996: why not negative.
    """
    logits = np.asarray(logits, dtype=np.float64)
    if logits.ndim != 2 or not len(logits) == len(truth) == len(weights):
        raise ParameterError("logits", "one row per frame and one column per model are needed")
    free = np.zeros(logits.shape[1], dtype=bool) if signed is None else np.array(signed, dtype=bool)
    used = weights > 0
    inputs, share = logits[used], weights[used]
    targets = (truth[used] == POLYP).astype(np.float64)
    if not 0 < targets.sum() < len(targets):
        raise ParameterError("labels", "a fusion needs frames with and without a polyp")
    centre = np.average(inputs, axis=0, weights=share)
    spread = np.sqrt(np.average((inputs - centre) ** 2, axis=0, weights=share))
    spread = np.where(spread > 0, spread, 1.0)
    found, intercept = fit_logistic(
        (inputs - centre) / spread,
        targets,
        share,
        ridge=np.full(len(free), ridge),
        least=np.where(free, -np.inf, 0.0),
    )
    found = found / spread
    return Fusion(found, intercept - float(found @ centre))


def cross_fitted_fusion(
    logits: NDArray[np.float64],
    examples: Examples,
    part: NDArray[np.integer],
    *,
    ridge: float = RIDGE,
    signed: Sequence[bool] | None = None,
    inner: NDArray[np.float64] | None = None,
) -> CrossFusion:
    """Join out-of-fold logits; each fold gets weights that were learned on the other folds.

    Parameters
    ----------
    logits
        N x M: the logits of each frame by models that learned from the other folds.
    examples, part
        What the frames show, and the fold of each; -1 for frames in none.
    inner
        N x K x M: ``inner[i, k]`` are the logits of frame i by models that saw neither its own
        fold nor fold k, see :func:`capsieve.learned.training.folds.cross_fit`. With them nothing
        that a fold is judged by has seen it. Without them the weights for fold k are learned on
        logits of models that did learn from fold k, as usual in stacking: its labels reach the
        few weights by that way alone, and the joined logits may be a little too good.
    """
    logits = np.asarray(logits, dtype=np.float64)
    joined = np.full(len(logits), np.nan)
    fusions: dict[int, Fusion] = {}
    for fold in np.unique(part[part >= 0]).tolist():
        rows = np.flatnonzero((part >= 0) & (part != fold))
        seen = logits[rows] if inner is None else inner[rows, fold]
        weights = balanced_weights(examples, rows)
        fusion = fit_fusion(seen, examples.truth[rows], weights, ridge=ridge, signed=signed)
        here = part == fold
        joined[here] = fusion.logits(logits[here])
        fusions[fold] = fusion
    return CrossFusion(joined, fusions)
