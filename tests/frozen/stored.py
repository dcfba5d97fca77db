"""Stored tables: one CSV file for each, and how found rows are compared with them."""

import csv
import math
import shutil
from pathlib import Path

from frozen.parts import Row, Tables

__all__ = ["differences", "load", "save", "tables"]

FOLDER = Path(__file__).parent / "stored"
RELATIVE = 1e-5
NEAR_ZERO = 1e-9


def save(part: str, found: Tables) -> None:
    """Replace a stored part."""
    folder = FOLDER / part
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, rows in found.items():
        if rows:
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows({key: _text(value) for key, value in row.items()} for row in rows)


def tables(part: str) -> set[str]:
    """Return the names of the stored tables of a part."""
    return {path.stem for path in (FOLDER / part).glob("*.csv")}


def load(part: str, table: str) -> list[dict[str, str]]:
    """Return the rows of a stored table; none if the table was empty."""
    path = FOLDER / part / f"{table}.csv"
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def differences(stored: list[dict[str, str]], found: list[Row]) -> list[str]:
    """Compare a table with the stored one, and name what differs.

    Rows are compared in order, by the stored columns. Floats may differ by `RELATIVE`; in a row
    with a column `scale` by that fraction of it. All other values must be equal.
    """
    if len(stored) != len(found):
        return [f"{len(found)} rows, {len(stored)} stored"]
    problems = []
    for number, (expected, row) in enumerate(zip(stored, found, strict=True)):
        near = RELATIVE * float(expected["scale"]) if "scale" in expected else NEAR_ZERO
        problems += [
            f"row {number} ({', '.join(list(expected.values())[:4])}): "
            f"{column} is {_text(row[column])}, stored {value}"
            for column, value in expected.items()
            if not _agree(value, row[column], near)
        ]
    return problems


def _agree(stored: str, value: object, near: float) -> bool:
    if isinstance(value, list):
        parts = stored.split()
        return len(parts) == len(value) and all(
            _agree(part, one, near) for part, one in zip(parts, value, strict=True)
        )
    if isinstance(value, float) and stored:
        return math.isclose(float(stored), value, rel_tol=RELATIVE, abs_tol=near)
    return stored == _text(value)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return str(value)
