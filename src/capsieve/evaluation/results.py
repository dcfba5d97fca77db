"""Scored frames and labels together: what evaluation, calibration and training start from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.detectors import rule_parameter
from capsieve.errors import FileError, ParameterError
from capsieve.evaluation.leaks import (
    allowed_earlier,
    check_leaks,
    find_leaks,
    leak_kinds,
    read_training_phashes,
    training_leak,
)
from capsieve.evaluation.scores import (
    ScoredFrames,
    Scores,
    frame_keys,
    numbering_warnings,
    read_scores,
)
from capsieve.frame_table import LabelledFrames
from capsieve.labels import (
    LabelProblem,
    LabelSet,
    Matched,
    Splits,
    match,
    read_labels,
    read_splits,
)
from capsieve.labels.columns import code_range, coded, compute
from capsieve.parameters import Parameters
from capsieve.statistics.frames import BLOCKS_ARE_NOT_EXAMS, reading_units
from capsieve.statistics.operating_point import TEST, with_training_patients
from capsieve.statistics.options import InputOptions
from capsieve.statistics.rates import class_warnings
from capsieve.store.choice import Choice

_MOST_AT_CAP = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class LabelledResults:
    """Scored frames, labels, how they fit each other, and warnings.

    `leaks` are those that were allowed, and `leak` names their kinds for each frame, or "".
    """

    scored: ScoredFrames
    labels: LabelSet
    matched: Matched
    frames: LabelledFrames
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]
    leak: NDArray[np.object_]
    calibration_frames: int = 0
    """Number of evaluated frames on which the parameters or the threshold were chosen."""


def read_results(
    results: Scores,
    labels: Any,
    options: InputOptions = InputOptions(),  # noqa: B008 it is immutable
    *,
    planned: Splits | None = None,
    check_model: bool = True,
    leaks_file: Path | None = None,
) -> LabelledResults:
    """Read scores, match them with labels, divide them into parts, and check for leaks.

    Parameters
    ----------
    results
        OUT or OUT/EXAM of ``capsieve screen``, the path of a table of scores, a data frame, or a
        dict of arrays.
    labels
        Labels from :func:`capsieve.read_labels`; or a path, a data frame or a dict of arrays.
    options
        The format of the labels, the parts, and whether leaks are allowed.
    planned
        The parts, if they are not in a file.
    check_model
        Whether frames that trained the model are a leak, and results without a score an error.
        Training does not use the scores.
    leaks_file
        CSV for the frames of leaks.

    Raises
    ------
    FileError
        Scores or labels cannot be read or do not fit each other.
    LeakError
        Training and test share patients or images, or the model was trained on the frames.
    ParameterError
        A training patient is not in the labels.
    """
    if not isinstance(labels, LabelSet):
        labels = read_labels(labels, label_format=options.label_format)
    splits = planned if options.splits is None else read_splits(options.splits)
    scored = read_scores(results, first_frame=options.first_frame)
    if options.first_frame and scored.folders:
        raise ParameterError(
            "first_frame", "is for tables of scores; capsieve screen numbers frames from 0"
        )
    matched = match(frame_keys(scored.frames, scored.path), labels, splits)
    if not matched.labels.labelled.any():
        raise FileError(
            f"no label in {labels.path} fits a frame of {scored.name}; "
            + _first_problem(scored, (*matched.problems, *labels.problems))
        )
    frames = _labelled(scored, matched)
    if check_model and not frames.scored.any():
        raise FileError(f"no frame of {scored.name} has a score, so there is nothing to evaluate")
    if options.train_patients:
        frames = with_training_patients(frames, tuple(options.train_patients))
    frames = _with_parts(frames)
    leaks = list(find_leaks(frames, scored.hashes, in_two_parts=matched.in_two_parts))
    unknown = ""
    if check_model:
        trained, unknown = read_training_phashes(scored.detector, scored.models)
        if trained is not None and scored.hashes is not None:
            leaks += training_leak(frames, scored.hashes, trained)
        if scored.leak is not None:
            leaks += allowed_earlier(frames, scored.leak.to_pylist())
    allowed, leak_warnings = check_leaks(leaks, frames, allow=options.allow_leaks, file=leaks_file)
    chose = scored.choice if check_model else None
    seen, optimistic = calibration_frames(frames, scored, chose)
    warnings = (
        *numbering_warnings(scored, labels),
        *optimistic,
        *_few_labels(matched),
        *scored.warnings,
        *labels.warnings,
        *class_warnings(frames),
        *([BLOCKS_ARE_NOT_EXAMS] if frames.part.names and "block" in frames.group_kind else []),
        *([unknown] if unknown else []),
        *leak_warnings,
    )
    kinds = leak_kinds(leaks, len(frames))
    return LabelledResults(scored, labels, matched, frames, warnings, allowed, kinds, seen)


def _labelled(scored: ScoredFrames, matched: Matched) -> LabelledFrames:
    frames = LabelledFrames.of(scored.frames, matched.labels)
    if scored.source is None or (frames.source.code >= 0).any():
        return frames
    return replace(frames, source=coded(scored.source, in_order=True))


def _with_parts(frames: LabelledFrames) -> LabelledFrames:
    """Put frames without a label into the part of their exam, if it is in one part only.

    A split names labelled frames, but all frames of an exam are to be read.
    """
    if not frames.part.names:
        return frames
    unit, part = reading_units(frames).code, frames.part.code.copy()
    labelled = frames.labelled & (unit >= 0)
    low, high = code_range(unit[labelled], part[labelled], int(unit.max(initial=-1)) + 1)
    rest = ~frames.labelled & (part < 0) & (unit >= 0)
    part[rest] = np.where(low == high, high, -1)[unit[rest]]
    return replace(frames, part=replace(frames.part, code=part))


def calibration_frames(
    frames: LabelledFrames, scored: ScoredFrames, choice: Choice | None
) -> tuple[int, tuple[str, ...]]:
    """Count the frames to evaluate that chose parameters or a threshold; return a warning.

    Black frames are equal in all exams of a kind of capsule, so frames without a perceptual hash
    are not compared.
    """
    hashes, texts = scored.hashes, scored.pixel_hash
    if choice is None or hashes is None or texts is None:
        return 0, ()
    used = (frames.polyp_frames | frames.normal_frames) & ~hashes.featureless
    if TEST in frames.part.names:
        used &= frames.part.code == frames.part.names.index(TEST)
    chose = compute.is_in(texts, pa.array(sorted(choice.hashes), pa.string()))
    count = int(np.count_nonzero(chose.to_numpy(zero_copy_only=False) & used))
    if not count:
        return 0, ()
    chosen = choice.chosen[:1].upper() + choice.chosen[1:]
    return count, (
        f"Optimistic: computed on the calibration frames. {chosen} was chosen on "
        f"{count:,} of the {int(used.sum()):,} evaluated frames, so expect less on other exams.",
    )


def _first_problem(scored: ScoredFrames, problems: Sequence[LabelProblem]) -> str:
    """Return what is wrong first, an example, and the names that would fit."""
    names = scored.frames.exam.names
    exams = f"the exams of the scores are {', '.join(names[:3])}" + ", ..." * (len(names) > 3)
    if not problems:
        return f"{exams}; check the names in the labels"
    problem = problems[0]
    example = f" ({problem.examples[0]})" if problem.examples else ""
    return f"{problem.what}{example}; {exams}"


def _few_labels(matched: Matched) -> list[str]:
    rows, unused = int(matched.rows.rows.sum()), int(matched.rows.without_frame.sum())
    if 2 * unused <= rows:
        return []
    return [
        f"Only {rows - unused:,} of {rows:,} rows of the labels fit a frame of the scores; check "
        "that both are of the same study."
    ]


def radius_warnings(read: LabelledResults, threshold: float | None) -> list[str]:
    """Return warnings about radii that a threshold R_P of the paper's detector cannot separate.

    Parameters
    ----------
    read
        Results of any detector; there are warnings for the paper's only.
    threshold
        R_P; None if a reading list is used.
    """
    radii = read.frames.score[read.frames.score >= 1]
    if not (rule_parameter(read.scored.detector) and len(radii)):
        return []
    warnings: list[str] = []
    smallest, most = radii.min(), Parameters.from_dict(read.scored.parameters).derived.radius_search
    if threshold is not None and 1 < threshold <= smallest:
        warnings.append(
            f"R_P = {threshold:g} does not act on these frames: the smallest R_max is "
            f"{smallest:g}. The parameters as inferred (--parameters inferred) have smaller radii."
        )
    capped = float(np.mean(radii >= most))
    if capped > _MOST_AT_CAP:
        warnings.append(
            f"{100 * capped:.0f} % of the radii R_max are {most}, the largest that is searched "
            "(a third of the width), so no R_P separates these frames. Smaller sigma1 and sigma2, "
            "or --parameters inferred, give smaller radii."
        )
    return warnings
