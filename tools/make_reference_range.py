"""Measure the range of inputs of the paper's detector again: ``make reference``.

Renders the demo study of the phantom, screens it, and writes the 1 and 99 % quantiles of each
measure into src/capsieve/reference_range.json.
"""

import json
import tempfile
from pathlib import Path

import numpy as np

import capsieve
from capsieve.detector import MEASURES
from capsieve.phantom import plan_study, write_study
from capsieve.screening.finish import measured_columns, usual_diameters
from capsieve.screening.range_check import MEASURED, measures
from capsieve.store.record import Record

TARGET = Path(__file__).parents[1] / "src" / "capsieve" / "reference_range.json"


def measure(folder: Path, record: Record) -> dict[str, np.ndarray]:
    """Return the measures of a screened exam."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "frames.parquet", columns=list(MEASURED))
    return measures(measured_columns(table), usual_diameters(record["fields_of_view"]))


def main() -> None:
    """Render, screen, measure, write."""
    with tempfile.TemporaryDirectory() as folder:
        study = write_study(plan_study("demo"), Path(folder) / "study").parent
        exams = capsieve.screen(study / "exams", Path(folder) / "out", overwrite=True)
        measured = [measure(exam.folder, exam.record) for exam in exams if exam.record]
    quantiles = {}
    for name in MEASURES:
        values = np.concatenate([exam[name] for exam in measured])
        low, high = np.quantile(values, [0.01, 0.99])
        quantiles[name] = [float(f"{low:.4g}"), float(f"{high:.4g}")]
    reference = "the demo study of the phantom, seed 0: 670 frames of 5 synthetic exams"
    lines = ",\n".join(f'    "{name}": {json.dumps(pair)}' for name, pair in quantiles.items())
    TARGET.write_text(
        f'{{\n  "reference": "{reference}",\n  "quantiles": {{\n{lines}\n  }}\n}}\n', "utf-8"
    )
    print(TARGET.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
