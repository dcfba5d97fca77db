"""The work on one segment under many settings of the dear fields, and on all segments of exams."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_evidence import Bounds, Evidence, FrameEvidence, Levels, joined
from capsieve.calibration.search_frame import analyze_dear
from capsieve.engine.executors.executor import Executor
from capsieve.engine.labelled_frames import SurveyedExam
from capsieve.engine.progress import Listener, Progress
from capsieve.engine.segment_work import View
from capsieve.engine.views import FieldChoice, find_views
from capsieve.errors import FrameError
from capsieve.parameters import Parameters
from capsieve.sources.source import Place, Segment, open_source

__all__ = ["DearTask", "SegmentEvidence", "measure_all", "measure_segment"]


@dataclass(frozen=True, slots=True)
class DearTask:
    """All that a worker needs to know.

    Attributes
    ----------
    exam
        The exam's name.
    place, segment, first
        What to decode, and the place of its first frame among all frames.
    wanted
        Places of the frames in the segment that are analysed, growing.
    geometries, textures, bounds
        See :func:`~capsieve.calibration.search_frame.analyze_dear`.
    views
        The head's fields of view.
    """

    exam: str
    place: Place
    segment: Segment
    first: int
    wanted: tuple[int, ...]
    geometries: tuple[tuple[Parameters, Levels], ...]
    textures: tuple[Parameters, ...]
    bounds: Bounds
    views: tuple[View, ...]

    def __str__(self) -> str:
        """How messages name it."""
        return f"segment {self.segment.number} of head {self.place.head} of {self.exam}"


@dataclass(frozen=True, slots=True, eq=False)
class SegmentEvidence:
    """What became of the wanted frames of a segment, each None where it was not analysed.

    Attributes
    ----------
    frames
        By place: the evidence for every geometry, and T_max for every texture.
    """

    frames: dict[int, tuple[list[FrameEvidence], list[float]]]


def measure_segment(task: DearTask) -> SegmentEvidence:
    """Measure the wanted frames of a segment under every setting.

    Raises
    ------
    FileError
        The source is not what was surveyed.
    """
    views = {(view.rows, view.cols): view.field for view in task.views}
    wanted = set(task.wanted)
    found: dict[int, tuple[list[FrameEvidence], list[float]]] = {}
    for place, frame in enumerate(open_source(task.place).frames(task.segment)):
        if place in wanted and frame.pixels is not None:
            field = views.get((frame.pixels.shape[0], frame.pixels.shape[1]))
            try:
                found[place] = analyze_dear(
                    frame.pixels, task.geometries, task.textures, task.bounds, field
                )
            except FrameError:  # it counts as not scored under every setting
                continue
        if place >= task.wanted[-1]:
            break
    return SegmentEvidence(found)


def measure_all(
    exams: Sequence[SurveyedExam],
    wanted: NDArray[np.bool_],
    geometries: Sequence[tuple[Parameters, Levels]],
    textures: Sequence[Parameters],
    bounds: Bounds,
    *,
    field_of_view: FieldChoice,
    executor: Executor,
    what: str,
    number: int = 1,
    progress: Listener | None = None,
) -> tuple[list[Evidence], list[NDArray[np.float64]]]:
    """Measure the wanted frames of all exams; the results are those of the wanted, in order.

    Parameters
    ----------
    exams, wanted, field_of_view
        As for :class:`~capsieve.engine.settings_run.SettingsRun`.
    geometries, textures, bounds
        See :func:`~capsieve.calibration.search_frame.analyze_dear`.
    executor
        Where the work is done.
    what, number
        What progress calls it; another number for every call, so that rates begin anew.
    progress
        Called whenever frames are done.

    Raises
    ------
    CapsieveError
        A segment could not be worked on: nothing may be missing from what is kept.
    """
    total = int(wanted.sum())
    place_of = np.cumsum(wanted) - 1
    frames: list[list[FrameEvidence | None]] = [[None] * total for _ in geometries]
    texture_max = [np.full(total, np.nan) for _ in textures]
    done = 0
    if progress is not None:  # the clock starts before the first frames are done
        progress(Progress(what, number, 1, 0, total, 0, 0))
    tasks = _tasks(exams, wanted, tuple(geometries), tuple(textures), bounds, field_of_view)
    for outcome in executor.run(measure_segment, tasks):
        if outcome.result is None:
            assert outcome.error is not None
            raise outcome.error
        for place, (evidence, energies) in outcome.result.frames.items():
            row = int(place_of[outcome.task.first + place])
            for column, each in enumerate(evidence):
                frames[column][row] = each
            for column, energy in enumerate(energies):
                texture_max[column][row] = energy
        done += len(outcome.task.wanted)
        if progress is not None:
            progress(Progress(what, number, 1, done, total, 0, 0))
    return (
        [joined(levels, column) for (_, levels), column in zip(geometries, frames, strict=True)],
        texture_max,
    )


def _tasks(
    exams: Sequence[SurveyedExam],
    wanted: NDArray[np.bool_],
    geometries: tuple[tuple[Parameters, Levels], ...],
    textures: tuple[Parameters, ...],
    bounds: Bounds,
    field_of_view: FieldChoice,
) -> Iterator[DearTask]:
    first = 0
    for exam in exams:
        for source, survey in exam.heads:
            views = None
            for segment in survey.segments:
                count = sum(1 for _ in source.expected(segment))
                chosen = np.flatnonzero(wanted[first : first + count]).tolist()
                if chosen:
                    if views is None:
                        views = find_views(source, survey, field_of_view)
                    yield DearTask(
                        exam.name,
                        source.place,
                        segment,
                        first,
                        tuple(chosen),
                        geometries,
                        textures,
                        bounds,
                        views,
                    )
                first += count
