"""Which settings of the dear fields to try: a common design first, then what TPE proposes.

The design is drawn without a look at any label, so that all searches of a nested cross-validation
share it, and its cost. Then every search asks optuna's tree-structured Parzen estimator on its own,
in batches with a constant liar: a value is proposed without waiting for those before it.

The same seed gives the same questions as long as the answers are the same. A search that was
stopped therefore goes on by asking everything again: what is on disk need not be measured again.
An optuna storage would not do, since it does not keep the state of the sampler.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from capsieve.calibration.search_free import Found
from capsieve.calibration.space import DEAR
from capsieve.errors import MissingExtraError, ParameterError
from capsieve.parameters import Parameters

__all__ = ["Study", "Trial", "common_design", "require_optuna"]


def require_optuna() -> None:
    """Raise MissingExtraError where optuna is not installed."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "a search needs the package optuna; pip install 'capsieve[search]'"
        ) from None


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting of the dear fields with the best rules for it.

    Attributes
    ----------
    setting
        With the dear fields, as it was proposed.
    found
        The best rules, and their worth on the frames that were searched.
    """

    setting: Parameters
    found: Found


def common_design(base: Parameters, count: int, *, seed: int) -> list[Parameters]:
    """Return the base and further settings of the dear fields that spread over the space.

    Every value of a field occurs equally often (Latin hypercube); no label is looked at.
    """
    generator = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {}
    for choice in DEAR:
        places = generator.permutation(count) * len(choice.values) // max(count, 1)
        columns[choice.name] = [choice.values[place] for place in places.tolist()]
    drawn = [
        {name: column[number] for name, column in columns.items()} for number in range(count - 1)
    ]
    possible = (_setting(base, values) for values in drawn)
    return [base, *(setting for setting in possible if setting is not None)]


@dataclass(eq=False, slots=True)
class Study:
    """One search: what was tried, and what to try next.

    Attributes
    ----------
    base
        Where it begins; fields that are not searched stay as they are here.
    seed
        Of the sampler.
    trials
        What was tried, in this order.
    """

    base: Parameters
    seed: int
    trials: list[Trial] = field(default_factory=list)
    _study: Any = field(default=None, init=False)
    _asked: list[Any] = field(default_factory=list, init=False)

    def ask(self, count: int) -> list[Parameters]:
        """Return so many settings to try; :meth:`tell` must follow."""
        import optuna

        if self._study is None:
            optuna.logging.set_verbosity(optuna.logging.WARNING)
            sampler = optuna.samplers.TPESampler(
                seed=self.seed, n_startup_trials=0, constant_liar=True
            )
            self._study = optuna.create_study(direction="maximize", sampler=sampler)
            for trial in self.trials:
                self._study.add_trial(_frozen(trial))
        settings: list[Parameters] = []
        while len(settings) < count:
            trial = self._study.ask()
            values = {
                choice.name: choice.values[_suggested(trial, choice.name, len(choice.values))]
                if choice.ordered
                else trial.suggest_categorical(choice.name, choice.values)
                for choice in DEAR
            }
            setting = _setting(self.base, values)
            if setting is None:  # sigma1 above sigma2 and the like
                self._study.tell(trial, 0.0)
                continue
            self._asked.append(trial)
            settings.append(setting)
        return settings

    def tell(self, settings: Sequence[Parameters], found: Sequence[Found]) -> None:
        """Take the answers to the last question, or to the common design."""
        for setting, each in zip(settings, found, strict=True):
            self.trials.append(Trial(setting, each))
        for trial, each in zip(self._asked, found if self._asked else (), strict=True):
            self._study.tell(trial, each.value)
        self._asked.clear()

    @property
    def best(self) -> Trial:
        """The trial of the highest value, the first of equals."""
        return max(self.trials, key=lambda trial: trial.found.value)


def _suggested(trial: Any, name: str, count: int) -> int:
    return trial.suggest_int(name, 0, count - 1)


def _setting(base: Parameters, values: dict[str, Any]) -> Parameters | None:
    try:
        return replace(base, **values)
    except ParameterError:
        return None


def _frozen(trial: Trial) -> Any:
    """Return a trial of the design as optuna knows it; values off the grid go to the nearest."""
    import optuna

    distributions: dict[str, Any] = {}
    params: dict[str, Any] = {}
    for choice in DEAR:
        value = getattr(trial.setting, choice.name)
        if value is None:
            value = getattr(trial.setting.derived, choice.name)
        if choice.ordered:
            distances = [abs(each - value) for each in choice.values]
            distributions[choice.name] = optuna.distributions.IntDistribution(
                0, len(choice.values) - 1
            )
            params[choice.name] = distances.index(min(distances))
        else:
            distributions[choice.name] = optuna.distributions.CategoricalDistribution(choice.values)
            params[choice.name] = value
    return optuna.trial.create_trial(
        params=params, distributions=distributions, value=trial.found.value
    )
