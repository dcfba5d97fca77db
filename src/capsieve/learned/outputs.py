"""What comes out of a model, as one probability per frame and a map."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.learned.spec import Output

__all__ = ["map_of", "mask_of", "score_of"]

_SLACK = 1e-3  # by which rounding may take a probability out of 0..1
_SURE = 1e-7  # probabilities nearer to 0 or 1 have no useful logit


def score_of(
    answers: NDArray[Any], output: Output, *, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probability and logit of every frame.

    Parameters
    ----------
    answers
        Frames x classes; for a mask the probabilities of :func:`mask_of`.
    output
        What they are.
    name
        How messages call the model.

    Raises
    ------
    FileError
        They are not what the description says.
    """
    numbers = np.asarray(answers, np.float64)
    if output.kind == "mask":
        flat = numbers.reshape(len(numbers), -1)
        if output.frame_score == "area":
            scores = np.where(
                np.isnan(flat).any(axis=1), np.nan, (flat > output.level).mean(axis=1)
            )
        else:
            scores = flat.max(axis=1) if output.frame_score == "max" else flat.mean(axis=1)
        return scores, _logit(scores)
    numbers = numbers.reshape(len(numbers), -1)
    if output.kind == "softmax":
        scores, logits = _softmax(numbers, _class(numbers.shape[1], output, name))
        return scores, logits
    column = numbers[:, _class(numbers.shape[1], output, name)]
    if output.kind == "logit":
        return _sigmoid(column), column
    scores = _probability(column, name, "output.kind")
    return scores, _logit(scores)


def mask_of(answers: NDArray[Any], output: Output, *, nhwc: bool, name: str) -> NDArray[np.float32]:
    """Return a segmenter's probability at each pixel, frames x rows x columns."""
    numbers = np.asarray(answers, np.float64)
    if numbers.ndim == 3:
        numbers = numbers[:, None]
    elif nhwc:
        numbers = np.moveaxis(numbers, 3, 1)
    index = _class(numbers.shape[1], output, name)
    if output.pixels == "softmax":
        classes = np.moveaxis(numbers, 1, -1)
        chosen, _ = _softmax(classes.reshape(-1, classes.shape[-1]), index)
        chosen = chosen.reshape(classes.shape[:-1])
    elif output.pixels == "logit":
        chosen = _sigmoid(numbers[:, index])
    else:
        chosen = _probability(numbers[:, index], name, "output.pixels")
    return chosen.astype(np.float32)


def map_of(answers: NDArray[Any]) -> NDArray[np.float32]:
    """Return evidence maps, frames x rows x columns."""
    maps = np.asarray(answers, np.float32)
    return maps[:, 0] if maps.ndim == 4 else maps


def _class(classes: int, output: Output, name: str) -> int:
    if classes == 1 and "softmax" in (output.kind, output.pixels):
        raise FileError(
            f"{name}: the softmax of a single class is always 1; the model gives one number, so "
            'say "logit" or "probability"'
        )
    if output.class_index is None and classes != 1:
        raise FileError(
            f"{name}: output.class_index is missing: the model gives {classes} classes; say which "
            "one is the polyp, from 0"
        )
    index = output.class_index or 0
    if index >= classes:
        raise FileError(
            f"{name}: output.class_index: it says {index}, but the model gives {classes} classes, "
            "counted from 0"
        )
    return index


def _probability(numbers: NDArray[np.float64], name: str, entry: str) -> NDArray[np.float64]:
    wrong = numbers[(numbers < -_SLACK) | (numbers > 1 + _SLACK)]
    if wrong.size:
        raise FileError(
            f"{name}: {entry}: the model gives {wrong.flat[0]:.4g}, which is no probability; is it "
            'a "logit", or one of the numbers of a "softmax"?'
        )
    return np.clip(numbers, 0.0, 1.0)


def _sigmoid(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * (1.0 + np.tanh(0.5 * numbers))  # it never overflows


def _logit(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(shares, _SURE, 1.0 - _SURE)
    return np.log(inside) - np.log1p(-inside)


def _softmax(
    numbers: NDArray[np.float64], index: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return one class's probability and its logit: z_k - log(sum of exp z_j over the others)."""
    chosen = numbers[:, index]
    others = np.delete(numbers, index, axis=1)
    highest = others.max(axis=1)
    with np.errstate(invalid="ignore"):  # infinite ones give NaN, which is told
        rest = highest + np.log(np.exp(others - highest[:, None]).sum(axis=1))
    logits = chosen - rest
    return _sigmoid(logits), logits
