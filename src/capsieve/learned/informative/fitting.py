"""Weights from pairs: the frame that shows more shall have the higher chance."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.informative.classifier import SCHEMA, Classifier, ValueWeight, expanded
from capsieve.learned.informative.values import NAMES, VERSION
from capsieve.learned.training.logistic import fit_logistic, sigmoid

__all__ = ["fit_classifier"]

_FEWEST = 20
_SCALE_RIDGE = 0.01  # where nothing overlaps, the scale would have no end
_Rows = NDArray[np.float64]


def fit_classifier(
    better: _Rows,
    worse: _Rows,
    weights: NDArray[np.float64],
    *,
    clean: _Rows,
    spoiled: _Rows,
    names: Sequence[str],
    passing: float,
    training: Mapping[str, str],
    ridge: float = 0.01,
) -> Classifier:
    """Return the classifier that puts most pairs in their order.

    Two logistic regressions. The first, on the differences within pairs and without an intercept,
    gives the direction: nobody says which frames are informative, but of two that differ in one
    respect alone it is known which is more so. The second, with one weight, sets the scale, so
    that p is the chance of a clean frame among as many clean as badly spoiled ones.

    Parameters
    ----------
    better, worse
        Values of both frames of each pair, columns as in :data:`NAMES`.
    weights
        Of the pairs.
    clean, spoiled
        Values of frames as they were, and of badly spoiled ones.
    names
        The values to look at.
    passing
        The share of the clean frames that the threshold lets pass.
    training
        What the file says about it.
    ridge
        Of the first regression.
    """
    if min(len(better), len(clean), len(spoiled)) < _FEWEST:
        raise ParameterError("pairs", f"fewer than {_FEWEST}: give more frames")
    if not 0 < passing < 1:
        raise ParameterError("passing", f"is a share between 0 and 1, not {passing}")
    columns = [NAMES.index(name) for name in names]
    centre = np.median(clean[:, columns], axis=0)
    spread = np.maximum(np.concatenate([better, worse])[:, columns].std(axis=0), 1e-6)

    def inputs(rows: _Rows) -> _Rows:
        return expanded(rows[:, columns], centre, spread)

    count = len(columns)
    change = inputs(better) - inputs(worse)
    # Every pair also the other way round: then the intercept is 0, and the order alone counts.
    direction, _ = fit_logistic(
        np.concatenate([change, -change]),
        np.concatenate([np.ones(len(change)), np.zeros(len(change))]),
        np.concatenate([weights, weights]),
        ridge=np.full(2 * count, ridge),
        least=np.concatenate([np.full(count, -np.inf), np.zeros(count)]),
    )
    direction /= max(float((inputs(clean) @ direction).std()), 1e-6)
    both = np.concatenate([inputs(clean), inputs(spoiled)]) @ direction
    truth = np.concatenate([np.ones(len(clean)), np.zeros(len(spoiled))])
    balance = np.where(truth > 0, 1.0 / len(clean), 1.0 / len(spoiled))
    scale, intercept = fit_logistic(
        both[:, None], truth, balance, ridge=np.full(1, _SCALE_RIDGE), least=np.zeros(1)
    )
    direction = direction * scale[0]
    threshold = float(np.quantile(sigmoid(inputs(clean) @ direction + intercept), 1.0 - passing))
    return Classifier(
        schema=SCHEMA,
        values_version=VERSION,
        values=tuple(
            ValueWeight(
                name,
                *(float(f"{number:.6g}") for number in numbers),
            )
            for name, *numbers in zip(
                names, centre, spread, direction[:count], direction[count:], strict=True
            )
        ),
        intercept=float(f"{intercept:.6g}"),
        threshold=float(f"{threshold:.6g}"),
        training=dict(training),
    )
