"""Stacking: several models and the paper's evidence joined by a few weights."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import POLYP

__all__ = ["CrossFusion", "Fusion", "cross_fitted_fusion", "fit_fusion", "upper_area"]

MOST_FALSE = 0.5
"""Share of false positives up to which a joined score is judged: nobody works beyond."""
_SHARES = np.linspace(0, 1, 21)


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
    logits: NDArray[np.float64], truth: NDArray[np.int8], weights: NDArray[np.float64]
) -> Fusion:
    """Learn how much the other columns of `logits` add to the best one.

    Each column is divided by its spread. The column of the largest :func:`upper_area` leads, and
    the mean of the others is added with the one share of 0 to 1 that makes the area of the sum
    largest. One number is all that is learned: with a few hundred polyps, weights of their own for
    each model tell more of the frames at hand than of the models. A fit of the likelihood, the
    usual way to stack, asks how right the probabilities are everywhere, and so favours models
    that are good in the middle; a sieve works where false positives are few.

    Parameters
    ----------
    logits
        N x M, one column per model or piece of evidence, of frames that the models did not learn
        from.
    truth, weights
        What each frame shows, and how much it counts; see
        :func:`capsieve.learned.training.balance.balanced_weights`. Frames of weight 0 are left
        out.

    Raises
    ------
    ParameterError
        Only one class, shapes that do not fit, or logits that are not numbers.

    References
    ----------
    D. H. Wolpert, "Stacked generalization", Neural Networks 5(2), 241-259, 1992.
    """
    logits = np.asarray(logits, dtype=np.float64)
    if logits.ndim != 2 or not len(logits) == len(truth) == len(weights):
        raise ParameterError("logits", "one row per frame and one column per model are needed")
    used = weights > 0
    inputs, share, polyp = logits[used], weights[used], truth[used] == POLYP
    if not np.isfinite(inputs).all():
        raise ParameterError("logits", "some are not numbers")
    if polyp.all() or not polyp.any():
        raise ParameterError("labels", "a fusion needs frames with and without a polyp")
    centre = np.average(inputs, axis=0, weights=share)
    spread = np.sqrt(np.average((inputs - centre) ** 2, axis=0, weights=share))
    spread = np.where(spread > 0, spread, 1.0)
    inputs = (inputs - centre) / spread
    lead = int(np.argmax([upper_area(column, polyp, share) for column in inputs.T]))
    found = np.zeros(inputs.shape[1])
    found[lead] = 1.0
    others = np.arange(len(found)) != lead
    if others.any():
        rest = inputs[:, others].mean(axis=1)
        areas = [upper_area(inputs[:, lead] + added * rest, polyp, share) for added in _SHARES]
        found[others] = _SHARES[int(np.argmax(areas))] / others.sum()
    found = found / spread
    return Fusion(found, -float(found @ centre))


def upper_area(
    score: NDArray[np.float64], polyp: NDArray[np.bool_], weights: NDArray[np.float64]
) -> float:
    """Return the area under the ROC curve up to :data:`MOST_FALSE`, divided by its largest value.

    Ties count half, as ever.
    """
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)  # of each run of equal scores

    def rates(kind: NDArray[np.bool_]) -> NDArray[np.float64]:
        found = np.cumsum(np.where(kind, weights, 0.0)[order])
        return np.append(0.0, found[last] / found[-1])

    true, false = rates(polyp), rates(~polyp)
    within = false <= MOST_FALSE
    false_part = np.append(false[within], MOST_FALSE)
    true_part = np.append(true[within], np.interp(MOST_FALSE, false, true))
    return float(np.trapezoid(true_part, false_part)) / MOST_FALSE


def cross_fitted_fusion(
    logits: NDArray[np.float64],
    examples: Examples,
    part: NDArray[np.integer],
    *,
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
        fold nor fold k, see :class:`capsieve.learned.training.folds.CrossFit`. With them nothing
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
        fusion = fit_fusion(seen, examples.truth[rows], weights)
        here = part == fold
        joined[here] = fusion.logits(logits[here])
        fusions[fold] = fusion
    return CrossFusion(joined, fusions)
