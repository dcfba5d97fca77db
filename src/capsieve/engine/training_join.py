"""From the logits of one model, or of several, to calibrated probabilities.

A model gives logits. Their scale is its own, so they are calibrated: a logistic curve through
logits of frames that the model did not learn from. Several models are joined by a few weights
first. Both are cross-fitted: what a fold is calibrated and joined by was learned from the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.training_folds import OutOfFold
from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.folds import align_folds
from capsieve.learned.training.fusion import cross_fitted_fusion, fit_fusion
from capsieve.learned.training.platt import Platt, fit_platt
from capsieve.statistics.judged import POLYP

__all__ = ["Joined", "join"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Models as one.

    Attributes
    ----------
    probability
        Out of fold, one per example.
    weights, intercept
        The calibrated logit is the weighted sum of the models' logits, and the intercept.
    nested
        Whether the few numbers by which a fold is calibrated and joined come from models that saw
        nothing of it. The thresholds that figures are told at are chosen on the other folds'
        scores, whose models have.
    """

    probability: Floats
    weights: tuple[float, ...]
    intercept: float
    nested: bool


def join(found: Sequence[OutOfFold], examples: Examples, part: NDArray[np.int16]) -> Joined:
    """Calibrate one model, or join several and calibrate them together.

    Frames are weighted as in training: the probability is that of a frame drawn as often with a
    polyp as without, see :func:`~capsieve.learned.training.balance.balanced_weights`.

    Parameters
    ----------
    found
        What each model says out of fold.
    examples, part
        What the frames show, and their folds, 0 to K - 1.
    """
    nested = all(each.fit.inner is not None for each in found)
    every = np.arange(len(examples))
    weights, truth = balanced_weights(examples, every), examples.truth
    if len(found) == 1:
        fit = found[0].fit
        aligned = align_folds(fit, examples, part)[0] if nested else None
        platt = fit_platt(fit.logits, truth == POLYP, weights)
        if aligned is None:
            aligned = _by_the_others(fit.logits, examples, part)
        return Joined(_sigmoid(aligned), (platt.slope,), platt.intercept, nested)
    logits = np.stack([each.fit.logits for each in found], axis=1)
    inner = None
    if nested:
        inner = np.stack([_inner(each) for each in found], axis=2)
    crossed = cross_fitted_fusion(logits, examples, part, inner=inner)
    fusion = fit_fusion(logits, truth, weights)
    platt = fit_platt(crossed.logits, truth == POLYP, weights)
    seen = None
    if inner is not None:
        seen = {fold: each.logits(inner[:, fold]) for fold, each in crossed.fusions.items()}
    return Joined(
        probability=_sigmoid(_by_the_others(crossed.logits, examples, part, seen)),
        weights=tuple((platt.slope * fusion.weights).tolist()),
        intercept=platt.slope * fusion.intercept + platt.intercept,
        nested=nested,
    )


def _by_the_others(
    logits: Floats,
    examples: Examples,
    part: NDArray[np.int16],
    seen: Mapping[int, Floats] | None = None,
) -> Floats:
    """Calibrate each fold by the logits of the others.

    Parameters
    ----------
    seen
        For each fold the logits by models that saw nothing of it, where there are such.
    """
    calibrated = np.full(len(logits), np.nan)
    for fold in np.unique(part).tolist():
        rows = np.flatnonzero(part != fold)
        known = logits if seen is None else seen[fold]
        platt: Platt = fit_platt(
            known[rows], examples.truth[rows] == POLYP, balanced_weights(examples, rows)
        )
        here = part == fold
        calibrated[here] = platt.logits(logits[here])
    return calibrated


def _inner(found: OutOfFold) -> Floats:
    assert found.fit.inner is not None
    return found.fit.inner


def _sigmoid(logits: Floats) -> Floats:
    # Never 0: a score of 0 would be a frame that was rejected before it was measured.
    return np.maximum(1 / (1 + np.exp(-np.clip(logits, -60, 60))), 1e-12)
