"""A search as files: the parameters to use, every number, tables, a plot of what mattered."""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.calibration.space import CHOICES, DEAR, FIXED
from capsieve.engine.searching import SearchOutcome
from capsieve.errors import FileError
from capsieve.parameters import Parameters
from capsieve.report.evaluation.drawing import (
    BLUE,
    ORANGE,
    axes_labels,
    drawing_style,
    new_figure,
    panel_title,
    percent_axis,
)
from capsieve.report.evaluation.table_files import write_table
from capsieve.report.figure_file import save_figure
from capsieve.statistics.flags import number_of
from capsieve.statistics.metric import Metric
from capsieve.statistics.table import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "PARAMETERS_FILE",
    "SEARCH_SCHEMA",
    "best_table",
    "comparison_table",
    "mattered_figure",
    "parts_table",
    "search_content",
    "write_search",
]

SEARCH_SCHEMA = 1
"""Version of search.json; it grows when a name changes its meaning."""

PARAMETERS_FILE = "calibrated.toml"

_BEST = 10
_SYMBOLS = {each.name: each.metadata["symbol"] for each in dataclasses.fields(Parameters)}
_BAR = 0.3  # inches


def write_search(outcome: SearchOutcome, folder: Path) -> list[Path]:
    """Write calibrated.toml, search.json, the tables and the figure into the folder.

    Raises
    ------
    FileError
        The folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}") from error
    toml, record = folder / PARAMETERS_FILE, folder / "search.json"
    outcome.parameters.save(toml)
    text = json.dumps(search_content(outcome), allow_nan=False, ensure_ascii=False, indent=1)
    with atomic_write(record) as temporary:
        temporary.write_bytes(f"{text}\n".encode("utf-8", "replace"))
    paths = [toml, record]
    for table in (comparison_table(outcome), parts_table(outcome), best_table(outcome)):
        paths += write_table(table, folder)
    figure = mattered_figure(outcome)
    for ending in (".svg", ".png"):
        paths.append(folder / f"search-mattered{ending}")
        save_figure(figure, paths[-1])
    return paths


def comparison_table(outcome: SearchOutcome) -> Table:
    """Return the honest figures of the searched settings beside those of the base."""
    judgement = outcome.judgement
    rows = [
        _compared(*three)
        for three in zip(judgement.searched, judgement.base, judgement.differences, strict=True)
    ]
    rows.append(_compared(*judgement.curves))
    for name, (frames, searched, base) in outcome.elsewhere.items():
        shares = [count / frames if frames else None for count in (searched, base)]
        rows.append((f"False alarms on {name} (no polyps)", *shares, None, None, None))
    ratio = judgement.curve_ratio
    times = "" if ratio is None else f" At the same specificity that is {ratio:.2f} times the base."
    counts = outcome.frames
    caption = (
        f"On {number_of(counts['polyp'], 'polyp frame')} of "
        f"{number_of(counts['polyps'], outcome.unit)} and "
        f"{number_of(counts['normal'], 'normal frame')}, of "
        f"{counts['groups']:,} groups ({outcome.group_kind}). Every part is judged with the "
        f"setting and the threshold that the other parts chose.{times}"
    )
    return Table(
        key="search",
        title="Searched parameters against the base, out of fold",
        columns=(
            Column("figure", "Figure"),
            Column("searched", "Searched", "share"),
            Column("base", "Base", "share"),
            Column("difference", "Difference", "share"),
            Column("low", "From", "share"),
            Column("high", "To", "share"),
        ),
        rows=tuple(rows),
        caption=caption,
    )


def parts_table(outcome: SearchOutcome) -> Table:
    """Return the setting that was chosen for every part: how far searches agree."""
    names = [*CHOICES, "radius_threshold"]
    settings = [
        *((name, parameters) for name, (parameters, _) in outcome.by_part.items()),
        ("all", outcome.parameters),
        ("base", outcome.base),
    ]
    return Table(
        key="search-parts",
        title="What was chosen for each part",
        columns=(Column("part", "Part"), *(_column(name) for name in names)),
        rows=tuple(
            (name, *(_shown(parameters, field) for field in names)) for name, parameters in settings
        ),
        caption="The setting that the other parts chose for each, the one that all chose, and the "
        "base. Fields that differ widely between parts are not settled by these frames.",
    )


def best_table(outcome: SearchOutcome) -> Table:
    """Return the best settings of the search on everything."""
    found = sorted(outcome.trials, key=lambda trial: -trial.found.value)
    kept = {trial.found.parameters: trial.found.value for trial in reversed(found)}
    best = sorted(kept.items(), key=lambda item: -item[1])[:_BEST]
    return Table(
        key="search-best",
        title="The best settings of the search on everything",
        columns=(Column("value", "Objective", "share"), *(_column(name) for name in CHOICES)),
        rows=tuple(
            (value, *(_shown(parameters, name) for name in CHOICES)) for parameters, value in best
        ),
        caption="The objective is optimistic: it was made large on these very frames. "
        f"The base reaches {100 * outcome.base_optimistic:.1f} %.",
    )


def mattered_figure(outcome: SearchOutcome) -> "Figure":
    """Draw what each dear field explains, and what each rule is worth."""
    worth = {name: value for name, value in outcome.worth.items() if value is not None}
    rows = max(len(outcome.spread), len(worth), 1)
    with drawing_style():
        figure, panels = new_figure(
            2,
            width=(2.6, 2.6),
            left=(1.1, 1.1),
            height=_BAR * rows + 0.3,
            notes=[
                f"(a) epsilon squared over {len(outcome.trials)} trials, one field at a time. "
                "(b) the objective lost where one rule goes back to the base. Both on the frames "
                "that were searched."
            ],
        )
        _bars(panels[0], outcome.spread, BLUE)
        panel_title(panels[0], "Analysed fields", "a")
        axes_labels(panels[0], "Share of the spread explained", "")
        _bars(panels[1], worth, ORANGE)
        panel_title(panels[1], "Rules", "b")
        axes_labels(panels[1], "Objective lost with the base's rule", "")
        for panel in panels:
            percent_axis(panel.xaxis)
    return figure


def search_content(outcome: SearchOutcome) -> dict[str, Any]:
    """Return what search.json holds, as plain values."""
    judgement = outcome.judgement
    return {
        "schema": SEARCH_SCHEMA,
        "capsieve": __version__,
        "complete": outcome.complete,
        "settings": outcome.settings,
        "space": {
            name: {
                "values": list(choice.values),
                "dear": choice in DEAR,
                "why": choice.why,
            }
            for name, choice in CHOICES.items()
        },
        "fixed": dict(FIXED),
        "base": outcome.base.to_dict(),
        "parameters": outcome.parameters.to_dict(),
        "frames": outcome.frames,
        "kept_apart": outcome.group_kind,
        "unit": outcome.unit,
        "out_of_fold": {
            "searched": _plain(judgement.searched),
            "base": _plain(judgement.base),
            "differences": _plain(judgement.differences),
            "curves": _plain(judgement.curves),
            "ratio": judgement.ratio,
            "ratio_at_target": judgement.curve_ratio,
        },
        "optimistic": {"searched": outcome.optimistic, "base": outcome.base_optimistic},
        "parts": {
            name: {"parameters": parameters.to_dict(), "base_radius_threshold": base}
            for name, (parameters, base) in outcome.by_part.items()
        },
        "elsewhere": {
            name: {"normal_frames": frames, "flagged": searched, "flagged_by_base": base}
            for name, (frames, searched, base) in outcome.elsewhere.items()
        },
        "mattered": {"spread_explained": outcome.spread, "lost_with_base_rule": outcome.worth},
        "trials": [
            {
                "objective": trial.found.value,
                "parameters": {name: _shown(trial.found.parameters, name) for name in CHOICES},
            }
            for trial in outcome.trials
        ],
        "problems": list(outcome.problems),
        "warnings": list(outcome.warnings),
    }


def _compared(searched: Metric, base: Metric, difference: Metric) -> tuple[Any, ...]:
    interval = difference.intervals[0]
    name = searched.name.removesuffix(", searched")
    return name, searched.value, base.value, difference.value, interval.low, interval.high


def _plain(metrics: Iterable[Metric]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(metric) for metric in metrics]


def _column(name: str) -> Column:
    symbol = _SYMBOLS[name]
    label = name.replace("_", " ").capitalize() if symbol == "-" else symbol
    return Column(name, label)


def _shown(parameters: Parameters, name: str) -> Any:
    value = getattr(parameters, name)
    value = getattr(parameters.derived, name) if value is None else value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _bars(axes: "Axes", values: dict[str, float], colour: str) -> None:
    ordered = sorted(values.items(), key=lambda item: item[1])
    names = [_column(name).label for name, _ in ordered]
    axes.barh(range(len(names)), [value for _, value in ordered], color=colour, height=0.6)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, max(len(names), 1) - 0.4)
    axes.set_xlim(left=min(0.0, *(value for _, value in ordered)) if ordered else 0.0)
