"""Screened exams and labels become judged frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.judged import Judged
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.matching.groups import fill_patients, form_groups
from capsieve.statistics.matching.keys import Places, find_frames
from capsieve.statistics.matching.parts import place_parts
from capsieve.statistics.matching.per_frame import FrameLabels, label_frames
from capsieve.statistics.matching.problems import frame_problems, key_problems
from capsieve.statistics.matching.screened import Screened, read_screened
from capsieve.statistics.row_names import name_rows
from capsieve.statistics.splits import Splits

__all__ = ["LabelRows", "Matched", "match"]


@dataclass(frozen=True, slots=True, eq=False)
class LabelRows:
    """What became of the rows of the labels, per exam and last for rows of no screened exam.

    rows = first + repeated + contradicting + without_frame.

    Attributes
    ----------
    rows
        All.
    first
        The one row that gives a frame its label.
    repeated
        Rows that say the same of the same frame once more.
    contradicting
        Rows of frames that have no label because their rows contradict each other.
    without_frame
        Rows that fit no frame, or several.
    """

    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    repeated: NDArray[np.int64]
    contradicting: NDArray[np.int64]
    without_frame: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Judged frames, and all that was not clear on the way to them.

    Attributes
    ----------
    judged
        All frames of all exams.
    problems
        Of the labels' source, then of the matching, then of the split ("split: ...").
    folders
        Of the exams, in the order of ``judged.exams``.
    decoded
        Frames that could be decoded.
    contradicted
        Frames that have no label because their labels contradict each other.
    label_rows
        Counts of the labels' rows that add up.
    in_two_parts
        Places of frames that the split puts into two parts: a leak. Their part is -1.
    """

    judged: Judged
    problems: tuple[LabelProblem, ...]
    folders: tuple[Path, ...]
    decoded: NDArray[np.bool_]
    contradicted: NDArray[np.bool_]
    label_rows: LabelRows
    in_two_parts: NDArray[np.int64]


def match(folders: Sequence[Path], labels: LabelSet, *, splits: Splits | None = None) -> Matched:
    """Bring the frames of screened exams and labels together.

    Which frame a row of the labels speaks of is told in
    :func:`~capsieve.statistics.matching.keys.find_frames`, and who a frame's patient is in
    :func:`~capsieve.statistics.matching.groups.fill_patients`.

    Parameters
    ----------
    folders
        The exams' folders, from :func:`capsieve.store.exam.exam_folders`.
    labels
        From :func:`capsieve.statistics.labels.read_labels`.
    splits
        From :func:`capsieve.statistics.splits.read_splits`; it says each frame's part, and the
        block of frames that have neither patient nor block in the labels.

    Raises
    ------
    FileError
        A table cannot be read, two exams have one name, or rows have frame numbers and no exam
        where there are several exams.
    """
    screened = read_screened(folders)
    places = find_frames(screened, labels.table, what=labels.path)
    names = name_rows(labels.table)
    told = label_frames(places.row, names, len(screened))
    parts = place_parts(screened, splits, told.truth, keys=labels.table, places=places)
    patient = fill_patients(screened.exam, told.patient, told.named)
    blocks = tuple(dict.fromkeys([*names.blocks, *parts.blocks]))  # one name, one block
    place = {name: number for number, name in enumerate(blocks)}
    split_block = np.array([*(place[name] for name in parts.blocks), -1])[parts.block]
    groups = form_groups(
        told.truth >= 0,
        patient=(names.patients, patient),
        block=(blocks, np.where(told.block >= 0, told.block, split_block).astype(np.int32)),
        exam=(screened.exams, screened.exam),
    )
    judged = Judged(
        exams=screened.exams,
        exam=screened.exam,
        file=_file_names(screened),
        flagged=screened.flagged,
        reasons=screened.reasons,
        reason=screened.reason,
        truth=told.truth,
        polyps=names.polyps,
        polyp=told.polyp,
        patients=names.patients,
        patient=patient,
        groups=groups.names,
        group=groups.code,
        group_kind=groups.kind,
        findings=names.findings,
        finding=told.finding,
        parts=parts.names,
        part=parts.code,
        unit=labels.unit,
        **screened.columns,
    )
    return Matched(
        judged=judged,
        problems=(
            *labels.problems,
            *key_problems(labels.table, places),
            *frame_problems(screened, told, labels.table),
            *parts.problems,
        ),
        folders=screened.folders,
        decoded=screened.decoded,
        contradicted=told.contradicted,
        label_rows=_count_rows(screened, places, told),
        in_two_parts=parts.in_two,
    )


def _file_names(screened: Screened) -> NDArray[np.object_] | None:
    if not screened.has_files.any():
        return None
    return np.asarray(screened.file.to_numpy(zero_copy_only=False), dtype=object)


def _count_rows(screened: Screened, places: Places, told: FrameLabels) -> LabelRows:
    size = len(screened.exams) + 1

    def per_exam(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        # The code -1, no screened exam, counts last.
        return np.bincount(places.exam[chosen] % size, minlength=size).astype(np.int64)

    found = places.row >= 0
    repeated = np.zeros(len(found), dtype=bool)
    repeated[told.repeated] = True
    contradicting = np.zeros(len(found), dtype=bool)
    contradicting[found] = told.contradicted[places.row[found]]
    return LabelRows(
        rows=per_exam(np.ones(len(found), dtype=bool)),
        first=per_exam(found & ~repeated & ~contradicting),
        repeated=per_exam(repeated),
        contradicting=per_exam(contradicting),
        without_frame=per_exam(~found),
    )
