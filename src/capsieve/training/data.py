"""The labelled frames of screened exams, with groups and folds.

Matching, groups, leaks and splits are those of ``capsieve evaluate``.
"""

from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError, ParameterError
from capsieve.evaluation.results import LabelledResults, read_results
from capsieve.frame_table import NORMAL, POLYP, Coded, LabelledFrames
from capsieve.labels import LabelProblem, LabelSet, Splits, plan_splits, read_labels
from capsieve.labels.splits import SplitOptions
from capsieve.statistics.frames import split_findings
from capsieve.statistics.operating_point import TEST, TRAIN
from capsieve.statistics.options import InputOptions
from capsieve.store.exam import Exam

_FEWEST = 10  # frames of a class; with fewer not even a threshold can be chosen
_ONE_SOURCE = "all frames"


@dataclass(frozen=True, slots=True, eq=False)
class FrameSet:
    """Labelled frames that are in a fold.

    Attributes
    ----------
    labelled
        The frames; their part is the fold, and every frame has one. Polyps are compared with
        negatives of the same source only: a model must not win by telling sources apart.
    folders
        Of the screened exams, in the order of ``labelled.exam.names``.
    path
        The known part of the path of the image of each frame; None in videos.
    pixel_hash
        Hash of the pixels; None for frames that could not be decoded.
    phash
        Perceptual hashes, N x 2 x 32 bytes, see :class:`~capsieve.phash.PixelHashes`.
    diameter
        Diameter of the field of view of each frame in its pixels; NaN if there is none.
    leak
        For each frame the kinds of leaks that it is part of and that were allowed, or "".
    planned
        The folds, if they were made here.
    labels_hash
        SHA-256 of the labels.
    problems, warnings, leaks
        Problems of the labels, warnings, and sentences about leaks that were allowed.
    """

    labelled: LabelledFrames
    folders: tuple[Path, ...]
    path: NDArray[np.object_]
    pixel_hash: NDArray[np.object_]
    phash: NDArray[np.uint8]
    diameter: NDArray[np.float64]
    leak: NDArray[np.object_]
    labels_hash: str
    planned: Splits | None = None
    problems: tuple[LabelProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labelled)

    def take(self, rows: NDArray[Any]) -> "FrameSet":
        """Return some of the frames (a mask or indices)."""
        return replace(
            self,
            labelled=self.labelled.take(rows),
            path=self.path[rows],
            pixel_hash=self.pixel_hash[rows],
            phash=self.phash[rows],
            diameter=self.diameter[rows],
            leak=self.leak[rows],
        )

    @property
    def truth(self) -> NDArray[np.int8]:
        """POLYP, NORMAL or OTHER, a frame with another finding: a negative in training."""
        return self.labelled.truth

    @property
    def source(self) -> NDArray[np.int32]:
        """The code of the source of each frame."""
        return self.labelled.source.code

    @property
    def fold(self) -> NDArray[np.int32]:
        """The code of the fold of each frame."""
        return self.labelled.part.code

    @property
    def findings(self) -> tuple[frozenset[str], ...]:
        """The findings behind each code of ``labelled.finding``, in lower case."""
        return tuple(
            frozenset(word.lower() for word in split_findings(text))
            for text in self.labelled.finding.names
        )

    @property
    def trained(self) -> NDArray[np.bool_]:
        """Frames of sources that have polyp frames. Frames of other sources are only scored."""
        return np.isin(self.source, np.unique(self.source[self.truth == POLYP]))


def read_frames(
    results: Path,
    labels: Path,
    *,
    label_format: str | None = None,
    splits: Path | None = None,
    folds: int = 5,
    seed: int = 0,
    allow_leaks: bool = False,
    leaks_file: Path | None = None,
) -> FrameSet:
    """Match screened frames with labels and divide them into folds.

    Parameters
    ----------
    results
        The output folder of ``capsieve screen``; any detector will do.
    labels, label_format
        The labels, and their format if it is not recognised.
    splits
        Folds from ``capsieve splits --folds``. Without them `folds` folds of whole groups are made
        with `seed`.
    allow_leaks, leaks_file
        Continue although folds share patients or images; CSV for the frames of leaks.

    Raises
    ------
    FileError
        Results, labels or splits that cannot be used together, or too few frames.
    LeakError
        Folds share patients or images.
    ParameterError
        The split has no folds, or a fold leaves too little to learn from.
    """
    label_set = read_labels(labels, label_format=label_format)
    plan = None
    if splits is None:
        plan = plan_splits(label_set, SplitOptions(folds=folds, seed=seed))
    read = read_results(
        results,
        label_set,
        InputOptions(splits=splits, allow_leaks=allow_leaks),
        planned=None if plan is None else plan.splits,
        check_model=False,
        leaks_file=leaks_file,
    )
    frames = _frame_set(read, label_set, "the split" if splits is None else str(splits))
    _check_classes(frames, label_set.path)
    _check_folds(frames)
    if plan is None:
        return frames
    about_folds = (f"{text[:1].upper()}{text[1:]}." for text in plan.warnings)
    warnings = tuple(dict.fromkeys((*about_folds, *frames.warnings)))
    return replace(frames, planned=plan.splits, warnings=warnings)


def _frame_set(read: LabelledResults, labels: LabelSet, splits: str) -> FrameSet:
    _check_parts(read.frames.part, splits)
    hashes, pixel_hash = read.scored.hashes, read.scored.pixel_hash
    if hashes is None or pixel_hash is None:
        raise FileError(
            f"{read.scored.name} is not a folder of screened exams; training reads their images"
        )
    rows = np.flatnonzero(read.frames.labelled & (read.frames.part.code >= 0))
    warnings = list(read.warnings)
    outside = int(read.frames.labelled.sum()) - len(rows)
    if outside:
        warnings.append(f"{outside:,} labelled frames are in no fold and are not used.")
    pixels = np.array(pixel_hash.to_pylist(), object)[rows]
    undecoded = sum(text is None for text in pixels)
    if undecoded:
        warnings.append(f"{undecoded:,} labelled frames could not be decoded and are not used.")
    frames = read.frames.take(rows)
    codes, fold = np.unique(frames.part.code, return_inverse=True)
    names = tuple(frames.part.names[code] for code in codes)
    source, caution = _sources(frames)
    return FrameSet(
        labelled=replace(frames, part=Coded(names, fold.astype(np.int32)), source=source),
        folders=read.scored.folders,
        path=np.array(read.scored.path.to_pylist(), object)[rows],
        pixel_hash=pixels,
        phash=hashes.phash[rows],
        diameter=_diameters(frames, read.scored.folders),
        leak=read.leak[rows],
        labels_hash=_labels_hash(labels),
        problems=(*labels.problems, *read.matched.problems),
        warnings=(*warnings, *caution),
        leaks=read.leaks,
    )


def _diameters(frames: LabelledFrames, folders: tuple[Path, ...]) -> NDArray[np.float64]:
    """Return the diameter of the field of view that frames of this exam, head and size have."""
    assert frames.rows is not None
    assert frames.cols is not None
    diameter = np.full(len(frames), np.nan)
    for code in np.unique(frames.exam.code).tolist():
        of_exam = frames.exam.code == code
        for field in Exam(folders[code]).record["fields_of_view"]:
            size = (frames.rows == field["rows"]) & (frames.cols == field["cols"])
            diameter[of_exam & size & (frames.head == field["head"])] = 2 * field["radius"]
    return diameter


def _sources(frames: LabelledFrames) -> tuple[Coded, tuple[str, ...]]:
    """Return the sources that the labels name; all frames are one source if that is not possible.

    A source needs negatives next to its polyp frames, and every frame needs a source.
    """
    code = frames.source.code
    with_negatives = np.unique(code[frames.truth != POLYP])
    alone = ~np.isin(code[frames.truth == POLYP], with_negatives)
    if len(code) and (code >= 0).all() and not alone.any():
        return frames.source, ()
    warnings: tuple[str, ...] = ()
    if (code >= 0).any():
        warnings = (
            "Some frames have no source, or some sources have polyp frames only. All frames are "
            "treated as one source.",
        )
    return Coded((_ONE_SOURCE,), np.zeros(len(code), np.int32)), warnings


def _check_parts(part: Coded, splits: str) -> None:
    there = [part.names[code] for code in np.unique(part.code[part.code >= 0])]
    if len(there) < 2 or set(there) & {TRAIN, TEST}:
        raise ParameterError(
            "splits",
            f"{splits} has the parts {', '.join(there) or 'none'}, but training needs folds; make "
            "them with capsieve splits --folds 5",
        )


def _check_classes(frames: FrameSet, path: str) -> None:
    for code, word in ((POLYP, "polyp"), (NORMAL, "normal")):
        count = int((frames.truth[frames.trained] == code).sum())
        if count < _FEWEST:
            number = "no frame" if not count else f"only {count} frames"
            raise FileError(
                f"{path} labels {number} as {word} in sources with polyp frames; a model learns "
                f"from polyp and normal frames of the same source: label at least {_FEWEST}, "
                "better hundreds, of several patients"
            )


def _check_folds(frames: FrameSet) -> None:
    """Every fold must leave polyp and normal frames to learn from."""
    for code, word in ((POLYP, "polyp"), (NORMAL, "normal")):
        folds = frames.fold[frames.trained & (frames.truth == code)]
        if len(np.unique(folds)) < 2:
            raise ParameterError(
                "folds",
                f"all {word} frames are in one fold, so nothing is left to learn from; label "
                "frames of more patients, or give other folds with --splits",
            )


def _labels_hash(labels: LabelSet) -> str:
    path = Path(labels.path)
    if path.is_file():
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    return sha256(repr(labels.table.to_pylist()).encode()).hexdigest()
