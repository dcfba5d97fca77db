"""Examples that are drawn, with groups, sources and polyps as real ones have them."""

import numpy as np

from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import NORMAL, OTHER, POLYP

__all__ = ["FEATURES", "made_examples"]

FEATURES = 6


def made_examples(
    *, groups: int = 10, per_group: int = 40, seed: int = 0, strength: float = 1.0
) -> Examples:
    """Return two sources: "round" with polyps in every group, "square" without any.

    Of each group's frames in "round", a quarter shows its two polyps, a quarter other findings.
    The first two features are higher by `strength` in polyp frames, their product tells a little
    more; the third shifts by group; the fourth is 0 in most frames; the fifth is constant; the
    sixth is large and tells nothing. Frames of "square" look like polyps: a model that learned
    from them as negatives would be misled.
    """
    chance = np.random.default_rng(seed)
    total = groups * per_group
    group = np.repeat(np.arange(groups, dtype=np.int32), per_group)
    place = np.tile(np.arange(per_group), groups)
    square = group >= groups - 2
    quarter = per_group // 4
    truth = np.full(total, NORMAL, dtype=np.int8)
    truth[(place < quarter) & ~square] = POLYP
    truth[(place >= quarter) & (place < 2 * quarter) & ~square] = OTHER
    shown = truth == POLYP
    # The first polyp of a group has one frame, the second all others.
    polyp = np.where(shown, 2 * group + (place > 0), -1).astype(np.int32)
    values = chance.normal(size=(total, FEATURES))
    values[:, :2] += strength * (shown | square)[:, None]
    values[:, 2] += chance.normal(size=groups)[group]
    values[:, 3] *= chance.random(total) < 0.1
    values[:, 4] = 7.0
    values[:, 5] = 1e4 * np.exp(values[:, 5])
    return Examples(
        truth=truth,
        groups=tuple(f"exam-{index}" for index in range(groups)),
        group=group,
        sources=("round", "square"),
        source=square.astype(np.int32),
        polyps=tuple(f"polyp-{index}" for index in range(2 * groups)),
        polyp=polyp,
        findings=("ulcer",),
        finding=np.where(truth == OTHER, 0, -1).astype(np.int32),
        value_names=tuple(f"value_{index}" for index in range(FEATURES)),
        values=values.astype(np.float32),
    )
