"""Measure the range of inputs of the paper's detector again: ``make reference``.

Renders the demo study of the phantom, screens it with both presets, and writes the 1 and 99 %
quantiles of each measure into src/capsieve/reference_range.json: those of T_max for the stencil of
each preset, the others once.
"""

import json
import re
import tempfile
from pathlib import Path

import numpy as np

import capsieve
from capsieve.detector import MEASURES
from capsieve.parameters import PRESETS
from capsieve.phantom import plan_study, write_study
from capsieve.screening.range_check import MEASURED, measured_columns, measures, usual_diameters
from capsieve.store.record import Record

TARGET = Path(__file__).parents[1] / "src" / "capsieve" / "reference_range.json"


def measure(folder: Path, record: Record) -> dict[str, np.ndarray]:
    """Return the measures of a screened exam."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "frames.parquet", columns=list(MEASURED))
    return measures(measured_columns(table), usual_diameters(record["fields_of_view"]))


def quantiles(study: Path, out: Path, parameters: capsieve.Parameters) -> dict[str, list[float]]:
    """Return the quantiles of each measure over all exams of a study."""
    exams = capsieve.screen(study / "exams", out, parameters=parameters)
    measured = [measure(exam.folder, exam.record) for exam in exams if exam.record]
    found = {}
    for name in MEASURES:
        values = np.concatenate([exam[name] for exam in measured])
        found[name] = [float(f"{bound:.4g}") for bound in np.quantile(values, [0.01, 0.99])]
    return found


def main() -> None:
    """Render, screen, measure, write."""
    with tempfile.TemporaryDirectory() as folder:
        study = write_study(plan_study("demo"), Path(folder) / "study").parent
        found = {
            f"{preset.stencil:g}": quantiles(study, Path(folder) / name, preset)
            for name, preset in PRESETS.items()
        }
    texture = {stencil: each.pop("texture") for stencil, each in found.items()}
    content = {
        "reference": "the demo study of the phantom, seed 0: 670 frames of 5 synthetic exams",
        "quantiles": found["1"],
        "texture": texture,
    }
    pair = re.compile(r"\[\s+([^,\s]+),\s+([^,\s]+)\s+\]")  # on one line
    TARGET.write_text(pair.sub(r"[\1, \2]", json.dumps(content, indent=2)) + "\n", "utf-8")
    print(TARGET.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
