"""Scored frames and labels read together: what evaluation, calibration and training start from.

Scores are the results of ``capsieve screen`` (OUT or OUT/EXAM), a table SCORES.csv of any program,
a data frame or a dict of arrays.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.errors import FileError, ParameterError
from capsieve.evaluation.leaks import check_leaks, check_training_frames
from capsieve.labels import LabelSet, Matched, Splits, match, read_labels, read_splits
from capsieve.phash import BITS
from capsieve.statistics.frames import NORMAL, POLYP, Coded, LabelledFrames
from capsieve.statistics.operating_point import with_training_patients
from capsieve.store.exam import Exam, exam_folders, unfinished_exams
from capsieve.store.record import Flagging
from capsieve.store.tables import intact

__all__ = ["LabelledResults", "ScoredFrames", "read_results", "read_scores"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredFrames:
    """Scored frames without labels, sorted by exam, head and frame.

    Attributes
    ----------
    name
        The path, or "scores" for values in memory.
    columns
        The fields of :class:`~capsieve.statistics.frames.LabelledFrames` that come from scores.
    path
        For each frame the path of its image as far as it is known, or null.
    source
        Device or data set per frame, or None.
    decoded
        Which frames could be decoded.
    pixel_hash
        Frame hashes (null if a frame was not decoded), or None if pixels are unknown.
    phash, has_phash
        Perceptual hashes (rows of 32 bytes) and which frames have one, or None.
    detector, parameters
        As in exam.json; {} for scores of other programs.
    flagging
        By which rule each exam was flagged; () for scores of other programs.
    folders
        Of the exams, in the order of ``columns["exam"].names``; () for scores of other programs.
    warnings
        Sentences.
    """

    name: str
    columns: Mapping[str, Any]
    path: pa.Array
    source: pa.Array | None
    decoded: NDArray[np.bool_]
    pixel_hash: pa.Array | None
    phash: NDArray[np.uint8] | None
    has_phash: NDArray[np.bool_] | None
    detector: Mapping[str, Any]
    parameters: Mapping[str, Any]
    flagging: tuple[Flagging, ...] = ()
    folders: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LabelledResults:
    """Scored frames with their labels.

    Attributes
    ----------
    scored, labels, matched
        What was read, and how the labels fit the frames.
    frames
        All frames.
    warnings
        What a reader of the figures must know; one sentence each.
    leaks
        Leaks that were allowed; one sentence each.
    """

    scored: ScoredFrames
    labels: LabelSet
    matched: Matched
    frames: LabelledFrames
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]

    @property
    def detector(self) -> Mapping[str, Any]:
        """As in exam.json; {} for scores of other programs."""
        return self.scored.detector

    @property
    def parameters(self) -> Mapping[str, Any]:
        """As in exam.json; {} for scores of other programs."""
        return self.scored.parameters

    @property
    def flagging(self) -> tuple[Flagging, ...]:
        """By which rule each exam was flagged; () for scores of other programs."""
        return self.scored.flagging

    @property
    def folders(self) -> tuple[Path, ...]:
        """Of the exams, in the order of ``frames.exam.names``; () for scores of other programs."""
        return self.scored.folders
