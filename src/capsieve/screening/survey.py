"""Survey of an exam: its heads and their fields of view, and the versions that read them."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.errors import CapsieveError, FileError, FrameError
from capsieve.field_of_view import find_field_of_view
from capsieve.frames import FieldOfView
from capsieve.names import natural_key
from capsieve.screening.executors import Executor
from capsieve.screening.segment import FieldsOfView
from capsieve.screening.settings import FieldChoice
from capsieve.sources.base import Place, Source, Survey, open_source
from capsieve.sources.discovery import find_exams
from capsieve.store.record import FieldOfViewRecord

SAMPLES = 30
"""Number of frames for the search of a field of view."""

_PACKAGES = ("av", "numba", "numpy", "opencv-python-headless", "pillow", "pyarrow", "onnxruntime")
_LIBRARIES = ("libavcodec", "libavformat", "libswscale")


@dataclass(frozen=True, slots=True)
class SurveyTask:
    """An exam to survey: its sources are read once, and only some frames are decoded."""

    exam: str
    places: tuple[Place, ...]  # one per head
    field_of_view: FieldChoice

    def __str__(self) -> str:
        return f"the survey of {self.exam}"


@dataclass(frozen=True, slots=True)
class Head:
    """A surveyed source."""

    place: Place
    stamp: str  # Source.stamp() from before the survey
    survey: Survey
    fields: FieldsOfView  # the most frequent size of frames first


def survey_exam(task: SurveyTask) -> tuple[Head, ...]:
    """Survey the sources of an exam and find their fields of view.

    Raises
    ------
    FileError
        A source cannot be read.
    """
    heads: list[Head] = []
    for place in task.places:
        source = open_source(place)
        stamp = source.stamp()  # before the survey: a later change must not be missed
        survey = source.survey()
        fields = find_fields(source, survey, task.field_of_view)
        heads.append(Head(place, stamp, survey, fields))
    return tuple(heads)


def survey_exams(
    executor: Executor, paths: Sequence[str], choice: FieldChoice, *, full_names: bool = False
) -> tuple[dict[str, tuple[Head, ...]], dict[str, str]]:
    """Find and survey the exams at some paths.

    Returns
    -------
    heads
        Of each exam that can be read, sorted by name.
    failed
        Why other exams cannot be read.

    Raises
    ------
    FileError
        No exam can be read.
    """
    exams = find_exams(paths, full_names=full_names)
    exams.sort(key=lambda exam: natural_key(exam.name))
    failed = {exam.name: str(exam.error) for exam in exams if exam.error is not None}
    tasks = [SurveyTask(exam.name, exam.places, choice) for exam in exams if exam.error is None]
    heads: dict[str, tuple[Head, ...]] = {}
    for outcome in executor.run(survey_exam, tasks):
        if isinstance(outcome.error, CapsieveError):
            failed[outcome.task.exam] = str(outcome.error)
        elif outcome.error is not None:
            raise outcome.error
        else:
            heads[outcome.task.exam] = outcome.result or ()
    if not heads:
        reasons = list(failed.values()) or ["there is no exam; name a video or a folder"]
        raise FileError(reasons[0])
    # The order of the workers must not change a random draw.
    return {task.exam: heads[task.exam] for task in tasks if task.exam in heads}, failed


def find_fields(source: Source, survey: Survey, choice: FieldChoice) -> FieldsOfView:
    """Return the field of view for each size of frame, the most frequent size first."""
    by_size: dict[tuple[int, int], list[NDArray[Any]]] = defaultdict(list)
    for frame in source.samples(survey, SAMPLES):
        by_size[frame.shape[0], frame.shape[1]].append(frame)
    most_frequent = sorted(by_size.items(), key=lambda item: -len(item[1]))
    return {size: _field(frames, choice) for size, frames in most_frequent}


def _field(frames: list[NDArray[Any]], choice: FieldChoice) -> FieldOfView:
    if isinstance(choice, FieldOfView):
        return choice
    if choice == "auto":
        # A folder may contain grey and colour images; the search needs one kind.
        kinds = {frame.ndim for frame in frames}
        with suppress(FrameError):  # one image that is too small does not stop the exam
            return find_field_of_view([frame for frame in frames if frame.ndim == max(kinds)])
    rows, cols = frames[0].shape[:2]
    return FieldOfView("full", (rows - 1) / 2, (cols - 1) / 2, min(rows, cols) / 2, 0.0)


def field_of_view_records(heads: Sequence[Head], choice: FieldChoice) -> list[FieldOfViewRecord]:
    """Return the entries of the record for the fields of view of all heads."""
    return [
        FieldOfViewRecord(
            head=head.place.head,
            rows=rows,
            cols=cols,
            shape=field.shape,
            row=field.row,
            col=field.col,
            radius=field.radius,
            confidence=field.confidence,
            found_by="search" if choice == "auto" else "choice",
        )
        for head in heads
        for (rows, cols), field in head.fields.items()
    ]


def versions() -> dict[str, str]:
    """Return the versions of capsieve and of the libraries that compute, for the record."""
    import av

    used = {"capsieve": __version__, "python": ".".join(map(str, sys.version_info[:3]))}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):  # onnxruntime is optional
            used[name] = version(name)
    libraries = {name: av.library_versions[name] for name in _LIBRARIES}
    return used | {name: ".".join(map(str, numbers)) for name, numbers in libraries.items()}
