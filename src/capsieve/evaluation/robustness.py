"""A robustness study: change one parameter at a time a little, and compare what is flagged."""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capsieve._version import __version__
from capsieve.atomic_write import check_replaceable, write_json
from capsieve.errors import ParameterError
from capsieve.evaluation.labelled_run import (
    ExamPaths,
    LabelledRun,
    score_labelled_frames,
    stored_scores,
)
from capsieve.evaluation.settings import RobustnessSettings
from capsieve.frame_table import NORMAL, POLYP, flagged_at
from capsieve.labels import LabelSet, read_labels
from capsieve.parameters import Parameters
from capsieve.report import figures, page, tables, text
from capsieve.report.robustness_figure import RateChanges, robustness_drawing
from capsieve.result_table import Column, Table
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import RATES, rate_metrics
from capsieve.statistics.results import Metric
from capsieve.statistics.robustness import Effect, effect
from capsieve.user_files import PathLike

if TYPE_CHECKING:
    from capsieve.screening.settings import Listener


ROBUSTNESS_SCHEMA = 2
"""Version of robustness.json."""

CHANGES = (10.0, -10.0)
"""Percent. The paper has the first."""

PARAMETERS = (
    "midpass_fine",
    "midpass_coarse",
    "threshold_low",
    "threshold_high",
    "size_low",
    "size_high",
    "eccentricity_max",
)
"""Those of the paper's table, in its order: all of the geometric part except R_P."""

# Floats here, whole numbers in the paper: a whole one stays whole.
_SIGMAS = ("texture_sigma", "energy_sigma", "midpass_fine", "midpass_coarse")
_NO_NUMBERS = ("ball_fit", "channel", "vignetting")


@dataclass(frozen=True, slots=True)
class Change:
    """One changed parameter: field, paper's symbol, requested change, and value before and after.

    If the change is not possible, value, parameters and effect are None and `why` is the reason.
    """

    name: str
    symbol: str
    percent: float
    base: float
    value: float | None
    parameters: Parameters | None
    why: str = ""
    effect: Effect | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Robustness:
    """Results of a robustness study."""

    settings: RobustnessSettings
    base: Parameters  # changed one parameter at a time
    changes: tuple[Change, ...]
    metrics: dict[str, Metric]  # of the base, by the keys RATES
    run: LabelledRun
    labels: LabelSet


def parameter_named(name: str) -> str:
    """Return the field of :class:`~capsieve.Parameters` with this name or symbol.

    ``midpass_fine``, ``sigma_1`` and ``sigma1`` are the same; so are ``E_max`` and ``e_max``. If
    there is none, or its value is not a number, a ParameterError is raised.
    """
    known: dict[str, str] = {}
    for each in fields(Parameters):
        symbol = each.metadata["symbol"].partition(" / ")[0]
        known |= {_plain(each.name): each.name, _plain(symbol): each.name}
    known.pop("", None)  # the symbol of fields without one
    field_name = known.get(_plain(name))
    if field_name is None:
        names = [each.name for each in fields(Parameters) if each.name not in _NO_NUMBERS]
        near = get_close_matches(name.casefold(), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(names)}"
        raise ParameterError("parameter", f"there is no parameter {name!r}; {hint}")
    if field_name in _NO_NUMBERS:
        raise ParameterError(
            "parameter", f"{field_name} is not a number and cannot be changed by a percentage"
        )
    return field_name


def perturbed(parameters: Parameters, name: str, factor: float) -> Parameters:
    """Return the parameters with one of them (a field or symbol) multiplied; 1.1 is 10 % more.

    Whole numbers are rounded away from the base: up as in the paper if they grow (sigma_1 from 7 to
    8, S_L from 292 to 322), and down if they shrink (7 to 6; rounded up, 6.3 would be 7 again). The
    sigmas are whole numbers in the paper, and stay whole if they are whole in the base. A value
    that is not allowed, or does not change, is a ParameterError.
    """
    name = parameter_named(name)
    if not (math.isfinite(factor) and factor > 0 and factor != 1):
        raise ParameterError(
            "factor", f"must be a positive number other than 1, not {factor!r}: 1.1 is 10 % more"
        )
    base = _value(parameters, name)
    # Exact decimals: 30 times 1.1 is 33; as floats it is a little more, which rounds up to 34.
    exact = _exact(base) * _exact(factor)
    value = float(exact)
    if isinstance(base, int) or (name in _SIGMAS and float(base).is_integer()):
        value = type(base)(math.ceil(exact) if factor > 1 else math.floor(exact))
    if value == base:
        raise ParameterError(name, f"{base:g} times {factor:g} is {value:g} again: no change")
    try:
        return replace(parameters, **{name: value})
    except ParameterError as error:
        raise ParameterError(
            name, f"cannot become {value:g}, because {error.field} {error.args[1]}"
        ) from error


def plan_changes(
    parameters: Parameters, names: Sequence[str] = PARAMETERS, percents: Sequence[float] = CHANGES
) -> list[Change]:
    """Return all changes: each parameter in turn, by each of the percentages.

    A change that the rules of the parameters forbid stays in the list with the reason. If none is
    possible, a ParameterError is raised.
    """
    for percent in percents:
        if not (math.isfinite(percent) and percent > -100 and percent != 0):
            raise ParameterError(
                "change", f"must be a percentage above -100 and not 0, not {percent:g}"
            )
    symbols = {each.name: each.metadata["symbol"] for each in fields(Parameters)}
    planned: list[Change] = []
    for name in dict.fromkeys(map(parameter_named, names)):
        symbol = symbols[name].replace("sigma_", "sigma")
        base = _value(parameters, name)
        for percent in dict.fromkeys(percents):
            try:
                setting = perturbed(parameters, name, float(1 + _exact(percent) / 100))
            except ParameterError as error:
                planned.append(Change(name, symbol, percent, base, None, None, str(error)))
            else:
                value = _value(setting, name)
                planned.append(Change(name, symbol, percent, base, value, setting))
    if not any(change.parameters for change in planned):
        why = planned[0].why if planned else "no parameter is named"
        raise ParameterError("change", f"no change is possible: {why}")
    return planned


def study_robustness(
    inputs: ExamPaths,
    labels: PathLike,
    out: PathLike | None = None,
    *,
    settings: RobustnessSettings | None = None,
    progress: "Listener | None" = None,
) -> Robustness:
    """Change each parameter a little, and compare sensitivity and specificity.

    Only frames labelled polyp or normal are analysed, once for all changes together. In the folder
    `out` are then robustness.json, .csv, .tex and .png; with it an interrupted study continues.
    """
    settings = settings or RobustnessSettings()
    base = settings.parameters or Parameters()
    changes = plan_changes(base, settings.parameter or PARAMETERS, settings.change or CHANGES)
    label_set = read_labels(labels, label_format=settings.label_format)
    if out is not None:
        files = [Path(out, f"robustness.{ending}") for ending in ("json", "csv", "tex", "png")]
        check_replaceable(*files, record=files[0])
    tried = [base, *(change.parameters for change in changes if change.parameters)]
    run = score_labelled_frames(
        inputs,
        label_set,
        tried,
        None if out is None else Path(out),
        settings=settings,
        progress=progress,
    )
    study = compare_changes(run, changes, settings=settings, labels=label_set)
    if out is not None:
        _write(study, Path(out))
        stored_scores(Path(out)).remove()
    return study


def compare_changes(
    run: LabelledRun, changes: Sequence[Change], *, settings: RobustnessSettings, labels: LabelSet
) -> Robustness:
    """Compare the frames that the base and each possible change of it flag.

    The scores of the run are those of the base, and then those of the changes in their order.
    """
    base = settings.parameters or Parameters()
    tried = [base, *(change.parameters for change in changes if change.parameters)]
    flags = {
        setting: flagged_at(scores, setting.radius_threshold)
        for setting, scores in zip(tried, run.scores.T, strict=True)
    }
    metrics = rate_metrics(run.frames, flags[base], EvaluationOptions(seed=settings.seed))
    return Robustness(
        settings=settings,
        base=base,
        changes=tuple(
            replace(change, effect=effect(run.frames, flags[base], flags[change.parameters]))
            if change.parameters
            else change
            for change in changes
        ),
        metrics={each.key: each for each in metrics if each.key in RATES},
        run=run,
        labels=labels,
    )


def robustness_table(study: Robustness) -> Table:
    """Return the paper's robustness table, then the values, and the frames whose flag changed."""
    columns = [Column("parameter", "Parameter")]
    for key, label in _rate_labels(study).items():
        name = _RATE_COLUMNS[key]
        columns.append(Column(name, label, "share"))
        quantity, _, per = label.partition(" ")
        delta = f"delta({quantity}) {per}".strip()
        columns.append(Column(f"delta_{name}", delta, "number", 2))
    columns += [
        Column("change_percent", "Change (%)", "number"),
        Column("value", "Value"),
        Column("newly_flagged", "Newly flagged", "count"),
        Column("no_longer_flagged", "No longer flagged", "count"),
    ]
    base = [cell for key in RATES for cell in (study.metrics[key].value, None)]
    rows: list[tuple[Any, ...]] = [("Base", *base, None, None, None, None)]
    for change in study.changes:
        result = change.effect
        value = None if change.value is None else f"{change.value:g}"
        cells: list[Any] = [None] * len(base)
        changed: tuple[int | None, ...] = (None, None)
        if result is not None:
            cells = [cell for key in RATES for cell in (result.rates[key].value, result.delta[key])]
            changed = sum(result.gained.values()), sum(result.lost.values())
        rows.append((_symbol_of(change), *cells, change.percent, value, *changed))
    return Table("robustness", "Robustness", tuple(columns), tuple(rows), _caption(study))


def paper_table(study: Robustness) -> Table:
    """Return the seven columns of the paper's robustness table.

    The first has the changes too, unless every parameter is changed by the same percentage.
    """
    table = robustness_table(study)
    several = len({change.percent for change in study.changes}) > 1
    names = ["Base", *(_change_name(c) if several else _symbol_of(c) for c in study.changes)]
    rows = tuple((name, *row[1:7]) for name, row in zip(names, table.rows, strict=True))
    return replace(table, columns=table.columns[:7], rows=rows)


_RATE_COLUMNS: dict[str, str] = dict(
    zip(RATES, ("specificity", "sensitivity_frames", "sensitivity_polyps"), strict=True)
)


def _rate_labels(study: Robustness) -> dict[str, str]:
    word = study.run.frames.polyp_word
    return dict(zip(RATES, ("SPEC", "SENS per frame", f"SENS per {word}"), strict=True))


def _symbol_of(change: Change) -> str:
    return change.symbol if change.symbol != "-" else change.name


def _change_name(change: Change) -> str:
    return f"{_symbol_of(change)} {text.signed(change.percent)} %"


def _caption(study: Robustness) -> str:
    run, polyps = study.run, study.metrics["polyps.sensitivity"].denominator or 0
    normals = f"{int((run.frames.truth == NORMAL).sum()):,}"
    if study.settings.normals is not None:
        normals += f" of {run.counts['normal']:,} (drawn at random, seed {study.settings.seed})"
    percents = " or ".join(
        f"{text.signed(each)} %"
        for each in dict.fromkeys(change.percent for change in study.changes)
    )
    caption = (
        f"R_P = {study.base.radius_threshold}. One parameter at a time is changed by {percents}. "
        f"Frames: {int((run.frames.truth == POLYP).sum()):,} polyp frames of {polyps:,} "
        f"{run.frames.polyp_word}s and {normals} normal frames of "
        f"{text.plural(len(run.exams), 'exam')}. Whole numbers are rounded away from the base. "
        "delta(SPEC) and delta(SENS) are changes relative to the base, in percent."
    )
    return caption + (f" Not analysed: {len(run.unscored):,} frames." if run.unscored else "")


def _write(study: Robustness, out: Path) -> None:
    page.write(tables.csv(robustness_table(study)), out / "robustness.csv")
    page.write(tables.latex(paper_table(study)), out / "robustness.tex")
    figures.save(robustness_drawing([rate_changes(study)]).figure, out / "robustness.png")
    write_json(robustness_content(study), out / "robustness.json")


def rate_changes(study: Robustness, name: str = "") -> RateChanges:
    """Return the rates of the base and of every possible change, for the figure."""
    possible = [(change, change.effect) for change in study.changes if change.effect is not None]
    return RateChanges(
        name,
        {study.metrics[key].name: study.metrics[key].value for key in RATES},
        {
            _change_name(change): {study.metrics[key].name: each.rates[key].value for key in RATES}
            for change, each in possible
        },
    )


def robustness_content(study: Robustness) -> dict[str, Any]:
    """Return the content of robustness.json as plain values."""
    view = study.settings.field_of_view
    return {
        "schema": ROBUSTNESS_SCHEMA,
        "capsieve": __version__,
        "settings": {
            "preset": study.base.preset,
            "parameters": study.base.to_dict(),
            "normals": study.settings.normals,
            "seed": study.settings.seed,
            "field_of_view": view if isinstance(view, str) else asdict(view),
        },
        "labels": {"path": study.labels.path, "label_format": study.labels.label_format},
        **study.run.content(),
        "base": [asdict(metric) for metric in study.metrics.values()],
        "changes": [
            {
                "parameter": change.name,
                "symbol": change.symbol,
                "percent": change.percent,
                "base": change.base,
                "value": change.value,
                "why_not": change.why or None,
                "effect": None if change.effect is None else _effect_content(change.effect),
            }
            for change in study.changes
        ],
    }


def _effect_content(result: Effect) -> dict[str, Any]:
    content: dict[str, Any] = {"gained": dict(result.gained), "lost": dict(result.lost)}
    for key, rate in result.rates.items():
        counts = {"numerator": rate.hits, "denominator": rate.total}
        content[key] = {"value": rate.value, **counts, "delta": result.delta[key]}
    return content


def _value(parameters: Parameters, name: str) -> float:
    value = getattr(parameters, name)
    return getattr(parameters.derived, name) if value is None else value


def _exact(number: float) -> Fraction:
    """Return the decimal number: 1.1 is eleven tenths."""
    return Fraction(repr(float(number)))


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()
