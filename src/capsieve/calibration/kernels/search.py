"""The loop over all features that a rule is asked of."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["largest_radius"]


@compiled
def largest_radius(
    start, level, size, eccentricity, radius, wanted, size_low, size_high, eccentricity_max
):
    """Return per frame the largest radius among features that pass the rules, 0 without one.

    `start` says where the features of each frame begin, and `wanted` which level counts in it.
    """
    frames = len(wanted)
    best = np.zeros(frames)
    for frame in range(frames):
        for place in range(start[frame], start[frame + 1]):
            if (
                level[place] == wanted[frame]
                and size_low <= size[place] <= size_high
                and eccentricity[place] <= eccentricity_max
                and radius[place] > best[frame]
            ):
                best[frame] = radius[place]
    return best
