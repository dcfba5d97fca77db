"""The outcome of a search that never was."""

import numpy as np

from capsieve.calibration.search_free import Found
from capsieve.calibration.search_judging import Subjects, judge
from capsieve.calibration.search_objective import Truth
from capsieve.calibration.search_study import Trial, common_design
from capsieve.engine.searching import SearchOutcome
from capsieve.parameters import Parameters

__all__ = ["made_search"]

BASE = Parameters()


def made_search() -> SearchOutcome:
    """Return a made-up search: twelve patients in two parts, the searched setting finds more."""
    truth = np.tile(np.repeat([1, 0], [2, 10]), 12).astype(np.int8)
    group = np.repeat(np.arange(12), 12).astype(np.int32)
    subjects = Subjects(
        Truth(truth, np.where(truth == 1, group, -1).astype(np.int32)),
        ("1", "2"),
        (group % 2).astype(np.int16),
        group,
        "patient",
        "polyp",
    )
    rng = np.random.default_rng(0)
    score = np.round(rng.uniform(1, 50, len(truth)))
    better = score + 20 * (truth == 1)
    judgement = judge(
        subjects,
        dict.fromkeys((0, 1), (BASE, better)),
        dict.fromkeys((0, 1), (BASE, score)),
        target_specificity=0.9,
        rounds=100,
    )
    design = common_design(BASE, 6, seed=0)
    trials = tuple(Trial(each, Found(n / 10, each)) for n, each in enumerate(design))
    return SearchOutcome(
        base=BASE,
        parameters=Parameters(midpass_fine=5.0, radius_threshold=41),
        optimistic=0.5,
        base_optimistic=0.25,
        judgement=judgement,
        by_part={"1": (Parameters(channel="red"), 33), "2": (BASE, 35)},
        trials=trials,
        spread={"channel": 0.4, "midpass_fine": 0.0},
        worth={"size_low": 0.1, "threshold_low": None, "texture_low": -0.02},
        elsewhere={"square": (200, 20, 30)},
        frames={"polyp": 24, "normal": 120, "polyps": 12, "groups": 12},
        settings={"seed": 0},
        group_kind="patient",
        unit="polyp",
        problems=(),
        warnings=("few patients",),
        complete=True,
    )
