"""Reproduce the paper's study: render or read exams, screen, score, evaluate, write one page."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from capsieve.report import text
from capsieve.report.reproduce import ReproducedStudy, check_files, write_reproduction
from capsieve.report.robustness_figure import robustness_drawing
from capsieve.reproduce.figures import paper_figures
from capsieve.reproduce.options import ReproduceOptions
from capsieve.reproduce.readings import Reading, read_readings
from capsieve.reproduce.study import StageListener, Study, make_study
from capsieve.reproduce.tables import paper_tables, rate_studies
from capsieve.result_table import Table
from capsieve.user_files import PathLike


@dataclass(frozen=True, slots=True, eq=False)
class Reproduction:
    """The page that was written, and its tables by their keys."""

    page: Path
    tables: dict[str, Table]


def reproduce(
    out: PathLike,
    *,
    options: ReproduceOptions = ReproduceOptions(),  # noqa: B008 it is immutable
    progress: StageListener = lambda stage, fraction: None,
    **changes: Any,
) -> Reproduction:
    """Reproduce the paper's study on the phantom or on one's own exams.

    An interrupted call is continued by the same one.

    Parameters
    ----------
    out
        Folder of the study: exams, results, scores, tables and the page.
    options
        The exams and their labels, and the size of the phantom.
    progress
        Called with the stage, see :data:`capsieve.reproduce.study.STAGES`, and its finished
        fraction.
    **changes
        Fields of `options`, such as ``short=True``.

    Raises
    ------
    CapsieveError
        The exams or labels cannot be read, there is no space, or the folder has another study or
        a page that capsieve did not write.
    """
    options = replace(options, **changes)
    check_files(Path(out))
    study = make_study(Path(out).absolute(), options, progress)
    progress("evaluating", 0.0)
    with ExitStack() as stack:
        readings = read_readings(study, stack)
        progress("evaluating", 0.5)
        made = paper_tables(study, readings)
        page = write_reproduction(_content(study, readings, made), Path(out))
    progress("evaluating", 1.0)
    return Reproduction(page, made)


def _content(study: Study, readings: list[Reading], made: dict[str, Table]) -> ReproducedStudy:
    frames, options = readings[0].evaluation.frames, study.options
    counts = (
        (len(np.unique(frames.patient.code[frames.patient.code >= 0])), "patient"),
        (len(np.unique(frames.polyp.code[frames.polyp.code >= 0])), frames.polyp_word),
        (int(frames.polyp_frames.sum()), "polyp frame"),
        (int(frames.normal_frames.sum()), "normal frame"),
    )
    return ReproducedStudy(
        is_phantom=study.is_phantom,
        is_short=options.short,
        patient=options.patient_words,
        counts=tuple(text.plural(number, noun) for number, noun in counts),
        tables=made,
        drawings=paper_figures(readings),
        changes=robustness_drawing(rate_studies(readings), differences=True),
        warnings={
            each.name: (*each.evaluation.leaks, *each.evaluation.warnings) for each in readings
        },
        facts=(
            ("Detector", "paper (the published algorithm), as printed and as inferred"),
            ("Threshold", f"the smallest one with 90 % specificity on {options.patient_words}"),
            ("Normal frames of the robustness study", f"drawn at random, seed {options.seed}"),
            ("Exams", "rendered, seed " + str(options.seed) if study.is_phantom else "given"),
        ),
    )
