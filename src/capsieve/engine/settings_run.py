"""Many settings on many frames at once: every frame is decoded once, and scored for all of them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.executors.executor import Executor
from capsieve.engine.labelled_frames import SurveyedExam, frame_count
from capsieve.engine.progress import Listener, Progress
from capsieve.engine.settings_work import SegmentScores, SettingsTask, score_segment
from capsieve.engine.views import FieldChoice, find_views, view_records
from capsieve.parameters import Parameters
from capsieve.statistics.flags import flagged_at
from capsieve.store.record import ViewRecord

__all__ = ["SettingsRun"]


class SettingsRun:
    """The wanted frames of all exams on their way through the workers; call :meth:`run`.

    Parameters
    ----------
    exams
        As they were surveyed.
    wanted
        Which of all their frames are scored, exam by exam, head by head, in order.
    settings
        What each is scored with.
    field_of_view
        See :data:`capsieve.engine.views.FieldChoice`.
    progress
        Called whenever frames are done; flagged are those of the first setting.

    Attributes
    ----------
    scores
        All frames x settings; NaN where a frame was not wanted or could not be scored.
    problems
        Why wanted frames were not scored, by their place among all frames.
    views
        The fields of view that were found, by exam.
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
        sizes = [frame_count(exam) for exam in exams]
        starts = np.cumsum([0, *sizes])
        self._totals = [int(wanted[a:b].sum()) for a, b in pairwise(starts.tolist())]
        self._done = [0] * len(exams)
        self._flagged = [0] * len(exams)
        self.scores = np.full((len(wanted), len(settings)), np.nan, np.float32)
        self.problems: dict[int, str] = {}
        self.views: dict[str, list[ViewRecord]] = {}

    def run(self, executor: Executor) -> None:
        """Score every wanted frame."""
        for outcome in executor.run(score_segment, self._tasks()):
            if outcome.result is not None:
                self._take(outcome.task, outcome.result)
            else:
                self._lose(outcome.task, f"not analysed: {outcome.error}")

    def _tasks(self) -> Iterator[SettingsTask]:
        first = 0
        for exam in self._exams:
            for source, survey in exam.heads:
                views = None
                place = source.place
                for segment in survey.segments:
                    count = sum(1 for _ in source.expected(segment))
                    self._first[exam.name, place.head, segment.number] = first
                    chosen = np.flatnonzero(self._wanted[first : first + count]).tolist()
                    first += count
                    if not chosen:
                        continue
                    if views is None:
                        views = find_views(source, survey, self._field_of_view)
                        self.views.setdefault(exam.name, []).extend(
                            view_records(place.head, views, self._field_of_view)
                        )
                    yield SettingsTask(
                        exam.name, place, segment, tuple(chosen), self._settings, views
                    )

    def _take(self, task: SettingsTask, found: SegmentScores) -> None:
        first = self._first[task.exam, task.place.head, task.segment.number]
        self.scores[first + np.array(task.wanted)] = found.scores
        for place, problem in found.problems.items():
            self.problems[first + place] = problem
        threshold = self._settings[0].radius_threshold
        self._tell(task, int(flagged_at(found.scores[:, 0], threshold).sum()))

    def _lose(self, task: SettingsTask, problem: str) -> None:
        first = self._first[task.exam, task.place.head, task.segment.number]
        for place in task.wanted:
            self.problems[first + place] = problem
        self._tell(task, 0)

    def _tell(self, task: SettingsTask, flagged: int) -> None:
        number = self._numbers[task.exam]
        self._done[number] += len(task.wanted)
        self._flagged[number] += flagged
        if self._progress is not None:
            done, total = self._done[number], self._totals[number]
            exams = len(self._exams)
            self._progress(
                Progress(task.exam, number + 1, exams, done, total, 0, self._flagged[number])
            )
