"""Settings are measured on all frames, once: what is on disk is not measured again."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_free import Measured
from capsieve.calibration.space import bounds_of, geometry_of, levels_of, texture_of
from capsieve.engine.executors.executor import Executor
from capsieve.engine.progress import Listener
from capsieve.engine.searching_cache import SearchCache
from capsieve.engine.searching_frames import SearchFrames
from capsieve.engine.searching_work import measure_all
from capsieve.engine.settings_run import SettingsRun
from capsieve.engine.views import FieldChoice
from capsieve.parameters import Parameters

__all__ = ["AT_ONCE", "Bench"]

Floats = NDArray[np.float64]

AT_ONCE = 6
"""Settings that are measured together: what a kill may cost, and the memory."""


class Bench:
    """Measures settings on all frames, and remembers them on disk.

    Parameters
    ----------
    held
        The frames.
    base
        Where the search began.
    cache
        What was measured before.
    executor
        Where the work is done.
    field_of_view, progress
        See :func:`capsieve.engine.searching.search`.
    """

    def __init__(
        self,
        held: SearchFrames,
        base: Parameters,
        cache: SearchCache,
        executor: Executor,
        field_of_view: FieldChoice,
        progress: Listener | None,
    ) -> None:
        self._held = held
        self._base = base
        self._cache = cache
        self._executor = executor
        self._field_of_view: FieldChoice = field_of_view
        self._progress = progress
        self._passes = len(held.exams)  # exams have the numbers up to here

    def prepare(self, settings: Sequence[Parameters], what: str) -> None:
        """Measure what is not on disk yet, a few settings at a time."""
        lacking = [
            setting
            for setting in dict.fromkeys(settings)
            if not self._cache.holds("geometry", self._geometry(setting))
            or not self._cache.holds("texture", self._texture(setting))
        ]
        # Settings with the same pre-processing together: it is then done once.
        lacking.sort(key=lambda each: (each.channel, each.vignetting, each.mask_radius))
        for first in range(0, len(lacking), AT_ONCE):
            some = lacking[first : first + AT_ONCE]
            words = f"{what}, settings {first + 1} to {first + len(some)} of {len(lacking)} new"
            self._measure(some, words)

    def measured(self, setting: Parameters) -> Measured:
        """Return what was measured under a setting; measured again where a file is damaged."""
        geometry, texture = self._geometry(setting), self._texture(setting)
        evidence, texture_max = (
            self._cache.evidence(geometry),
            self._cache.array("texture", texture),
        )
        if evidence is None or texture_max is None:
            self._measure([setting], "Measuring again")
            evidence = self._cache.evidence(geometry)
            texture_max = self._cache.array("texture", texture)
        assert evidence is not None, "it was just written"
        assert texture_max is not None, "it was just written"
        return Measured(setting, evidence, texture_max)

    def scores(self, settings: Sequence[Parameters]) -> dict[Parameters, Floats]:
        """Return the detector's own scores of all frames, also of other sources."""
        wanted = dict.fromkeys(settings)
        lacking = [each for each in wanted if self._cache.array("scores", each) is None]
        if lacking:
            exams, mask = self._held.exams, self._held.wanted | self._held.elsewhere
            study = SettingsRun(
                exams, mask, lacking, field_of_view=self._field_of_view, progress=self._progress
            )
            study.run(self._executor)
            for column, setting in enumerate(lacking):
                scores = study.scores[:, column].astype(np.float64)
                self._cache.keep_array("scores", setting, scores)
        found = {each: self._cache.array("scores", each) for each in wanted}
        return {each: scores for each, scores in found.items() if scores is not None}

    def _measure(self, settings: Sequence[Parameters], what: str) -> None:
        geometries = [
            each
            for each in dict.fromkeys(map(self._geometry, settings))
            if self._cache.evidence(each) is None
        ]
        textures = [
            each
            for each in dict.fromkeys(map(self._texture, settings))
            if self._cache.array("texture", each) is None
        ]
        self._passes += 1
        evidence, texture_max = measure_all(
            self._held.exams,
            self._held.wanted,
            [(each, levels_of(each, self._base)) for each in geometries],
            textures,
            bounds_of(self._base),
            field_of_view=self._field_of_view,
            executor=self._executor,
            what=what,
            number=self._passes,
            progress=self._progress,
        )
        for setting, found in zip(geometries, evidence, strict=True):
            self._cache.keep_evidence(setting, found)
        for setting, values in zip(textures, texture_max, strict=True):
            self._cache.keep_array("texture", setting, values)

    def _geometry(self, setting: Parameters) -> Parameters:
        return geometry_of(setting, self._base)

    def _texture(self, setting: Parameters) -> Parameters:
        return texture_of(setting, self._base)
