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
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.platt import Platt, fit_platt
from capsieve.learned.training.trainer import Tell, Trainer
from capsieve.statistics.judged import POLYP

__all__ = ["CrossFit", "align_folds", "cross_fit"]


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


def cross_fit(
    trainer: Trainer,
    examples: Examples,
    part: NDArray[np.integer],
    *,
    seed: int,
    folder: Path,
    tell: Tell,
    nested: bool = False,
) -> CrossFit:
    """Fit one model per fold on all other folds, and score the fold.

    Parameters
    ----------
    part
        The fold of each frame, 0 to K - 1; -1 for frames in none.
    folder
        Each fit has a folder of its own in it.
    nested
        Also fit one model per pair of folds on all but these two.

    Raises
    ------
    ParameterError
        A group that stands in two folds, or fewer than two folds (three where nested).
    """
    count = _check_folds(examples, part, least=3 if nested else 2)
    left_out = [(fold,) for fold in range(count)]
    if nested:
        left_out += [(low, high) for high in range(count) for low in range(high)]
    logits = np.full(len(examples), np.nan)
    inner = np.full((len(examples), count), np.nan) if nested else None
    for done, out in enumerate(left_out):
        tell("fitting the folds", done, len(left_out))
        place = folder / ("without-" + "-".join(str(fold) for fold in out))
        place.mkdir(parents=True, exist_ok=True)
        rows = np.flatnonzero((part >= 0) & ~np.isin(part, out))
        fitted = trainer.fit(examples, rows, seed=seed, folder=place, tell=_quiet)
        for fold in out:
            here = np.flatnonzero(part == fold)
            scored = fitted.logits(examples, here)
            if len(out) == 1:
                logits[here] = scored
            elif inner is not None:
                inner[here, sum(out) - fold] = scored
    tell("fitting the folds", len(left_out), len(left_out))
    return CrossFit(logits, inner)


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


def _check_folds(examples: Examples, part: NDArray[np.integer], *, least: int) -> int:
    """Return how many folds there are."""
    folds = np.unique(part[part >= 0])
    if len(folds) < least or not np.array_equal(folds, np.arange(len(folds))):
        raise ParameterError("folds", f"at least {least} are needed, numbered from 0")
    pairs = np.unique(np.stack([examples.group[part >= 0], part[part >= 0]]), axis=1)
    if len(np.unique(pairs[0])) != pairs.shape[1]:
        raise ParameterError("folds", "a group stands in two of them: keep its frames together")
    return len(folds)


def _quiet(what: str, done: int, of: int) -> None:
    """Say nothing: the folds are what is counted."""
