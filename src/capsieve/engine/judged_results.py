"""Screened exams and labels read together: what evaluation and calibration start from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.judged import Judged
from capsieve.statistics.judging import class_warnings
from capsieve.statistics.labels.label_set import LabelSet
from capsieve.statistics.leaks import check_leaks
from capsieve.statistics.matching import Matched, match
from capsieve.statistics.points import with_training
from capsieve.statistics.splits import read_splits
from capsieve.store.exam import exam_folders, unfinished_exams
from capsieve.store.record import Flagging, Record, read_record
from capsieve.store.tables import intact

__all__ = ["JudgedResults", "read_judged", "read_matched"]

_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class JudgedResults:
    """Judged frames, what they were screened with, and what to know of them.

    Attributes
    ----------
    matched
        The frames, with the parts of a split where there is one.
    record
        Of an exam; detector and parameters are those of all.
    flagging
        By which rule each exam was flagged.
    warnings
        What a careful reader must know.
    leaks
        Sentences that name each leak that was overridden.
    """

    matched: Matched
    record: Record
    flagging: tuple[Flagging, ...]
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]

    @property
    def judged(self) -> Judged:
        """The frames."""
        return self.matched.judged


def read_judged(
    results: Path,
    labels: LabelSet,
    *,
    splits: Path | None = None,
    train_patients: Sequence[str] = (),
    allow_leaks: bool = False,
) -> JudgedResults:
    """Read results, match them with labels, part them, and check the parts for leaks.

    Raises
    ------
    FileError
        Results or labels that cannot be read or do not fit each other.
    LeakError
        The parts share patients or pictures, and that is not allowed.
    ParameterError
        A training patient that the labels do not name.
    """
    matched, records = read_matched(results, labels, splits=splits)
    if train_patients:
        parted = with_training(matched.judged, tuple(train_patients))
        matched = replace(matched, judged=parted)
    if not (matched.judged.truth >= 0).any():
        raise FileError(
            f"no label in {labels.path} fits a frame of {results}; "
            + (_first_problem(matched) if matched.problems else "check the names of the exams")
        )
    leaks, leak_warnings = check_leaks(matched, allow=allow_leaks)
    warnings = (
        *_incomplete(records),
        *_unfinished(results),
        *labels.warnings,
        *class_warnings(matched.judged),
        *leak_warnings,
    )
    flagging = tuple(record["flagging"] for record in records)
    return JudgedResults(matched, records[0], flagging, warnings, leaks)


def read_matched(
    results: Path, labels: LabelSet, *, splits: Path | None = None
) -> tuple[Matched, list[Record]]:
    """Read results of one detector with one set of parameters, and match them with labels.

    Raises
    ------
    FileError
        Results cannot be read, are not those that were screened, or differ in their detector or
        parameters.
    """
    folders = exam_folders(results)
    records = [read_record(folder) for folder in folders]
    for folder, record in zip(folders, records, strict=True):
        if not intact(folder, record["tables"]):
            raise FileError(
                f"the tables in {folder} are missing or damaged; screen again with --overwrite"
            )
    _check_alike(records, results)
    return match(folders, labels, splits=None if splits is None else read_splits(splits)), records


def _check_alike(records: Sequence[Record], results: Path) -> None:
    first = records[0]
    for record in records[1:]:
        for what in ("detector", "parameters"):
            if record[what] != first[what]:
                raise FileError(
                    f"the exams {first['exam']} and {record['exam']} in {results} were screened "
                    f"with different {'detectors' if what == 'detector' else 'parameters'}; "
                    "evaluate them apart"
                )


def _first_problem(matched: Matched) -> str:
    """The first thing that is wrong, an example of it, and the names that would have fitted."""
    problem = matched.problems[0]
    example = f" ({problem.examples[0]})" if problem.examples else ""
    exams = ", ".join(matched.judged.exams[:3]) + (", ..." if len(matched.judged.exams) > 3 else "")
    return f"{problem.what}{example}; the exams of the results are {exams}"


def _incomplete(records: Sequence[Record]) -> list[str]:
    names = _some([record["exam"] for record in records if not record["complete"]])
    sentence = f"Not every frame of these exams could be screened: {names}. Their reports say why."
    return [sentence] if names else []


def _unfinished(results: Path) -> list[str]:
    names = _some([folder.name for folder in unfinished_exams(results)])
    sentence = f"These exams were not screened to the end, and are left out: {names}."
    return [sentence] if names else []


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" and others" if len(names) > _SHOWN else "")
