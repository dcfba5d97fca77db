"""The labelled frames of screened exams, with groups and folds.

Matching, groups, leaks and splits are those of ``capsieve evaluate``. This is the only module of
the package that calls them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.engine.judged_results import JudgedResults, read_judged
from capsieve.errors import FileError, ParameterError
from capsieve.statistics.causes import finding_words
from capsieve.statistics.codes import as_codes
from capsieve.statistics.judged import NORMAL, OTHER, POLYP
from capsieve.statistics.labels import read_labels
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.matching.keys import find_frames
from capsieve.statistics.matching.screened import read_screened
from capsieve.statistics.phashes import read_phashes
from capsieve.statistics.points import TEST, TRAIN
from capsieve.statistics.row_names import name_rows
from capsieve.statistics.sequences import exam_or_folder, source_of
from capsieve.statistics.split_plan import By, plan_splits
from capsieve.statistics.splits import write_splits
from capsieve.store.exam import Exam

__all__ = ["NORMAL", "OTHER", "POLYP", "FrameSet", "read_frames"]

_FEWEST = 10  # frames of a class; with fewer not even a threshold can be chosen
_ONE_SOURCE = "all frames"
_CAPSULE_VISION = "Capsule Vision 2024"  # PART/CLASS/SOURCE/NAME: the last folder is the source


@dataclass(frozen=True, slots=True, eq=False)
class FrameSet:
    """Labelled frames that are in a fold: one entry per frame in every array.

    Names that repeat are codes into a tuple of names; -1 means unknown or none.

    Attributes
    ----------
    folders, exams, exam
        Folders of the screened exams, their names, and a code per frame.
    head, frame, file, time
        As in frames.parquet; `file` is None in videos, `time` NaN if it is unknown.
    pixel_hash
        Hash of the pixels; None for frames that could not be decoded.
    phash, has_phash
        Perceptual hash, N x 32 bytes, and whether the frame has one.
    truth
        :data:`POLYP`, :data:`NORMAL` or :data:`OTHER`, a frame with another finding: a negative in
        training, reported separately.
    polyps, polyp
        The polyp, or the run of frames that replaces it.
    patients, patient, groups, group, group_kind
        Groups are never divided by a split: patients, blocks or exams.
    sources, source
        Device or data set. Polyps are compared with negatives of the same source only: a model must
        not win by telling sources apart.
    findings, finding
        Each text of findings in the labels as a set of words in lower case, and a code per frame.
    folds, fold
        Names of the folds, and a code per frame, from 0 without gaps.
    unit
        "polyp", or "run" if runs of frames replace polyps.
    splits
        The file of the folds.
    labels_hash
        SHA-256 of the labels.
    problems, warnings, leaks
        What was unclear in the labels, what a careful reader should know, and leaks that were
        allowed.
    """

    folders: tuple[Path, ...]
    exams: tuple[str, ...]
    exam: NDArray[np.int32]
    head: NDArray[np.int16]
    frame: NDArray[np.int64]
    file: NDArray[np.object_]
    time: NDArray[np.float64]
    pixel_hash: NDArray[np.object_]
    phash: NDArray[np.uint8]
    has_phash: NDArray[np.bool_]
    truth: NDArray[np.int8]
    polyps: tuple[str, ...]
    polyp: NDArray[np.int32]
    patients: tuple[str, ...]
    patient: NDArray[np.int32]
    groups: tuple[str, ...]
    group: NDArray[np.int32]
    group_kind: str
    sources: tuple[str, ...]
    source: NDArray[np.int32]
    findings: tuple[frozenset[str], ...]
    finding: NDArray[np.int32]
    folds: tuple[str, ...]
    fold: NDArray[np.int16]
    unit: str
    splits: Path
    labels_hash: str
    problems: tuple[LabelProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, rows: NDArray[Any]) -> "FrameSet":
        """Return some of the frames (a mask or indices)."""
        arrays = {
            field.name: getattr(self, field.name)[rows]
            for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return replace(self, **arrays)

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
    planned: Path,
) -> FrameSet:
    """Match screened frames with labels and divide them into folds.

    Parameters
    ----------
    results
        The output folder of ``capsieve screen``; any detector will do.
    labels, label_format
        The labels, and their format if it is not recognised.
    splits
        Folds from ``capsieve splits --folds``. Without them `folds` folds of whole patients, blocks
        or exams are made with `seed`, and written to `planned`.
    allow_leaks
        Continue although folds share patients or images.

    Raises
    ------
    FileError
        Results, labels or splits that cannot be used together, or too few frames.
    LeakError
        Folds share patients or images.
    ParameterError
        The split has no folds, or a fold leaves too little to learn from.
    """
    told = read_labels(labels, layout=label_format)
    _check_classes(name_rows(told.table).truth, told.path)
    planning: tuple[str, ...] = ()
    if splits is None:
        plan = plan_splits(told, folds=folds, by=_unit_of_folds(told, folds), seed=seed)
        write_splits(plan.splits, planned)
        planning = tuple(f"{text[:1].upper()}{text[1:]}." for text in plan.warnings)
    read = read_judged(results, told, splits=splits or planned, allow_leaks=allow_leaks)
    frames = _frame_set(read, told, splits or planned)
    _check_classes(frames.truth[frames.trained], told.path)
    _check_folds(frames)
    return replace(frames, warnings=tuple(dict.fromkeys((*planning, *frames.warnings))))


def _frame_set(read: JudgedResults, labels: LabelSet, splits: Path) -> FrameSet:
    judged, folders = read.judged, read.matched.folders
    _check_parts(judged.parts, judged.part, splits)
    sources, source, warnings = _sources(folders, labels)
    hashes = read_phashes(folders)
    tables = [Exam(folder).columns("pixel_hash")["pixel_hash"] for folder in folders]
    pixel_hash = np.array([text for table in tables for text in table.to_pylist()], object)
    rows = np.flatnonzero((judged.truth >= 0) & (judged.part >= 0))
    codes, fold = np.unique(judged.part[rows], return_inverse=True)
    outside = int(((judged.truth >= 0) & (judged.part < 0)).sum())
    if outside:
        warnings += (f"{outside:,} labelled frames are in no fold and are not used.",)
    undecoded = sum(text is None for text in pixel_hash[rows])
    if undecoded:
        warnings += (f"{undecoded:,} labelled frames could not be decoded and are not used.",)
    return FrameSet(
        folders=folders,
        exams=judged.exams,
        exam=judged.exam[rows],
        head=judged.head[rows],
        frame=judged.frame[rows],
        file=np.full(len(rows), None) if judged.file is None else judged.file[rows],
        time=judged.time[rows],
        pixel_hash=pixel_hash[rows],
        phash=hashes.phash[rows],
        has_phash=hashes.there[rows],
        truth=judged.truth[rows],
        polyps=judged.polyps,
        polyp=judged.polyp[rows],
        patients=judged.patients,
        patient=judged.patient[rows],
        groups=judged.groups,
        group=judged.group[rows],
        group_kind=judged.group_kind,
        sources=sources,
        source=source[rows],
        findings=tuple(
            frozenset(word.lower() for word in finding_words(text)) for text in judged.findings
        ),
        finding=judged.finding[rows],
        folds=tuple(judged.parts[code] for code in codes),
        fold=fold.astype(np.int16),
        unit=judged.unit,
        splits=splits,
        labels_hash=_labels_hash(labels),
        problems=read.matched.problems,
        warnings=(*read.warnings, *warnings),
        leaks=read.leaks,
    )


def _unit_of_folds(labels: LabelSet, folds: int) -> By:
    """Return what folds are made of: exams only if neither patients nor blocks are known."""
    table = labels.table
    named = any(table[name].null_count < table.num_rows for name in ("patient", "block"))
    exams, _ = as_codes(exam_or_folder(table))
    if not named and len(exams) < 2:
        raise FileError(
            f"the labels in {labels.path} do not say which frames belong together, and frames of "
            "one exam must not be in two folds; add a column patient or block to the labels, or "
            "give --splits FILE from capsieve splits"
        )
    return "patient" if named or "" in exams or len(exams) < folds else "exam"


def _sources(
    folders: Sequence[Path], labels: LabelSet
) -> tuple[tuple[str, ...], NDArray[np.int32], tuple[str, ...]]:
    """Return names of sources, a code per screened frame (-1 without a label), and warnings.

    A source is the first folder of a file in the labels, in Capsule Vision 2024 the last one. If a
    folder has polyp frames only, the folders are findings, and all frames are one source.
    """
    screened = read_screened(folders)
    places = find_frames(screened, labels.table, what=labels.path).row
    table = labels.table
    if labels.layout == _CAPSULE_VISION:
        last = pc.replace_substring_regex(  # pyright: ignore[reportAttributeAccessIssue]
            table["file"], pattern=r"^(?:.*/)?([^/]+)/[^/]*$", replacement=r"\1/"
        )
        table = pa.table({"file": last})
    names, of_row = source_of(table)
    truth = name_rows(labels.table).truth
    with_others = np.unique(of_row[(truth >= 0) & (truth != POLYP)])
    are_findings = not np.isin(of_row[truth == POLYP], with_others).all()
    warnings: tuple[str, ...] = ()
    if not names or (of_row < 0).any() or are_findings:
        if len(names) > 1:
            warnings = (
                "The folders of the files are not sources: some contain polyp frames only, or some "
                "files are in no folder. All frames are treated as one source.",
            )
        names, of_row = (_ONE_SOURCE,), np.zeros(len(places), np.int32)
    code = np.full(len(screened), -1, np.int32)
    code[places[places >= 0]] = of_row[places >= 0]
    return names, code, warnings


def _check_parts(parts: tuple[str, ...], part: NDArray[np.int16], splits: Path) -> None:
    there = [parts[code] for code in np.unique(part[part >= 0])]
    if len(there) < 2 or set(there) & {TRAIN, TEST}:
        raise ParameterError(
            "splits",
            f"{splits} has the parts {', '.join(there) or 'none'}, but training needs folds; make "
            "them with capsieve splits --folds 5",
        )


def _check_classes(truth: NDArray[np.int8], path: str) -> None:
    for code, word in ((POLYP, "polyp"), (NORMAL, "normal")):
        count = int((truth == code).sum())
        if count < _FEWEST:
            found = "no frame" if not count else f"only {count} frames"
            raise FileError(
                f"{path} labels {found} as {word} in sources with polyp frames; a model learns "
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
