"""Scores of labelled frames under many settings: every frame is decoded once."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.labelled_frames import SurveyedExam, frame_count
from capsieve.errors import FrameError
from capsieve.frames import FieldOfView
from capsieve.paper.many_settings import analyze_each
from capsieve.parameters import Parameters
from capsieve.screening.executors import Executor, Outcome
from capsieve.screening.plan import Head, field_of_view_records, find_fields
from capsieve.screening.segment import SegmentTask, map_frames
from capsieve.screening.settings import FieldChoice, Listener, Progress
from capsieve.sources.base import SourceFrame
from capsieve.store.record import FieldOfViewRecord

__all__ = ["SettingsRun", "score_settings"]


def score_settings(
    settings: Sequence[Parameters],
    frames: Sequence[SourceFrame],
    fields: Sequence[FieldOfView | None],
) -> list[NDArray[np.float32] | str]:
    """Return for each frame its score under every setting, or why it has none."""
    values: list[NDArray[np.float32] | str] = []
    for frame, field in zip(frames, fields, strict=True):
        if frame.pixels is None:
            values.append(f"undecodable: {frame.problem}")
            continue
        try:
            results = analyze_each(frame.pixels, settings, field)
        except FrameError as error:
            values.append(f"cannot be analysed: {error}")
        else:
            values.append(np.array([result.score for result in results], np.float32))
    return values


class SettingsRun:
    """Scores the chosen frames of all exams; call :meth:`run`.

    Parameters
    ----------
    exams
        Surveyed exams.
    wanted
        Which of all their frames are scored, exam by exam, head by head, in order.
    settings
        The settings.
    field_of_view
        See :data:`capsieve.screening.settings.FieldChoice`.
    progress
        Called whenever frames are finished.

    Attributes
    ----------
    scores
        All frames x settings; NaN if a frame was not chosen or could not be scored.
    problems
        Why chosen frames were not scored, by their position among all frames.
    views
        The fields of view that were used, by exam.
    """

    def __init__(
        self,
        exams: Sequence[SurveyedExam],
        wanted: NDArray[np.bool_],
        settings: Sequence[Parameters],
        *,
        field_of_view: FieldChoice = "auto",
        progress: Listener | None = None,
    ) -> None:
        self._exams = exams
        self._wanted = wanted
        self._settings = tuple(settings)
        self._field_of_view: FieldChoice = field_of_view
        self._progress = progress
        self._first: dict[tuple[str, int, int], int] = {}  # of each segment, among all frames
        self._numbers = {exam.name: number for number, exam in enumerate(exams)}
        starts = np.cumsum([0, *(frame_count(exam) for exam in exams)])
        self._totals = [int(wanted[a:b].sum()) for a, b in pairwise(starts.tolist())]
        self._done = [0] * len(exams)
        self.scores = np.full((len(wanted), len(settings)), np.nan, np.float32)
        self.problems: dict[int, str] = {}
        self.views: dict[str, list[FieldOfViewRecord]] = {}

    def run(self, executor: Executor) -> None:
        """Score every chosen frame."""
        for outcome in executor.run(map_frames, self._tasks()):
            self._take(outcome)

    def _tasks(self) -> Iterator[SegmentTask[Any]]:
        function = partial(score_settings, self._settings)
        first = 0
        for exam in self._exams:
            for source, survey in exam.heads:
                fields = None
                place = source.place
                for segment in survey.segments:
                    count = sum(1 for _ in source.expected(segment))
                    self._first[exam.name, place.head, segment.number] = first
                    chosen = np.flatnonzero(self._wanted[first : first + count]).tolist()
                    first += count
                    if not chosen:
                        continue
                    if fields is None:
                        fields = find_fields(source, survey, self._field_of_view)
                        records = field_of_view_records(
                            [Head(place, "", survey, fields)], self._field_of_view
                        )
                        self.views.setdefault(exam.name, []).extend(records)
                    yield SegmentTask(exam.name, place, segment, fields, function, tuple(chosen))

    def _take(self, outcome: Outcome[SegmentTask[Any], list[Any]]) -> None:
        task = outcome.task
        wanted = task.wanted or ()
        first = self._first[task.exam, task.place.head, task.segment.number]
        values = outcome.result or [f"not analysed: {outcome.error}"] * len(wanted)
        for position, value in zip(wanted, values, strict=True):
            if isinstance(value, str):
                self.problems[first + position] = value
            else:
                self.scores[first + position] = value
        number = self._numbers[task.exam]
        self._done[number] += len(wanted)
        if self._progress is not None:
            done, total, exams = self._done[number], self._totals[number], len(self._exams)
            self._progress(Progress(task.exam, number + 1, exams, done, total, 0))
