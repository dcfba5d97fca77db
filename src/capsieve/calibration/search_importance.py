"""What mattered: shares of the spread for dear fields, and what a rule is worth for free ones."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_free import Measured, value_of
from capsieve.calibration.search_objective import Objective, Truth
from capsieve.calibration.search_study import Trial
from capsieve.calibration.space import DEAR, base_rules
from capsieve.errors import ParameterError
from capsieve.parameters import Parameters

__all__ = ["explained_spread", "worth_of_rules"]


def explained_spread(trials: Sequence[Trial]) -> dict[str, float]:
    """Return for each dear field the share of the spread of values that it explains alone.

    Epsilon squared of an analysis of variance,

        1 - (SS_within / (n - k)) / (SS_total / (n - 1)),

    which, other than a plain correlation ratio, does not grow with the number k of values that a
    field takes; 0 where it would be negative. It sees no interplay of fields.

    References
    ----------
    T. L. Kelley, An unbiased correlation ratio measure, PNAS 21 (1935).
    """
    values = np.array([trial.found.value for trial in trials])
    return {
        choice.name: _epsilon_squared(
            values, [_value(trial.setting, choice.name) for trial in trials]
        )
        for choice in DEAR
    }


def worth_of_rules(
    measured: Measured,
    best: Parameters,
    base: Parameters,
    truth: Truth,
    *,
    target_specificity: float,
    what: Objective,
) -> dict[str, float | None]:
    """Return for each free field what the objective loses with the base's value instead.

    Each alone, all others as they are in the best setting; None where that is not possible.
    """
    every = np.ones(len(truth.truth), np.bool_)

    def value(parameters: Parameters) -> float:
        return value_of(
            measured, parameters, truth, every, target_specificity=target_specificity, what=what
        )

    reached = value(best)
    lost: dict[str, float | None] = {}
    for name, rule in base_rules(measured.setting, base).items():
        try:
            lost[name] = reached - value(replace(best, **{name: rule}))
        except ParameterError:
            lost[name] = None
    return lost


def _value(setting: Parameters, name: str) -> object:
    value = getattr(setting, name)
    return getattr(setting.derived, name) if value is None else value


def _epsilon_squared(values: NDArray[np.float64], settings: list[object]) -> float:
    groups = list(dict.fromkeys(settings))
    code = np.array([groups.index(setting) for setting in settings])
    total = float(((values - values.mean()) ** 2).sum())
    count, kinds = len(values), len(groups)
    if total <= 0 or kinds < 2 or count <= kinds:
        return 0.0
    within = sum(
        float(((values[code == k] - values[code == k].mean()) ** 2).sum()) for k in range(kinds)
    )
    return max(0.0, 1 - (within / (count - kinds)) / (total / (count - 1)))
