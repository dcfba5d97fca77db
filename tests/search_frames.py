"""Measured frames for tests of the search: a few real analyses, and labels for them."""

import numpy as np

from capsieve.calibration.search_evidence import joined
from capsieve.calibration.search_frame import analyze_dear
from capsieve.calibration.search_free import Measured
from capsieve.calibration.search_objective import Truth
from capsieve.calibration.space import bounds_of, geometry_of, levels_of, texture_of
from capsieve.parameters import Parameters
from sample_exams import exam_frame

__all__ = ["BASE", "COUNT", "measure", "truth_of"]

COUNT = 20
BASE = Parameters(texture_high=60.0)


def measure(setting: Parameters, base: Parameters = BASE, count: int = COUNT) -> Measured:
    """Measure the first frames of the sample exam."""
    levels = levels_of(setting, base)
    found = [
        analyze_dear(
            exam_frame(number),
            [(geometry_of(setting, base), levels)],
            [texture_of(setting, base)],
            bounds_of(base),
        )
        for number in range(count)
    ]
    evidence = joined(levels, [one[0] for one, _ in found])
    return Measured(setting, evidence, np.array([energy[0] for _, energy in found]))


def truth_of(count: int = COUNT) -> Truth:
    """What the frames show: six of twenty show a polyp."""
    polyp = np.arange(count) % 20 < 6
    codes = np.where(polyp, np.arange(count) // 3, -1)
    return Truth(np.where(polyp, 1, 0).astype(np.int8), codes.astype(np.int32))
