"""Labelled frames of exams that nobody has screened: which frames there are, and what they show."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import CapsieveError, FileError
from capsieve.sources.base import Source, Survey, open_source
from capsieve.sources.discovery import find_exams
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.matching.keys import find_frames
from capsieve.statistics.matching.per_frame import label_frames
from capsieve.statistics.matching.problems import frame_problems, key_problems, name_frames
from capsieve.statistics.matching.screened import Screened, folder_root
from capsieve.statistics.row_names import name_rows

__all__ = ["LabelledFrames", "SurveyedExam", "frame_count", "label_surveyed", "survey_exams"]


@dataclass(frozen=True, slots=True)
class SurveyedExam:
    """An exam that was read through, but not decoded.

    Attributes
    ----------
    name
        Of the exam.
    heads
        Its sources and what reading through them told, by growing head.
    """

    name: str
    heads: tuple[tuple[Source, Survey], ...]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFrames:
    """All frames of the exams, exam by exam, head by head, in order.

    Attributes
    ----------
    exams, exam
        Names, and a code per frame.
    head, frame
        As frames.parquet would have them.
    truth, polyp
        As in :class:`~capsieve.statistics.judged.Judged`.
    problems
        Of the labels, and of the matching.
    identities
        The frames as the matching knows them.
    """

    exams: tuple[str, ...]
    exam: NDArray[np.int32]
    head: NDArray[np.int16]
    frame: NDArray[np.int64]
    truth: NDArray[np.int8]
    polyp: NDArray[np.int32]
    problems: tuple[LabelProblem, ...]
    identities: Screened

    def names(self, chosen: Sequence[int]) -> list[str]:
        """Name frames as a person would."""
        return name_frames(self.identities, np.asarray(chosen, dtype=np.int64))


def survey_exams(
    inputs: Sequence[str | os.PathLike[str]], *, full_names: bool = False
) -> tuple[list[SurveyedExam], tuple[tuple[str, str], ...]]:
    """Read through every exam that the user named, without decoding it.

    Parameters
    ----------
    inputs, full_names
        As for :func:`capsieve.screen`.

    Returns
    -------
    exams
        Those that can be read.
    failed
        Names of those that cannot, each with its reason.

    Raises
    ------
    FileError
        Not a single one can be read.
    """
    exams: list[SurveyedExam] = []
    failed: list[tuple[str, str]] = []
    for exam in find_exams([os.fspath(item) for item in inputs], full_names=full_names):
        try:
            if exam.error is not None:
                raise exam.error
            sources = [open_source(place) for place in exam.places]
            heads = tuple((source, source.survey()) for source in sources)
        except CapsieveError as error:
            failed.append((exam.name, str(error)))
        else:
            exams.append(SurveyedExam(exam.name, heads))
    if not exams:
        raise FileError(failed[0][1] if failed else "there is no exam; name a video or a folder")
    return exams, tuple(failed)


def frame_count(exam: SurveyedExam) -> int:
    """Return how many frames an exam should have."""
    return sum(
        sum(1 for _ in source.expected(part))
        for source, survey in exam.heads
        for part in survey.segments
    )


def label_surveyed(exams: Sequence[SurveyedExam], labels: LabelSet) -> LabelledFrames:
    """Bring the frames of surveyed exams and labels together.

    The rules are those of an evaluation: see
    :func:`~capsieve.statistics.matching.keys.find_frames`.

    Raises
    ------
    FileError
        Rows have frame numbers and no exam, and there are several exams.
    """
    frames = _identities(exams)
    places = find_frames(frames, labels.table, what=labels.path)
    told = label_frames(places.row, name_rows(labels.table), len(frames))
    return LabelledFrames(
        exams=frames.exams,
        exam=frames.exam,
        head=frames.columns["head"],
        frame=frames.columns["frame"],
        truth=told.truth,
        polyp=told.polyp,
        problems=(
            *labels.problems,
            *key_problems(labels.table, places),
            *frame_problems(frames, told, labels.table),
        ),
        identities=frames,
    )


def _identities(exams: Sequence[SurveyedExam]) -> Screened:
    """Return the frames as if they had been screened, with nothing but their names."""
    exam: list[int] = []
    head: list[int] = []
    frame: list[int] = []
    file: list[str | None] = []
    for code, each in enumerate(exams):
        for source, survey in each.heads:
            files = [found.file for part in survey.segments for found in source.expected(part)]
            exam += [code] * len(files)
            head += [source.place.head] * len(files)
            frame += range(len(files))
            file += files
    codes = np.array(exam, np.int32)
    has_file = np.array([name is not None for name in file], dtype=bool)
    return Screened(
        folders=(),
        exams=tuple(each.name for each in exams),
        exam=codes,
        heads=tuple(tuple(source.place.head for source, _ in each.heads) for each in exams),
        columns={"head": np.array(head, np.int16), "frame": np.array(frame, np.int64)},
        reasons=(),
        reason=np.full(len(codes), -1, np.int16),
        flagged=np.zeros(len(codes), dtype=bool),
        decoded=np.zeros(len(codes), dtype=bool),
        file=pa.array(file, pa.string()),
        has_files=np.isin(np.arange(len(exams)), codes[has_file]),
        roots=tuple(map(_root, exams)),
    )


def _root(exam: SurveyedExam) -> str:
    paths = {source.place.path for source, _ in exam.heads if source.place.kind == "folder"}
    return folder_root(paths.pop()) if len(paths) == 1 else exam.name
