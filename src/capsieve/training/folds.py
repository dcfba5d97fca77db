"""Fits that never saw the frames that they score: folds, weights, calibration.

Every fold is scored by a fit on the other folds. The scores of a fold are then calibrated by the
scores of the others, so that no frame influences its own probability.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit

from capsieve.errors import FileError, ParameterError
from capsieve.frame_table import NORMAL, OTHER, POLYP
from capsieve.training.data import FrameSet
from capsieve.training.store import Store

if TYPE_CHECKING:
    from onnx import ModelProto

Rows = NDArray[np.int64]
StepListener = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is."""
Fit = Callable[[Rows, StepListener], "ModelProto"]
"""Takes the rows to learn from, and returns an ONNX graph. The same rows give the same bits."""

OTHER_SHARE = 0.125
"""Share of the weight of negatives that frames with other findings have.

It is small because they resemble polyps more than normal frames do: a model that must separate
polyps from them above all separates polyps from normal frames less well.
"""

_NO_WINDOWS = np.empty(0, np.int64)
_LEAST = {"frames": 100, "polyps": 5, "groups": 4}  # less teaches nothing about other exams
_LEAST_SLOPE = 1e-3  # per standard deviation: a calibration keeps the order of the frames
_LEAST_PROBABILITY = 1e-12  # scores of 0 are frames that a detector rejected


def learnable(frames: FrameSet, rows: Rows) -> NDArray[np.bool_]:
    """Return which rows a model may learn from.

    Those of sources that have both polyps and negatives among the rows. Frames of another source
    would teach what the source looks like.
    """
    truth, source = frames.truth[rows], frames.source[rows]
    polyp = truth == POLYP
    return np.isin(source, np.intersect1d(source[polyp], source[~polyp]))


def check_rows(frames: FrameSet, rows: Rows) -> Rows:
    """Return the rows to learn from.

    Raises
    ------
    ParameterError
        There are too few frames, polyps or groups, or no source has both polyps and negatives.
    """
    rows = rows[learnable(frames, rows)]
    if not len(rows):
        raise ParameterError(
            "labels", "no source has both polyp frames and frames without a polyp to learn from"
        )
    named = frames.labelled.polyp.code[rows[frames.truth[rows] == POLYP]]
    counts = {
        "frames": len(rows),
        "polyps": len(np.unique(named[named >= 0])) + np.count_nonzero(named < 0),
        "groups": len(np.unique(frames.labelled.group.code[rows])),
    }
    for what, count in counts.items():
        if count < _LEAST[what]:
            raise ParameterError(
                "labels",
                f"{count} {what} in sources with polyps are too few to learn from; label more",
            )
    return rows


def balanced_weights(frames: FrameSet, rows: Rows) -> NDArray[np.float64]:
    """Return one weight per row; the mean over the learnable rows is 1, the others have 0.

    Within each source polyps and negatives have the same total weight. Of n frames of a polyp each
    has the weight 1 / sqrt(n): with 1 a few long sequences would dominate, with 1 / n their
    different views would hardly count. Of the weight of negatives, other findings have
    :data:`OTHER_SHARE`; if a source has only one of the two kinds, that one has all.
    """
    truth, source, polyp = frames.truth[rows], frames.source[rows], frames.labelled.polyp.code[rows]
    named = (truth == POLYP) & (polyp >= 0)
    count = np.bincount(polyp[named], minlength=len(frames.labelled.polyp.names) + 1)
    weights = (truth == POLYP).astype(np.float64)
    weights[named] = 1 / np.sqrt(count[polyp[named]])
    use = learnable(frames, rows)
    weights[~use] = 0.0
    for code in np.unique(source[use]):
        here = use & (source == code)
        total = weights[here].sum()
        normal, other = here & (truth == NORMAL), here & (truth == OTHER)
        share = OTHER_SHARE if normal.any() and other.any() else float(other.any())
        for kind, part in ((normal, 1 - share), (other, share)):
            if kind.any():
                weights[kind] = total * part / np.count_nonzero(kind)
    return weights * (np.count_nonzero(use) / weights.sum())


def out_of_fold_logits(
    frames: FrameSet,
    scorable: NDArray[np.bool_],
    fit: Fit,
    score: Callable[["ModelProto", Rows], NDArray[np.float64]],
    *,
    store: Store,
    progress: StepListener,
    window_fold: NDArray[np.int64] = _NO_WINDOWS,
) -> NDArray[np.float64]:
    """Return the logit of every frame and window from the fit that saw nothing of its fold.

    Parameters
    ----------
    frames
        All frames, with folds.
    scorable
        Frames that the model can take; the others get NaN.
    fit, score
        Returns a graph that learned from the given rows; returns the logits of rows.
    store
        Keeps the logits of finished folds; everything that determines them is part of its key.
    progress
        Called with the progress.
    window_fold
        The folds of windows, whose rows follow those of the frames.

    Raises
    ------
    FileError
        A model gave no number for a frame, or the folder cannot be written.
    """
    folds = np.concatenate([np.where(scorable, frames.fold, -1), window_fold])
    groups = frames.labelled.group.code
    logits = np.full(len(folds), np.nan)
    for code, name in enumerate(frames.labelled.part.names):
        held = np.flatnonzero(folds == code)
        of_fold = store.read(f"fold-{code + 1}", np.float64, held.shape)
        if of_fold is None:
            fold = f"Fold {name} ({code + 1} of {len(frames.labelled.part.names)})"
            # A group is in one fold, unless the user allowed leaks.
            of_held = np.isin(groups, groups[held[held < len(frames)]])
            new = scorable & (frames.fold != code) & ~of_held
            windows = len(frames) + np.flatnonzero(window_fold != code)
            rows = np.concatenate([check_rows(frames, np.flatnonzero(new)), windows])
            of_fold = score(fit(rows, _prefixed(progress, fold)), held)
            if not np.isfinite(of_fold).all():
                raise FileError(f"the model of fold {name} gave no number for some frames")
            store.write(f"fold-{code + 1}", of_fold, durable=True)
        logits[held] = of_fold
    return logits


def _prefixed(progress: StepListener, prefix: str) -> StepListener:
    return lambda step, done, total: progress(f"{prefix}: {step}", done, total)


class Platt(NamedTuple):
    """Platt's calibration: the calibrated logit is slope * logit + intercept, with slope > 0."""

    slope: float
    intercept: float

    def probability(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated probabilities."""
        return expit(self.slope * logits + self.intercept)


class Calibrated(NamedTuple):
    """Out-of-fold probabilities (NaN without a logit), and the calibration of the final model."""

    probability: NDArray[np.float64]
    final: Platt


def calibrate_logits(frames: FrameSet, logits: NDArray[np.float64]) -> Calibrated:
    """Calibrate out-of-fold logits: each fold by the others, the final model by all.

    Frames are weighted by :func:`balanced_weights`, so a probability is that of a frame from a
    mixture in which half of the frames show a polyp.
    """
    known = np.isfinite(logits)
    probability = np.full(len(frames), np.nan)
    for code in range(len(frames.labelled.part.names)):
        here = (frames.fold == code) & known
        platt = _fit_rows(frames, logits, np.flatnonzero((frames.fold != code) & known))
        probability[here] = np.maximum(platt.probability(logits[here]), _LEAST_PROBABILITY)
    return Calibrated(probability, _fit_rows(frames, logits, np.flatnonzero(known)))


def _fit_rows(frames: FrameSet, logits: NDArray[np.float64], rows: Rows) -> Platt:
    weights = balanced_weights(frames, rows)
    return fit_platt(logits[rows], frames.truth[rows] == POLYP, weights)


def fit_platt(logits: ArrayLike, polyp: ArrayLike, weights: ArrayLike | None = None) -> Platt:
    """Fit P(polyp | logit) = 1 / (1 + exp(-(a logit + b))) by maximum likelihood [1]_.

    The targets are those of [2]_, (n+ + 1) / (n+ + 2) for polyps and 1 / (n- + 2) for others, so
    the fit is finite if the classes do not overlap.

    Parameters
    ----------
    logits, polyp
        Of frames that the model did not learn from, and whether they show a polyp.
    weights
        Frames with the weight 0 are not used.

    Raises
    ------
    ParameterError
        There is only one class, or a logit is not a number.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin
       Classifiers, 61-74, MIT Press, 1999.
    .. [2] H.-T. Lin, C.-J. Lin, R. C. Weng, "A note on Platt's probabilistic outputs for support
       vector machines", Machine Learning 68, 267-276, 2007.
    """
    z, is_polyp = np.asarray(logits, np.float64), np.asarray(polyp, np.bool_)
    w = np.ones(len(z)) if weights is None else np.asarray(weights, np.float64)
    z, is_polyp, w = z[w > 0], is_polyp[w > 0], w[w > 0]
    positives, negatives = np.count_nonzero(is_polyp), np.count_nonzero(~is_polyp)
    if not positives or not negatives:
        raise ParameterError("labels", "calibration needs frames with and without a polyp")
    if not np.isfinite(z).all():
        raise ParameterError("logits", "some are not numbers")
    w = w / w.sum()
    targets = np.where(is_polyp, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    centre = float(w @ z)
    spread = float(np.sqrt(w @ (z - centre) ** 2)) or 1.0
    scaled = (z - centre) / spread

    def loss(at: NDArray[np.float64]) -> tuple[float, NDArray[Any]]:
        value = at[0] * scaled + at[1]
        entropy = w @ (np.logaddexp(0.0, value) - targets * value)
        slope = w * (expit(value) - targets)
        return float(entropy), np.array([slope @ scaled, slope.sum()])

    minimum = minimize(
        loss,
        np.array([1.0, 0.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(_LEAST_SLOPE, None), (None, None)],
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
    )
    slope = float(minimum.x[0]) / spread
    return Platt(slope, float(minimum.x[1]) - slope * centre)
