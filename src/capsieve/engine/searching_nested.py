"""Several searches in step: each leaves another part out, and all share what was measured."""

import time

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_free import Found, best_rules
from capsieve.calibration.search_judging import Subjects
from capsieve.calibration.search_objective import Objective
from capsieve.calibration.search_study import Study, common_design
from capsieve.engine.searching_bench import AT_ONCE, Bench
from capsieve.parameters import Parameters

__all__ = ["EVERYTHING", "Searches"]

EVERYTHING = -1
"""Stands for the part that is left out where none is."""

_COMMON = 2 / 3  # of the trials: the design that all searches share


class Searches:
    """One search for each part that is judged, and one on everything, in step.

    Parameters
    ----------
    bench
        Where settings are measured.
    subjects
        The frames.
    base
        Where every search begins.
    target, what
        See :func:`~capsieve.calibration.search_objective.objective`.
    seed
        Of the common design, and of every sampler.

    Attributes
    ----------
    studies
        By part that is left out, and one of :data:`EVERYTHING`.
    """

    def __init__(
        self,
        bench: Bench,
        subjects: Subjects,
        base: Parameters,
        *,
        target: float,
        what: Objective,
        seed: int,
    ) -> None:
        self._bench = bench
        self._seed = seed
        self.base = base
        self.subjects = subjects
        self.target = target
        self.what: Objective = what
        parts = [*subjects.judged_parts(), EVERYTHING]
        self.studies = {part: Study(base, seed + place) for place, part in enumerate(parts)}

    def go(self, trials: int, batch: int, seconds: float | None) -> bool:
        """Try settings; return whether all were."""
        started = time.monotonic()
        design = common_design(self.base, max(1, round(trials * _COMMON)), seed=self._seed)
        for first in range(0, len(design), AT_ONCE):
            if _over(started, seconds) and first:
                return False
            some = design[first : first + AT_ONCE]
            self._try(dict.fromkeys(self.studies, some), f"Common {first + len(some)}")
        tried = len(design)
        while tried < trials:
            if _over(started, seconds):
                return False
            count = min(batch, trials - tried)
            asked = {part: study.ask(count) for part, study in self.studies.items()}
            tried += count
            self._try(asked, f"Trial {tried} of {trials}")
        return True

    def chosen(self, part: int) -> NDArray[np.bool_]:
        """Return the frames that a search may look at."""
        if part == EVERYTHING:
            return np.ones(len(self.subjects.part), np.bool_)
        return self.subjects.others(part)

    def _try(self, asked: dict[int, list[Parameters]], what: str) -> None:
        self._bench.prepare([each for settings in asked.values() for each in settings], what)
        found: dict[tuple[int, Parameters], Found] = {}
        for setting in dict.fromkeys(each for settings in asked.values() for each in settings):
            measured = self._bench.measured(setting)  # once for all searches: it is large
            for part, settings in asked.items():
                if setting in settings:
                    found[part, setting] = best_rules(
                        measured,
                        self.base,
                        self.subjects.truth,
                        self.chosen(part),
                        target_specificity=self.target,
                        what=self.what,
                        seed=self._seed,
                    )
        for part, settings in asked.items():
            self.studies[part].tell(settings, [found[part, each] for each in settings])


def _over(started: float, seconds: float | None) -> bool:
    return seconds is not None and time.monotonic() - started >= seconds
