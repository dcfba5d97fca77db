"""The frames of a search: which are searched and judged, and which parts keep them apart."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_judging import Subjects
from capsieve.calibration.search_objective import Truth
from capsieve.engine.labelled_frames import (
    LabelledFrames,
    SurveyedExam,
    label_surveyed,
    survey_exams,
)
from capsieve.errors import FileError, LeakError, ParameterError
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.labels import read_labels
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.matching.groups import fill_patients, form_groups
from capsieve.statistics.matching.keys import find_frames
from capsieve.statistics.matching.parts import place_parts
from capsieve.statistics.matching.per_frame import label_frames
from capsieve.statistics.robustness import draw_normals
from capsieve.statistics.row_names import name_rows
from capsieve.statistics.sequences import source_of
from capsieve.statistics.split_plan import plan_splits
from capsieve.statistics.splits import Splits, read_splits

__all__ = ["SearchFrames", "gather_frames"]

PathLike = str | os.PathLike[str]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SearchFrames:
    """All frames of the exams, and those that take part.

    Attributes
    ----------
    exams
        As they were surveyed.
    wanted
        Frames that are searched and judged, among all: polyp and normal frames of sources that
        have both.
    elsewhere
        Normal frames of sources without a polyp frame. A search on them could win by telling
        sources apart; they are only counted at the end.
    elsewhere_by_source
        The same by the source's name.
    subjects
        What is known of the wanted frames.
    counts
        Of frames, polyps and groups.
    problems, warnings
        What was not clear, as sentences.
    """

    exams: list[SurveyedExam]
    wanted: Mask
    elsewhere: Mask
    elsewhere_by_source: dict[str, Mask]
    subjects: Subjects
    counts: dict[str, int]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]


def gather_frames(
    inputs: Sequence[PathLike],
    labels: PathLike,
    *,
    layout: str | None,
    splits: PathLike | None,
    folds: int,
    block_size: int,
    normals: int | None,
    seed: int,
) -> SearchFrames:
    """Read labels and exams, split them, and choose the frames that take part.

    For the arguments see :func:`capsieve.engine.searching.search`.

    Raises
    ------
    FileError
        No frame is labelled polyp, or none normal, or nothing can be read.
    LeakError
        The split puts a frame or a patient into two parts.
    """
    if normals is not None and normals < 1:
        raise ParameterError("normals", f"must be at least 1, not {normals}")
    told = read_labels(labels, layout=layout)
    warnings = list(told.warnings)
    if splits is None:
        plan = plan_splits(told, folds=folds, block_size=block_size, seed=seed)
        split = plan.splits
        warnings += plan.warnings
    else:
        split = read_splits(splits)
    exams, failed = survey_exams(inputs)
    frames = label_surveyed(exams, told)
    source, sources = _sources(frames, told)
    polyp, normal = frames.truth == POLYP, frames.truth == NORMAL
    with_polyps = np.unique(source[polyp])
    inside = np.isin(source, with_polyps)
    if not polyp.any() or not (normal & inside).any():
        lacking = "polyp" if not polyp.any() else "normal"
        raise FileError(
            f"no frame of the exams is labelled {lacking} in {told.path}; a search needs polyp "
            "frames and normal frames of the same source"
        )
    kept = normal & inside
    if normals is not None:
        named = [frames.exams[code] for code in frames.exam.tolist()]
        kept = draw_normals(named, frames.head, frames.frame, kept, count=normals, seed=seed)
    parts = _Parted(frames, told, split)
    wanted = (polyp | kept) & (parts.part >= 0)
    elsewhere = normal & ~inside
    subjects = parts.subjects(wanted)
    _check_parts(subjects)
    warnings += [f"{name} could not be read: {why}" for name, why in failed]
    return SearchFrames(
        exams=exams,
        wanted=wanted,
        elsewhere=elsewhere,
        elsewhere_by_source={
            sources[code] or "frames without a folder": elsewhere & (source == code)
            for code in np.unique(source[elsewhere]).tolist()
        },
        subjects=subjects,
        counts={
            "polyp": int((wanted & polyp).sum()),
            "normal": int((wanted & normal).sum()),
            "polyps": len(np.unique(frames.polyp[wanted & (frames.polyp >= 0)])),
            "groups": len(np.unique(subjects.group)),
            "normals_elsewhere": int(elsewhere.sum()),
            "in_no_part": int(((polyp | kept) & (parts.part < 0)).sum()),
        },
        problems=tuple(
            f"{entry.what}: {entry.rows:,}" for entry in (*frames.problems, *parts.problems)
        ),
        warnings=tuple(warnings),
    )


class _Parted:
    """Part and group of every frame; as for an evaluation of screened exams."""

    def __init__(self, frames: LabelledFrames, labels: LabelSet, split: Splits) -> None:
        screened = frames.identities
        places = find_frames(screened, labels.table, what=labels.path)
        names = name_rows(labels.table)
        told = label_frames(places.row, names, len(screened))
        parts = place_parts(screened, split, told.truth, keys=labels.table, places=places)
        if len(parts.in_two):
            some = ", ".join(frames.names(parts.in_two[:3].tolist()))
            raise LeakError(f"the split puts frames into two parts ({some}); mend it")
        patient = fill_patients(screened.exam, told.patient, told.named)
        blocks = tuple(dict.fromkeys([*names.blocks, *parts.blocks]))
        place = {name: number for number, name in enumerate(blocks)}
        split_block = np.array([*(place[name] for name in parts.blocks), -1])[parts.block]
        groups = form_groups(
            told.truth >= 0,
            patient=(names.patients, patient),
            block=(blocks, np.where(told.block >= 0, told.block, split_block).astype(np.int32)),
            exam=(screened.exams, screened.exam),
        )
        _refuse_torn(names.patients, patient, parts.code)
        self._frames, self._names, self._groups, self._unit = (
            frames,
            parts.names,
            groups,
            labels.unit,
        )
        self.part = parts.code
        self.problems: tuple[LabelProblem, ...] = parts.problems

    def subjects(self, wanted: Mask) -> Subjects:
        frames = self._frames
        return Subjects(
            truth=Truth(frames.truth[wanted], frames.polyp[wanted]),
            parts=self._names,
            part=self.part[wanted],
            group=self._groups.code[wanted],
            group_kind=self._groups.kind,
            unit=self._unit,
        )


def _sources(frames: LabelledFrames, labels: LabelSet) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return a code per frame, and names; frames whose rows name no folder share one source."""
    names, code = source_of(labels.table)
    places = find_frames(frames.identities, labels.table, what=labels.path)
    found = places.row >= 0
    source = np.full(len(frames.truth), len(names), np.int32)
    source[places.row[found]] = np.where(code[found] >= 0, code[found], len(names))
    return source, (*names, "")


def _refuse_torn(
    names: tuple[str, ...], patient: NDArray[np.int32], part: NDArray[np.int16]
) -> None:
    known = (patient >= 0) & (part >= 0)
    pairs = np.unique(np.stack([patient[known], part[known].astype(np.int32)]), axis=1)
    codes, counts = np.unique(pairs[0], return_counts=True)
    torn = codes[counts > 1]
    if len(torn):
        some = ", ".join(names[code] for code in torn[:3].tolist())
        raise LeakError(f"the split puts patients into two parts ({some}); split by patient")


def _check_parts(subjects: Subjects) -> None:
    """Every search needs both classes to look at."""
    judged = subjects.judged_parts()
    if not judged or len(np.unique(subjects.part)) < 2:
        raise ParameterError(
            "splits", "a search needs at least two parts with labelled frames; give more folds"
        )
    for part in judged:
        truth = subjects.truth.truth[subjects.others(part)]
        for value, word in ((POLYP, "polyp"), (NORMAL, "normal")):
            if not (truth == value).any():
                raise ParameterError(
                    "folds",
                    f"the parts beside {subjects.parts[part]} have no {word} frame to search on; "
                    "give fewer folds, or smaller blocks",
                )
