"""A calibration as files: calibration.json, ... and calibrated.toml for the paper's detector.

The same input gives the same bytes: no file carries a date.
"""

import json
import math
import textwrap
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.calibration.outcome import Calibration
from capsieve.calibration.tables import figures_table, interval_notes, machine_table, portion_words
from capsieve.errors import FileError
from capsieve.report.evaluation.cells import interval_text, metric_text
from capsieve.report.evaluation.table_files import csv_text, markdown_text, tex_text
from capsieve.report.formats import plain
from capsieve.statistics.metric import LEVEL, Metric
from capsieve.store.record import RECORD

__all__ = [
    "CALIBRATION_SCHEMA",
    "PARAMETERS_FILE",
    "calibration_content",
    "calibration_json",
    "check_folder",
    "parameters_text",
    "write_calibration",
]

CALIBRATION_SCHEMA = 1
"""Version of calibration.json; it grows when a name changes its meaning."""

PARAMETERS_FILE = "calibrated.toml"
_NAME = "calibration"
_WIDTH = 98


def check_folder(folder: Path) -> None:
    """Raise FileError where the folder belongs to a screened exam."""
    if (folder / RECORD).exists():
        raise FileError(
            f"{folder} is the folder of a screened exam; give another folder for the calibration"
        )


def write_calibration(calibration: Calibration, folder: Path) -> list[Path]:
    """Write calibration.json, .csv, .md and .tex into the folder.

    For the paper's detector also calibrated.toml, parameters with the chosen R_P. The threshold of
    another detector is no parameter: it is passed as ``capsieve screen --threshold``.

    Raises
    ------
    FileError
        The folder cannot be made or written to, or is that of a screened exam.
    """
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    shown = figures_table(calibration)
    texts: dict[str, Callable[[], str]] = {
        f"{_NAME}.json": lambda: calibration_json(calibration),
        f"{_NAME}.csv": lambda: csv_text(machine_table(calibration)),
        f"{_NAME}.md": lambda: markdown_text(shown),
        f"{_NAME}.tex": lambda: tex_text(shown),
    }
    if calibration.detector == "paper":  # last: if it is there, all that explains it is
        texts[PARAMETERS_FILE] = lambda: parameters_text(calibration)
    else:
        (folder / PARAMETERS_FILE).unlink(missing_ok=True)  # of an earlier calibration
    for name, text in texts.items():
        with atomic_write(folder / name) as temporary:
            temporary.write_bytes(text().encode("utf-8", "replace"))
    return [folder / name for name in texts]


def parameters_text(calibration: Calibration) -> str:
    """Return the parameters with the chosen threshold as TOML; comments say what to expect."""
    c = calibration
    lines = [
        f"{c.scale.name} = {c.threshold:.12g}, chosen by capsieve calibrate for "
        f"{c.target.words(c.unit)}.",
        f"Results: {plain(c.results)}",
        f"Labels: {plain(c.labels)}",
        c.how,
        f"Screened before with {c.scale.name} = {c.screened:.12g}; all other parameters are as "
        "they were.",
        "",
        *_expected(c),
    ]
    if c.leaks:
        lines += ["", *(f"Leak, overridden: {plain(leak)}" for leak in c.leaks)]
    lines += ["", "Research software, not a medical device.", ""]
    comments = [
        f"# {part}".rstrip()
        for line in lines
        # A comment ends with its line, whatever a path holds.
        for part in textwrap.wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)
        or [""]
    ]
    return "\n".join([*comments, c.parameters.to_toml()])


def calibration_json(calibration: Calibration) -> str:
    """Return the text of calibration.json."""
    content = calibration_content(calibration)
    return json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def calibration_content(calibration: Calibration) -> dict[str, Any]:
    """Return what calibration.json holds, as plain values."""
    c = calibration
    return {
        "schema": CALIBRATION_SCHEMA,
        "capsieve": __version__,
        "results": c.results,
        "labels": c.labels,
        "settings": dict(c.settings),
        "target": {
            "kind": c.target.kind,
            "value": c.target.value,
            "words": c.target.words(c.unit),
        },
        "threshold": {
            "name": c.scale.name,
            "value": c.threshold,
            "how": c.how,
            "screened": c.screened,
            "highest": c.scale.highest if math.isfinite(c.scale.highest) else None,
        },
        "folds": dict(c.fold_thresholds),
        "parameters": c.parameters.to_dict(),
        "unit": c.unit,
        "resampled": c.resampled,
        "level": LEVEL,
        "portions": [
            {
                "key": portion.key,
                "words": portion_words(portion),
                "frames": int(portion.frames.sum()),
                "optimistic": portion.optimistic,
                "whole_exams": portion.whole,
            }
            for portion in c.portions
        ],
        "metrics": [asdict(metric) for metric in c.metrics],
        "problems": [asdict(problem) for problem in c.problems],
        "warnings": list(c.warnings),
        "leaks": list(c.leaks),
    }


def _expected(calibration: Calibration) -> list[str]:
    """Return what to expect: by frames that had no say where there are any, else by the others."""
    c = calibration
    portion = next((each for each in c.portions if not each.optimistic), c.portions[0])
    if portion.optimistic:
        head = "On the frames that chose it, so better than to be expected (optimistic):"
    else:
        head = f"To be expected, on frames that had no say in it ({portion_words(portion)}):"
    own = [metric for metric in c.metrics if f".{portion.key}." in metric.key]
    lines = [head, *(f"  {_figure(metric)}" for metric in own if metric.value is not None)]
    return [*lines, *interval_notes(c)]


def _figure(metric: Metric) -> str:
    text = f"{metric.name.split(' (')[0]}: {metric_text(metric)}"
    interval = metric.intervals[0] if metric.intervals else None
    if interval is None or interval.low is None:
        return text
    return f"{text}, 95 % interval {interval_text(interval, metric.unit)}"
