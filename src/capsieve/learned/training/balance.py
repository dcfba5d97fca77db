"""How much each frame counts in training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import NORMAL, OTHER, POLYP

__all__ = ["OTHER_SHARE", "balanced_weights", "polyp_weights", "usable"]

OTHER_SHARE = 0.125
"""Of the weight of the negatives, what other findings have.

Little: they are findings too, and look more like polyps than normal frames do. A model that must
tell polyps from them above all tells polyps from normal frames less well.
"""


def usable(examples: Examples, chosen: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which chosen frames a model may learn from.

    Those of sources that have both polyps and negatives among the chosen. A source without polyps
    is left out: its frames would teach the model what the source looks like, and a model must not
    win by telling sources apart.
    """
    rows = examples.rows(chosen)
    truth, source = examples.truth[rows], examples.source[rows]
    polyp = truth == POLYP
    negative = (truth == NORMAL) | (truth == OTHER)
    both = np.intersect1d(source[polyp], source[negative])
    return np.isin(source, both) & (polyp | negative)


def polyp_weights(examples: Examples, chosen: NDArray[Any]) -> NDArray[np.float64]:
    """Return what each chosen polyp frame counts: 1 / sqrt(n) for one of n frames of a polyp.

    A polyp then counts sqrt(n). With 1 a frame the few long sequences would decide, with 1 / n a
    frame of a long sequence would count next to nothing, though its views differ. Polyp frames
    whose polyp is not known count 1 each; all others 0.
    """
    rows = examples.rows(chosen)
    polyp = examples.polyp[rows]
    shown = examples.truth[rows] == POLYP
    named = shown & (polyp >= 0)
    frames = np.bincount(polyp[named], minlength=len(examples.polyps) + 1)
    weights = shown.astype(np.float64)
    weights[named] = 1 / np.sqrt(frames[polyp[named]])
    return weights


def balanced_weights(
    examples: Examples, chosen: NDArray[Any], *, other_share: float = OTHER_SHARE
) -> NDArray[np.float64]:
    """Return one weight per chosen frame; their mean over the usable frames is 1.

    Within each source polyps and negatives weigh the same, and a source weighs as much as its
    polyps do, see :func:`polyp_weights`. Of the negatives' weight, normal frames have
    ``1 - other_share`` and other findings `other_share`; where a source has only one of them, that
    one has all. Frames that :func:`usable` leaves out weigh 0.

    Raises
    ------
    ParameterError
        No source has both polyps and negatives, or a share outside 0..1.
    """
    if not 0 <= other_share <= 1:
        raise ParameterError("other_share", f"{other_share} is not between 0 and 1")
    rows = examples.rows(chosen)
    may = usable(examples, rows)
    if not may.any():
        raise ParameterError(
            "labels", "no source has both polyp frames and frames without a polyp to tell them from"
        )
    truth, source = examples.truth[rows], examples.source[rows]
    weights = np.where(may, polyp_weights(examples, rows), 0.0)
    for code in np.unique(source[may]):
        here = may & (source == code)
        total = weights[here].sum()
        normal, other = here & (truth == NORMAL), here & (truth == OTHER)
        share = other_share if normal.any() and other.any() else float(other.any())
        for kind, part in ((normal, 1 - share), (other, share)):
            if kind.any():
                weights[kind] = total * part / np.count_nonzero(kind)
    return weights * (np.count_nonzero(may) / weights[may].sum())
