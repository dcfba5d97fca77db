"""Free-response ROC: polyps pointed at against marks beside them."""

import numpy as np

from capsieve.statistics.curves import FrocCurve
from capsieve.statistics.flags import normal_frames
from capsieve.statistics.judged import Judged
from capsieve.statistics.regions.pointing import Pointed

__all__ = ["froc"]


def froc(judged: Judged, pointed: Pointed) -> FrocCurve | None:
    """Return the share of outlines that hold a mark against marks outside any, per frame.

    Every ball of every feature that passed is a mark, and its radius is its score. Several marks
    in one outline are one hit. Marks on normal frames, and beside the outlines on polyp frames,
    are false. Looked at are the normal frames that were scored, and the polyp frames whose
    outlines can be used; other frames have no say.

    Parameters
    ----------
    judged
        The frames.
    pointed
        From :func:`~capsieve.statistics.regions.pointing.point_at`, with marks.

    Returns
    -------
    FrocCurve or None
        From no mark at all (threshold infinity) to the lowest score; None where there are no
        marks to look at, or no outlines.

    References
    ----------
    P. C. Bunch et al., A free response approach to the measurement and characterization of
    radiographic observer performance, Proc. SPIE 127 (1977) 124-135.
    """
    marks = pointed.marks
    if marks is None or not len(pointed.frame):
        return None
    looked_at = normal_frames(judged)
    looked_at[pointed.frame] = True
    false = np.sort(marks.score[looked_at[marks.frame] & ~pointed.marked])
    hit = np.sort(pointed.best_mark[pointed.best_mark > 0])
    thresholds = np.append(np.inf, np.unique(np.concatenate([false, hit]))[::-1])
    frames = int(looked_at.sum())
    return FrocCurve(
        thresholds=thresholds,
        hit_rate=(len(hit) - np.searchsorted(hit, thresholds)) / len(pointed.frame),
        marks=(len(false) - np.searchsorted(false, thresholds)) / frames,
        outlines=len(pointed.frame),
        frames=frames,
    )
