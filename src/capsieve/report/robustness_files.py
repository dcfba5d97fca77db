"""A robustness study as files: robustness.json with every number, and the table."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.engine.robustness_run import Robustness
from capsieve.errors import FileError
from capsieve.frames import FieldOfView
from capsieve.report.evaluation.table_files import write_table
from capsieve.statistics.flags import number_of
from capsieve.statistics.robustness import (
    Rates,
    base_metrics,
    relative_change,
    robustness_table,
)
from capsieve.statistics.table import Table

__all__ = ["ROBUSTNESS_SCHEMA", "robustness_content", "study_table", "write_robustness"]

ROBUSTNESS_SCHEMA = 1
"""Version of robustness.json; it grows when a name changes its meaning."""

_DELTA = "|changed - base| / base * 100, from counts and not from printed percentages"


def write_robustness(study: Robustness, folder: Path) -> list[Path]:
    """Write robustness.json, .csv, .md and .tex into the folder.

    Raises
    ------
    FileError
        The folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}") from error
    path = folder / "robustness.json"
    text = json.dumps(robustness_content(study), allow_nan=False, ensure_ascii=False, indent=1)
    with atomic_write(path) as temporary:
        temporary.write_bytes(f"{text}\n".encode("utf-8", "replace"))
    return [path, *write_table(study_table(study), folder)]


def study_table(study: Robustness) -> Table:
    """Return the table with a caption that says on which frames it rests."""
    normals = f"{study.normals_drawn:,}"
    if study.normals_asked is not None:
        normals += f" of {study.frames['normal']:,} (drawn at random, seed {study.seed})"
    rates = study.base_rates
    polyps = rates.sensitivity_frames.of
    caption = (
        f"One parameter changed at a time, on {number_of(polyps, 'polyp frame')} of "
        f"{number_of(rates.sensitivity_polyps.of, study.unit)} and {normals} normal frames of "
        f"{number_of(len(study.exams), 'exam')}. Whole numbers are rounded "
        "away from the base. delta is the change relative to the base, in percent; the last "
        "columns count the frames that changed sides."
    )
    if study.unscored:
        caption += f" {number_of(len(study.unscored), 'frame')} could not be analysed."
    return robustness_table(
        study.changes, rates, study.rates, study.sides, unit=study.unit, caption=caption
    )


def robustness_content(study: Robustness) -> dict[str, Any]:
    """Return what robustness.json holds, as plain values."""
    field = study.field_of_view
    return {
        "schema": ROBUSTNESS_SCHEMA,
        "capsieve": __version__,
        "settings": {
            "parameters": study.base.to_dict(),
            "derived": dataclasses.asdict(study.base.derived),
            "changed": list(dict.fromkeys(change.name for change in study.changes)),
            "percents": list(dict.fromkeys(change.percent for change in study.changes)),
            "normals": study.normals_asked,
            "seed": study.seed,
            "field_of_view": (
                [field.row, field.col, field.radius] if isinstance(field, FieldOfView) else field
            ),
        },
        "labels": {
            "path": study.labels,
            "layout": study.layout,
            "problems": [
                {"what": p.what, "rows": p.rows, "examples": list(p.examples), "used": p.used}
                for p in study.problems
            ],
            "warnings": list(study.warnings),
        },
        "exams": list(study.exams),
        "failed": [{"exam": name, "why": why} for name, why in study.failed],
        "views": study.views,
        "frames": {
            **study.frames,
            "normal_analysed": study.normals_drawn,
            "polyp_without_name": study.unnamed_polyp_frames,
            "unscored": len(study.unscored),
        },
        "unscored": [{"frame": name, "why": why} for name, why in study.unscored],
        "unit": study.unit,
        "base": [
            dataclasses.asdict(metric) for metric in base_metrics(study.base_rates, unit=study.unit)
        ],
        "delta": _DELTA,
        "changes": [
            {
                "parameter": change.name,
                "symbol": change.symbol,
                "percent": change.percent,
                "base": change.base,
                "value": change.value,
                "why_not": change.why or None,
                **_rates(rates, study.base_rates),
                "changed_sides": None if sides is None else dataclasses.asdict(sides),
            }
            for change, rates, sides in zip(study.changes, study.rates, study.sides, strict=True)
        ],
    }


def _rates(rates: Rates | None, base: Rates) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("specificity", "sensitivity_frames", "sensitivity_polyps"):
        share = None if rates is None else getattr(rates, name)
        found[name] = (
            None
            if share is None
            else {
                "value": share.value,
                "numerator": share.count,
                "denominator": share.of,
                "delta": relative_change(share.value, getattr(base, name).value),
            }
        )
    return found
