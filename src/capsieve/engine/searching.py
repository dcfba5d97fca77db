"""The search for parameters: nested, so that the figure it reports never saw it.

For every part of the split one search looks at the other parts alone; its best setting, with the
threshold that those parts choose, is judged on the part that was left out. A last search looks at
everything, and gives the parameters to use. All searches share what was measured, because a
measurement knows no label.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.calibration.search_free import Measured
from capsieve.calibration.search_importance import explained_spread, worth_of_rules
from capsieve.calibration.search_judging import Judgement, judge, with_threshold
from capsieve.calibration.search_objective import Objective, check_objective
from capsieve.calibration.search_objective import objective as objective_of
from capsieve.calibration.search_study import Trial, require_optuna
from capsieve.detectors import load_detector
from capsieve.engine.executors.choose import choose_executor
from capsieve.engine.executors.versions import greeting_for
from capsieve.engine.labelled_frames import SurveyedExam
from capsieve.engine.progress import Listener
from capsieve.engine.searching_bench import Bench
from capsieve.engine.searching_cache import SearchCache
from capsieve.engine.searching_frames import SearchFrames, gather_frames
from capsieve.engine.searching_nested import EVERYTHING, Searches
from capsieve.engine.views import FieldChoice
from capsieve.errors import ParameterError
from capsieve.frames import FieldOfView
from capsieve.parameters import Parameters
from capsieve.statistics.flags import flagged_at
from capsieve.store.lock import locked

__all__ = ["SearchOutcome", "search"]

PathLike = str | os.PathLike[str]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SearchOutcome:
    """What a search found.

    Attributes
    ----------
    base
        The parameters that it began with.
    parameters
        Those to use: the best of the search on everything, with their R_P.
    optimistic
        Their worth on the frames that chose them.
    base_optimistic
        The base's, on the same frames.
    judgement
        The honest figures: every part with the setting that the other parts chose.
    by_part
        By name of the part: the setting that the others chose for it, and the base's R_P there.
    trials
        Of the search on everything.
    spread
        The share of the spread of values that each dear field explains.
    worth
        What the best setting loses with the base's rule, by free field.
    elsewhere
        By source without a polyp: normal frames, those flagged by the searched settings, and by
        the base.
    frames
        Counts: "polyp", "normal", "polyps", "groups", "normals_elsewhere", "unscored".
    settings
        How it was searched, as plain values.
    group_kind, unit
        What was kept apart, and what one polyp is.
    problems, warnings
        What was not clear, as sentences.
    complete
        Whether all trials were done: a limit on time may end it before.
    """

    base: Parameters
    parameters: Parameters
    optimistic: float
    base_optimistic: float
    judgement: Judgement
    by_part: dict[str, tuple[Parameters, int]]
    trials: tuple[Trial, ...]
    spread: dict[str, float]
    worth: dict[str, float | None]
    elsewhere: dict[str, tuple[int, int, int]]
    frames: dict[str, int]
    settings: dict[str, Any]
    group_kind: str
    unit: str
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    complete: bool


def search(
    inputs: PathLike | Sequence[PathLike],
    labels: PathLike,
    out: PathLike,
    *,
    layout: str | None = None,
    splits: PathLike | None = None,
    folds: int = 5,
    block_size: int = 300,
    target_specificity: float = 0.9,
    objective: Objective = "both",
    trials: int = 30,
    batch: int = 5,
    normals: int | None = None,
    seed: int = 0,
    parameters: Parameters | None = None,
    field_of_view: FieldChoice = "auto",
    workers: int | None = None,
    seconds: float | None = None,
    progress: Listener | None = None,
) -> SearchOutcome:
    """Search all parameters of the paper's detector on labelled frames.

    Measurements are kept in `out`: the same call goes on where it was stopped. Nothing else is
    written; see :func:`capsieve.report.search_files.write_search`.

    Parameters
    ----------
    inputs, field_of_view, workers, progress
        See :func:`capsieve.screen`. The result does not depend on the number of workers.
    labels, layout
        See :func:`capsieve.statistics.labels.read_labels`.
    out
        Folder of the search.
    splits
        Parts that are kept apart, a file from ``capsieve splits``; a part named train is never
        judged. Without it, `folds` parts of whole patients or blocks.
    folds, block_size
        See :func:`~capsieve.statistics.split_plan.plan_splits`.
    target_specificity
        At which sensitivity counts, a share of 1.
    objective
        What is made large: see :func:`~capsieve.calibration.search_objective.objective`.
    trials
        Settings of the dear fields that each search tries, each with the best rules for it.
    batch
        How many a search proposes at a time.
    normals
        Use only so many normal frames, drawn at random; None takes all.
    seed
        Of everything that is drawn.
    parameters
        The base; the paper's table by default.
    seconds
        Propose nothing more after this time. The result then depends on the machine.

    Raises
    ------
    CapsieveError
        A setting is wrong, optuna is missing, labels or exams cannot be read, or the folder holds
        another search.
    """
    require_optuna()
    check_objective(objective)
    for name, value in (("trials", trials), ("batch", batch)):
        if value < 1:
            raise ParameterError(name, f"must be 1 or more, not {value}")
    if not 0 < target_specificity < 1:
        raise ParameterError(
            "target_specificity", f"must be between 0 and 1, not {target_specificity:g}"
        )
    base = Parameters() if parameters is None else parameters
    held = gather_frames(
        [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs),
        labels,
        layout=layout,
        splits=splits,
        folds=folds,
        block_size=block_size,
        normals=normals,
        seed=seed,
    )
    folder = Path(out)
    cache = SearchCache(folder, _identity(held, base, field_of_view))
    greeting = greeting_for(load_detector("paper", parameters=base))
    with (
        locked(folder),
        choose_executor(workers=workers, cluster=None, greeting=greeting) as executor,
    ):
        bench = Bench(held, base, cache, executor, field_of_view, progress)
        run = Searches(
            bench, held.subjects, base, target=target_specificity, what=objective, seed=seed
        )
        complete = run.go(trials, batch, seconds)
        return _concluded(
            run,
            bench,
            held,
            complete=complete,
            settings={
                "splits": None if splits is None else str(splits),
                "folds": folds,
                "block_size": block_size,
                "target_specificity": target_specificity,
                "objective": objective,
                "trials": trials,
                "batch": batch,
                "normals": normals,
                "seed": seed,
                "seconds": seconds,
                "field_of_view": _plain(field_of_view),
                "labels": str(labels),
            },
        )


def _concluded(
    run: Searches,
    bench: Bench,
    held: SearchFrames,
    *,
    complete: bool,
    settings: dict[str, Any],
) -> SearchOutcome:
    """Judge the best settings with the detector itself, and gather everything."""
    subjects, base = run.subjects, run.base
    best = {part: study.best for part, study in run.studies.items()}
    every = bench.scores([base, *(trial.found.parameters for trial in best.values())])
    own = {part: every[trial.found.parameters] for part, trial in best.items()}

    def fitted(parameters: Parameters, part: int) -> Parameters:
        chosen = run.chosen(part)
        score = every[parameters][held.wanted][chosen]
        return with_threshold(
            parameters, score, subjects.truth.truth[chosen], target_specificity=run.target
        )

    searched = {part: fitted(trial.found.parameters, part) for part, trial in best.items()}
    printed = {part: fitted(base, part) for part in best}
    judged = subjects.judged_parts()
    judgement = judge(
        subjects,
        {part: (searched[part], own[part][held.wanted]) for part in judged},
        {part: (printed[part], every[base][held.wanted]) for part in judged},
        target_specificity=run.target,
    )
    last = best[EVERYTHING]
    measured = bench.measured(last.setting)
    base_value = _value(run, bench.measured(base), base)
    return SearchOutcome(
        base=base,
        parameters=searched[EVERYTHING],
        optimistic=last.found.value,
        base_optimistic=base_value,
        judgement=judgement,
        by_part={
            subjects.parts[part]: (searched[part], printed[part].radius_threshold)
            for part in judged
        },
        trials=tuple(run.studies[EVERYTHING].trials),
        spread=explained_spread(run.studies[EVERYTHING].trials),
        worth=worth_of_rules(
            measured,
            last.found.parameters,
            base,
            subjects.truth,
            target_specificity=run.target,
            what=run.what,
        ),
        elsewhere=_elsewhere(
            held,
            (own[EVERYTHING], searched[EVERYTHING].radius_threshold),
            (every[base], printed[EVERYTHING].radius_threshold),
        ),
        frames={
            **held.counts,
            "unscored": int(np.isnan(every[base][held.wanted]).sum()),
        },
        settings=settings,
        group_kind=subjects.group_kind,
        unit=subjects.unit,
        problems=held.problems,
        warnings=held.warnings,
        complete=complete,
    )


def _value(run: Searches, measured: Measured, parameters: Parameters) -> float:
    return objective_of(
        measured.scores(parameters),
        run.subjects.truth,
        target_specificity=run.target,
        what=run.what,
    )


def _elsewhere(
    held: SearchFrames, searched: tuple[Floats, int], base: tuple[Floats, int]
) -> dict[str, tuple[int, int, int]]:
    """Count false alarms in sources without a polyp, with the parameters to use and the base."""
    found: dict[str, tuple[int, int, int]] = {}
    for name, mask in held.elsewhere_by_source.items():
        here = mask & ~np.isnan(searched[0]) & ~np.isnan(base[0])
        flagged = [
            int(flagged_at(score[here], threshold).sum()) for score, threshold in (searched, base)
        ]
        found[name] = (int(here.sum()), flagged[0], flagged[1])
    return found


def _identity(held: SearchFrames, base: Parameters, field_of_view: FieldChoice) -> dict[str, Any]:
    """Return all that decides about measurements; labels and seeds decide about none."""
    wanted = np.packbits(held.wanted).tobytes() + np.packbits(held.elsewhere).tobytes()
    return {
        "capsieve": __version__,
        "parameters": base.to_dict(),
        "sources": {exam.name: _sources(exam) for exam in held.exams},
        "frames": sha256(wanted).hexdigest(),
        "field_of_view": _plain(field_of_view),
    }


def _sources(exam: SurveyedExam) -> list[str]:
    return [survey.sha256 for _, survey in exam.heads]


def _plain(field: FieldChoice) -> Any:
    return [field.row, field.col, field.radius] if isinstance(field, FieldOfView) else field
