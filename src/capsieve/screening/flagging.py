"""Flag the frames of screened exams by another rule, without scoring them again."""

import os
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from capsieve.detector import Detector
from capsieve.detectors import load_detector, rule_parameter, same_detector
from capsieve.errors import CapsieveError, FileError, OccupiedError, ParameterError, file_errors
from capsieve.frame_table import FlagRule
from capsieve.parameters import Parameters
from capsieve.screening.finish import write_results
from capsieve.screening.flags import FlaggedExam, chosen_rule, flag_exam
from capsieve.screening.screen import ScreenedExam
from capsieve.screening.thumbnails import Thumbnails, read_thumbnails, thumbnail_tasks
from capsieve.store.choice import Choice, read_choice, stored_choice
from capsieve.store.exam import Exam, exam_folders
from capsieve.store.record import RECORD
from capsieve.store.segments import check_results_replaceable, locked
from capsieve.user_files import PathLike

_Chosen: TypeAlias = tuple[Parameters, Choice]  # of one file


def flag(
    out: PathLike,
    *,
    read: str | int | None = None,
    threshold: float | None = None,
    parameters: Parameters | None = None,
    to: PathLike | None = None,
    protected: Collection[str] = (),
    begun: Collection[str] = (),
) -> list[ScreenedExam]:
    """Flag the frames of screened exams by another rule.

    Flags, events, thumbnails, report and the record's `flagging` change; the scores stay. If the
    source of an exam is missing, its new thumbnails are missing, with a warning in the record.

    Parameters
    ----------
    out
        The output folder of :func:`capsieve.screen`, or the folder of one exam in it.
    read, threshold
        The rule: a reading list such as ``"10%"`` or 300, or the lowest score of a flagged frame.
    parameters
        Instead of them, parameters loaded from a file of :func:`capsieve.calibrate`: what it chose
        is the rule, and the results name its calibration frames.
    to
        Write the results to this folder and leave those in `out` unchanged.
    protected
        Names of exams that are signed: they are not changed in place.
    begun
        Names of exams that readers have begun to read: their lists may only become longer.

    Returns
    -------
    list of ScreenedExam
        One per exam. An exam that must not be changed has an error, unless `to` is given.

    Raises
    ------
    CapsieveError
        The rule is wrong, or there is no screened exam.
    """
    rule = _rule(FlagRule.parse(read=read, threshold=threshold), parameters)
    if "" in (os.fspath(out), to):
        raise ParameterError("out", "is empty; give a folder")
    folders = [folder.absolute() for folder in exam_folders(out)]
    if to is not None:
        _check_target(Path(to), folders)
    flagged: list[ScreenedExam] = []
    for folder in folders:
        target = folder if to is None else Path(to).absolute() / folder.name
        try:
            if to is None and folder.name in protected:
                raise OccupiedError(
                    f"the reading of {folder} is signed; write the new flags to another folder "
                    "with -o"
                )
            only_longer = to is None and folder.name in begun
            flagged.append(_flag_again(folder, target, rule, only_longer=only_longer))
        except CapsieveError as error:
            flagged.append(ScreenedExam(folder.name, target, None, error))
    return flagged


def _rule(given: FlagRule | None, parameters: Parameters | None) -> FlagRule | _Chosen:
    if parameters is None:
        if given is None:
            raise ParameterError("read", "is missing; give a reading list or a threshold")
        return given
    if given is not None:
        raise ParameterError("parameters", "cannot be combined with a reading list or threshold")
    if parameters.calibration_file is None:
        raise ParameterError(
            "parameters",
            "must be a file of capsieve calibrate or capsieve search; else give a reading list or "
            "a threshold",
        )
    return parameters, read_choice(parameters.calibration_file)


def _check_target(to: Path, folders: list[Path]) -> None:
    """Refuse to write the results of exams into the folders that they are read from."""
    target, results = Path(os.path.realpath(to)), folders[0].resolve().parent
    if target == results:
        raise FileError(f"{to} has the results of these exams; to change them, do not give -o")
    if any((folder / RECORD).exists() for folder in (target, *target.parents)):
        raise FileError(f"cannot write to {to}: it is the folder of an exam; choose another folder")
    if any(target / folder.name == results for folder in folders):
        raise FileError(f"cannot write to {results}: it has other results; choose another folder")


def _flag_again(
    folder: Path, target: Path, rule: FlagRule | _Chosen, *, only_longer: bool
) -> ScreenedExam:
    with ExitStack() as stack:
        stack.enter_context(locked(folder))
        if target != folder:
            with file_errors("create", target, "choose another folder with -o"):
                target.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(target))
            if (target / RECORD).exists():
                raise OccupiedError(f"{target} already has results; choose another folder")
        check_results_replaceable(target)
        exam = Exam(folder)
        exam.check_tables()
        choice = stored_choice([(folder, exam.record)])
        if not isinstance(rule, FlagRule):
            parameters, choice = rule
            rule = _chosen_rule(parameters, choice, exam)
        flagged = flag_exam(
            exam.record["exam"],
            exam.columns(),
            rule,
            detector=exam.record["detector"],
            score_threshold=exam.record["flagging"]["score_threshold"],
        )
        if only_longer:
            _check_longer(exam, flagged)
        tables = {name: exam.columns(table=name) for name in ("features", "packets")}
        thumbnails = _thumbnails(exam, flagged)
        record = write_results(target, exam.record, flagged, *thumbnails, tables, choice=choice)
        return ScreenedExam(folder.name, target, record)


def _check_longer(exam: Exam, flagged: FlaggedExam) -> None:
    """Refuse to take frames off a list that readers have begun to read."""
    before, after = (
        np.asarray(table["flagged"].to_numpy(), bool)
        for table in (exam.columns("flagged"), flagged.frames)
    )
    fewer = int((before & ~after).sum())
    if fewer:
        raise OccupiedError(
            f"{exam.folder} has entries of readers, and {fewer} of its flagged frames would no "
            "longer be flagged; flag more frames, or write the new flags to another folder with -o"
        )


def _chosen_rule(parameters: Parameters, choice: Choice, exam: Exam) -> FlagRule:
    """Return the rule of a file of ``capsieve calibrate`` for an exam with the same scores."""
    detector = exam.record["detector"]
    same = replace(parameters, radius_threshold=exam.parameters.radius_threshold)
    if same != exam.parameters:
        raise ParameterError(
            "parameters",
            f"{exam.folder} was screened with other parameters; screen it again with these",
        )
    rule = chosen_rule(choice, detector)
    if rule is None and rule_parameter(detector) is None:
        raise ParameterError(
            "parameters",
            f"{choice.chosen} was chosen for the detector paper, and not for "
            f"{detector.get('name')}",
        )
    return rule or FlagRule("threshold", float(parameters.radius_threshold))


def _thumbnails(exam: Exam, flagged: FlaggedExam) -> tuple[Thumbnails, str]:
    """Return thumbnails of the frames to read, stored or new ones, and why some are missing."""
    rows = exam.columns(table="thumbnails").to_pylist()
    there = {(row["head"], row["frame"]): (row["thumbnail"], row["evidence"]) for row in rows}
    thumbnails = {key: there[key] for key in flagged.shown if key in there}
    detector = _detector(exam)
    maps = flagged.explained if hasattr(detector, "evidence") else []
    without_map = {key for key in maps if key in there and there[key][1] is None}
    missing = [key for key in flagged.shown if key not in there or key in without_map]
    problem = ""
    for head in exam.heads:
        for task in thumbnail_tasks(
            *(exam.record["exam"], head, partial(exam.reader, head)),
            exam.fields_of_view(head),
            frames=missing,
            explained=maps,
            detector=detector,
        ):
            made, why = read_thumbnails(task)
            thumbnails |= made
            problem = problem or why
    return thumbnails, problem


def _detector(exam: Exam) -> Detector | None:
    """Return the detector that scored the exam if it can be loaded, to draw evidence maps."""
    scored = exam.record["detector"]
    try:
        detector = load_detector(str(scored.get("name")), parameters=exam.parameters)
    except Exception:  # it may belong to another package
        return None
    return detector if same_detector(detector.identity, scored) else None
