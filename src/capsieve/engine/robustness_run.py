"""A robustness study: labelled frames of exams under the base and every changed setting."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capsieve.engine.labelled_frames import label_surveyed, survey_exams
from capsieve.engine.settings_run import SettingsRun
from capsieve.errors import FileError, ParameterError
from capsieve.parameters import Parameters
from capsieve.screening.executors import choose_executor
from capsieve.screening.settings import FieldChoice, Listener
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.statistics.labels import read_labels
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.perturbation import CHANGES, PARAMETERS, Change, plan_changes
from capsieve.statistics.robustness import (
    Rates,
    Sides,
    changed_sides,
    draw_normals,
    rates_of,
)
from capsieve.store.record import FieldOfViewRecord

__all__ = ["Robustness", "study_robustness"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Robustness:
    """What a robustness study found.

    Attributes
    ----------
    base
        The parameters that are changed one at a time.
    changes
        All changes, also those that are not possible.
    base_rates, rates, sides
        Of the base and of every change; None where it is not possible.
    exams
        Those that were studied.
    failed
        Exams that could not be read, each with its reason.
    frames
        Frames of the exams by what they show: "found", "polyp", "normal", "other", "unlabelled".
    normals_drawn
        How many normal frames were analysed; `normals_asked` and `seed` say how they were chosen,
        and `normals_asked` is None where all were.
    unscored
        Frames that could not be analysed, each with its reason.
    unnamed_polyp_frames
        Polyp frames that name no polyp: they count per frame alone.
    unit
        "polyp" or "run".
    labels, layout
        Where the labels were read, and what they are.
    problems, warnings
        What was not clear in the labels, and what to know of their source.
    field_of_view, views
        What was asked for, and what was found, by exam.
    """

    base: Parameters
    changes: tuple[Change, ...]
    base_rates: Rates
    rates: tuple[Rates | None, ...]
    sides: tuple[Sides | None, ...]
    exams: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    frames: dict[str, int]
    normals_drawn: int
    normals_asked: int | None
    seed: int
    unscored: tuple[tuple[str, str], ...]
    unnamed_polyp_frames: int
    unit: str
    labels: str
    layout: str
    problems: tuple[LabelProblem, ...]
    warnings: tuple[str, ...]
    field_of_view: FieldChoice
    views: dict[str, list[FieldOfViewRecord]]

    @property
    def complete(self) -> bool:
        """Whether every labelled frame that was wanted was analysed."""
        return not self.failed and not self.unscored


def study_robustness(
    inputs: PathLike | Sequence[PathLike],
    labels: PathLike,
    *,
    layout: str | None = None,
    parameters: Parameters | None = None,
    names: Sequence[str] = PARAMETERS,
    percents: Sequence[float] = CHANGES,
    normals: int | None = None,
    seed: int = 0,
    field_of_view: FieldChoice = "auto",
    full_names: bool = False,
    workers: int | None = None,
    progress: Listener | None = None,
) -> Robustness:
    """Change each parameter a little, and see how much the results change.

    Only frames that are labelled polyp or normal are analysed. What a change does not touch is
    computed once: see :mod:`capsieve.paper.many_settings`.

    Parameters
    ----------
    inputs, field_of_view, full_names, workers, progress
        See :func:`capsieve.screen`.
    labels, layout
        See :func:`capsieve.statistics.labels.read_labels`.
    parameters
        The base; the paper's table by default.
    names, percents
        What to change, and by how much: see :func:`~capsieve.statistics.perturbation.plan_changes`.
    normals
        Analyse only so many normal frames, drawn at random over all exams; None takes all. Polyp
        frames are all kept.
    seed
        Of the draw.

    Raises
    ------
    CapsieveError
        A setting is wrong, the labels cannot be read, no exam can, or no frame is labelled.
    """
    base = Parameters() if parameters is None else parameters
    changes = tuple(plan_changes(base, names, percents))
    if normals is not None and normals < 1:
        raise ParameterError("normals", f"must be at least 1, not {normals}")
    told = read_labels(labels, layout=layout)
    exams, failed = survey_exams(
        [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs),
        full_names=full_names,
    )
    frames = label_surveyed(exams, told)
    wanted = (frames.truth == POLYP) | (frames.truth == NORMAL)
    if not wanted.any():
        raise FileError(
            f"no frame of the exams is labelled polyp or normal in {told.path}; do the labels "
            "belong to these exams?"
        )
    if normals is not None:
        named = [frames.exams[code] for code in frames.exam.tolist()]
        drawn = draw_normals(
            named, frames.head, frames.frame, frames.truth == NORMAL, count=normals, seed=seed
        )
        wanted = (frames.truth == POLYP) | drawn
    settings = (base, *(change.parameters for change in changes if change.parameters))
    study = SettingsRun(exams, wanted, settings, field_of_view=field_of_view, progress=progress)
    with choose_executor(workers=workers) as executor:
        study.run(executor)

    truth, polyp = frames.truth[wanted], frames.polyp[wanted]
    scores = study.scores[wanted]
    scored = ~np.isnan(scores[:, 0])
    flags = [
        flagged_at(scores[:, column], setting.radius_threshold)
        for column, setting in enumerate(settings)
    ]
    later = iter(flags[1:])
    chosen = [next(later) if change.parameters else None for change in changes]
    rates = [None if flag is None else rates_of(flag, truth, polyp, scored) for flag in chosen]
    sides = [None if flag is None else changed_sides(flags[0], flag, truth) for flag in chosen]
    kinds = {"polyp": POLYP, "normal": NORMAL, "other": OTHER, "unlabelled": UNLABELLED}
    counts = {name: int((frames.truth == code).sum()) for name, code in kinds.items()}
    lost = sorted(study.problems)
    return Robustness(
        base=base,
        changes=changes,
        base_rates=rates_of(flags[0], truth, polyp, scored),
        rates=tuple(rates),
        sides=tuple(sides),
        exams=frames.exams,
        failed=failed,
        frames={"found": len(frames.truth), **counts},
        normals_drawn=int((truth == NORMAL).sum()),
        normals_asked=normals,
        seed=seed,
        unscored=tuple(
            (name, study.problems[place])
            for name, place in zip(frames.names(lost), lost, strict=True)
        ),
        unnamed_polyp_frames=int(((truth == POLYP) & (polyp < 0)).sum()),
        unit=told.unit,
        labels=told.path,
        layout=told.layout,
        problems=frames.problems,
        warnings=told.warnings,
        field_of_view=field_of_view,
        views=study.views,
    )
