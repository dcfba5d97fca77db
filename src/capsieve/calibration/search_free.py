"""The best rules for what was measured: one field at a time, until nothing is gained.

Every step costs a look at the evidence and no analysis. The climb begins at the base's rules and at
a few others that are drawn without a look at any label; the best end counts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_evidence import Evidence, scores_of
from capsieve.calibration.search_objective import Objective, Truth, objective
from capsieve.calibration.space import FREE, base_rules, values_of
from capsieve.errors import ParameterError
from capsieve.parameters import Parameters

__all__ = ["Found", "Measured", "best_rules", "value_of"]

_STARTS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What was measured of all frames under one setting of the dear fields.

    Attributes
    ----------
    setting
        Its dear fields.
    evidence
        Of the geometry.
    texture_max
        T_max; NaN where a frame was not analysed.
    """

    setting: Parameters
    evidence: Evidence
    texture_max: NDArray[np.float64]

    def scores(self, parameters: Parameters) -> NDArray[np.float64]:
        """Return the score of every frame under rules."""
        return scores_of(self.evidence, parameters, self.texture_max)


@dataclass(frozen=True, slots=True)
class Found:
    """A setting and what it reaches on the frames that were searched.

    Attributes
    ----------
    value
        Of the objective; optimistic.
    parameters
        The setting; its R_P has not been chosen yet.
    """

    value: float
    parameters: Parameters


def value_of(
    measured: Measured,
    parameters: Parameters,
    shown: Truth,
    chosen: NDArray[np.bool_],
    *,
    target_specificity: float,
    what: Objective,
) -> float:
    """Return the objective of a setting on the chosen frames; `shown` speaks of these alone."""
    return objective(
        measured.scores(parameters)[chosen],
        shown,
        target_specificity=target_specificity,
        what=what,
    )


def best_rules(
    measured: Measured,
    base: Parameters,
    truth: Truth,
    chosen: NDArray[np.bool_],
    *,
    target_specificity: float,
    what: Objective,
    seed: int,
) -> Found:
    """Return the best rules on the chosen frames, for what was measured.

    Parameters
    ----------
    measured
        Under one setting of the dear fields.
    base
        Where the search began.
    truth
        What all frames show.
    chosen
        The frames that may be looked at: no other has a say, not even through T_max.
    target_specificity, what
        See :func:`~capsieve.calibration.search_objective.objective`.
    seed
        Of the starts.
    """
    shown = truth.take(chosen)
    texture_max = measured.texture_max[chosen]
    values = {
        field.name: values_of(field.name, measured.setting, base, texture_max) for field in FREE
    }

    def worth(rules: dict[str, Any]) -> Found | None:
        try:
            parameters = replace(measured.setting, **rules)
        except ParameterError:  # M_L above M_U and the like
            return None
        value = value_of(
            measured,
            parameters,
            shown,
            chosen,
            target_specificity=target_specificity,
            what=what,
        )
        return Found(value, parameters)

    first = base_rules(measured.setting, base)
    ends = [_climb(start, values, worth) for start in _starts(values, first, seed)]
    return max(ends, key=lambda found: found.value)


def _climb(
    start: dict[str, Any],
    values: dict[str, tuple[Any, ...]],
    worth: Callable[[dict[str, Any]], Found | None],
) -> Found:
    rules, best = dict(start), worth(start)
    assert best is not None
    gained = True
    while gained:
        gained = False
        for name, candidates in values.items():
            for candidate in candidates:
                if candidate == rules[name]:
                    continue
                found = worth({**rules, name: candidate})
                if found is not None and found.value > best.value:
                    rules, best, gained = {**rules, name: candidate}, found, True
    return best


def _starts(
    values: dict[str, tuple[Any, ...]], first: dict[str, Any], seed: int
) -> list[dict[str, Any]]:
    """Return where climbs begin: the base's rules, and others drawn among those that are valid."""
    starts = [first]
    generator = np.random.default_rng(seed)
    while len(starts) < _STARTS:
        drawn = {name: listed[generator.integers(len(listed))] for name, listed in values.items()}
        pairs = ("threshold", "texture", "size")
        if all(drawn[f"{what}_low"] < drawn[f"{what}_high"] for what in pairs):
            starts.append(drawn)
    return starts
