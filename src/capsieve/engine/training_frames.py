"""The frames of a training: screened, labelled, grouped and parted."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.engine.judged_results import JudgedResults, read_judged
from capsieve.engine.training_sources import frame_sources
from capsieve.errors import FileError, ParameterError
from capsieve.learned.training.examples import Examples
from capsieve.statistics.codes import as_codes
from capsieve.statistics.judged import NORMAL, POLYP, Judged
from capsieve.statistics.labels.label_set import LabelSet
from capsieve.statistics.matching.screened import read_screened
from capsieve.statistics.points import TEST, TRAIN
from capsieve.statistics.row_names import name_rows
from capsieve.statistics.sequences import exam_or_folder
from capsieve.statistics.split_plan import By, plan_splits
from capsieve.statistics.splits import write_splits
from capsieve.store.exam import Exam

__all__ = ["FOLDS_FILE", "TrainingFrames", "check_labels", "plan_folds", "read_training_frames"]

FOLDS_FILE = "folds.csv"

_FEWEST_OF_A_CLASS = 10
"""Frames; with fewer not even a threshold can be chosen honestly."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingFrames:
    """Everything that a training knows of its frames.

    Attributes
    ----------
    read
        All screened frames beside their labels, with the folds.
    splits
        The file that names the folds.
    source
        Of each screened frame, a code into ``examples.sources``; -1 without a label.
    place
        Of each example among the screened frames.
    pixel_hash
        Of the pixels of each example.
    part
        The fold of each example, 0 to K - 1.
    trained
        Which examples are learned from: those of sources with polyp frames. A model that saw the
        others could win by telling sources apart; they serve to count false alarms.
    examples
        The labelled frames that were scored, without crops.
    warnings
        What a careful reader must know.
    """

    read: JudgedResults
    splits: Path
    source: NDArray[np.int32]
    place: NDArray[np.int64]
    pixel_hash: tuple[str, ...]
    part: NDArray[np.int16]
    trained: NDArray[np.bool_]
    examples: Examples
    warnings: tuple[str, ...]

    @property
    def judged(self) -> Judged:
        """All screened frames."""
        return self.read.judged

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one value per screened frame, NaN for those that are no examples."""
        every = np.full(len(self.judged), np.nan)
        every[self.place] = values
        return every


def check_labels(labels: LabelSet, *, exams: int, planned: bool) -> None:
    """Refuse labels that cannot teach anything, before hours of work.

    Parameters
    ----------
    labels
        To learn from.
    exams
        How many exams there are.
    planned
        Whether folds are planned here, and not given.

    Raises
    ------
    FileError
        A class is missing, or nothing tells the frames' patients, exams or blocks.
    """
    _check_classes(name_rows(labels.table).truth, labels.path)
    if planned and exams < 2 and not _named(labels, "patient", "block"):
        raise FileError(
            f"the labels in {labels.path} do not tell whose the frames are, and frames of one exam "
            "must not be on both sides of a fold; add a column patient or block to the labels, or "
            "give --splits FILE from capsieve splits"
        )


def plan_folds(labels: LabelSet, path: Path, *, folds: int, seed: int) -> tuple[str, ...]:
    """Write a split of whole patients, blocks or exams into folds, and return its warnings.

    Raises
    ------
    ParameterError
        There are fewer groups than folds.
    """
    plan = plan_splits(labels, folds=folds, by=_by(labels, folds), seed=seed)
    write_splits(plan.splits, path)
    return tuple(f"{text[:1].upper()}{text[1:]}." for text in plan.warnings)


def _named(labels: LabelSet, *columns: str) -> bool:
    table = labels.table
    return any(table[name].null_count < table.num_rows for name in columns)


def _by(labels: LabelSet, folds: int) -> By:
    """Whole exams where they are all that is known; patients and blocks where these are."""
    exams, _ = as_codes(exam_or_folder(labels.table))
    few = "" in exams or len(exams) < folds
    return "patient" if few or _named(labels, "patient", "block") else "exam"


def read_training_frames(
    results: Path,
    labels: LabelSet,
    splits: Path,
    *,
    value_names: tuple[str, ...],
    one_source: bool = False,
    allow_leaks: bool = False,
) -> TrainingFrames:
    """Bring screened frames, their values, labels and folds together.

    Parameters
    ----------
    results
        Screened with the features' detector.
    labels, splits
        What the frames show, and their folds.
    value_names
        Of the values of each frame.
    one_source, allow_leaks
        See :func:`capsieve.engine.training.train`.

    Raises
    ------
    FileError
        Labels with one class, too few frames, or nothing that fits.
    LeakError
        The folds share patients or pictures.
    ParameterError
        The split has no folds.
    """
    read = read_judged(results, labels, splits=splits, allow_leaks=allow_leaks)
    judged = read.judged
    _check_parts(judged, splits)
    folders = read.matched.folders
    tables = [Exam(folder).columns("values", "pixel_hash") for folder in folders]
    values = _matrix(tables, len(value_names))
    pixel_hash = [text for table in tables for text in table["pixel_hash"].to_pylist()]
    sources, source, warnings = frame_sources(read_screened(folders), labels, one_source=one_source)
    scored = np.isfinite(values).all(axis=1)
    labelled = judged.truth >= 0
    place = np.flatnonzero(labelled & scored & (judged.part >= 0))
    examples = Examples(
        truth=judged.truth[place],
        groups=judged.groups,
        group=judged.group[place],
        sources=sources,
        source=source[place],
        polyps=judged.polyps,
        polyp=judged.polyp[place],
        findings=judged.findings,
        finding=judged.finding[place],
        value_names=value_names,
        values=values[place],
    )
    with_polyps = np.unique(examples.source[examples.truth == POLYP])
    trained = np.isin(examples.source, with_polyps)
    _check_classes(examples.truth[trained], labels.path)
    # Codes from 0 without a gap: a part of the split may have no frame here.
    part = np.unique(judged.part[place], return_inverse=True)[1].astype(np.int16)
    _check_folds(examples.truth[trained], part[trained])
    unscored = int((labelled & ~scored & (judged.part >= 0)).sum())
    if unscored:
        warnings += (f"{unscored:,} labelled frames could not be scored, and take no part.",)
    if (judged.part[labelled] < 0).any():
        outside = int((labelled & (judged.part < 0)).sum())
        warnings += (f"{outside:,} labelled frames are in no fold, and take no part.",)
    return TrainingFrames(
        read=read,
        splits=splits,
        source=source,
        place=place,
        pixel_hash=tuple(pixel_hash[row] for row in place.tolist()),
        part=part,
        trained=trained,
        examples=examples,
        warnings=(*read.warnings, *warnings),
    )


def _matrix(tables: list[pa.Table], width: int) -> NDArray[np.float32]:
    """Return frames x values; NaN where a frame was not scored."""
    parts: list[NDArray[np.float32]] = []
    for table in tables:
        column = table["values"].combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        lengths = np.asarray(column.value_lengths().fill_null(0)).astype(np.int64)
        there = lengths == width
        if not (there | (lengths == 0)).all():
            raise FileError(
                "the screened frames have another number of values than this version of capsieve "
                "computes; start over with --overwrite"
            )
        rows = np.full((len(lengths), width), np.nan, np.float32)
        rows[there] = np.asarray(column.flatten(), np.float32).reshape(-1, width)
        parts.append(rows)
    return np.concatenate(parts)


def _check_parts(judged: Judged, splits: Path) -> None:
    there = [judged.parts[code] for code in np.unique(judged.part[judged.part >= 0])]
    if len(there) < 2 or set(there) & {TRAIN, TEST}:
        raise ParameterError(
            "splits",
            f"{splits} has the parts {', '.join(there) or 'none'}, and training needs folds that "
            "judge each other; make them with capsieve splits --folds 5",
        )


def _check_classes(truth: NDArray[np.int8], path: str) -> None:
    for code, word in ((POLYP, "polyp"), (NORMAL, "normal")):
        count = int((truth == code).sum())
        if not count:
            raise FileError(
                f"no frame is labelled {word} in {path}, and a model learns from polyp and normal "
                "frames of the same source; label some"
            )
        if count < _FEWEST_OF_A_CLASS:
            raise FileError(
                f"{path} labels only {count} frames {word}, too few to learn from; label "
                f"{_FEWEST_OF_A_CLASS} at the very least, better hundreds, of several patients"
            )


def _check_folds(truth: NDArray[np.int8], part: NDArray[np.int16]) -> None:
    """Every fold's model needs both classes to learn from."""
    for value, word in ((POLYP, "polyp"), (NORMAL, "normal")):
        for code in np.unique(part).tolist():
            if not (truth[part != code] == value).any():
                raise ParameterError(
                    "folds",
                    f"without one of the folds no {word} frame is left to learn from; label "
                    "polyps of more patients, or give other folds with --splits",
                )
