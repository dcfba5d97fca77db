"""Rows of a CSV file of outlines, with commas or semicolons."""

import csv
from pathlib import Path

from capsieve.errors import FileError

__all__ = ["columns_of", "read_rows"]


def columns_of(path: Path) -> set[str]:
    """Return the names in the first line, in small letters; none where the file is no text."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline(10_000)
    except (OSError, ValueError):
        return set()
    return {name.strip().lower() for name in first.replace(";", ",").split(",")}


def read_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the number of each line and its cells by name, in small letters."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(10_000)
            file.seek(0)
            reader = csv.DictReader(file, delimiter=";" if ";" in first else ",")
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        raise FileError(f"cannot read {path}: {error}") from error
    return [
        (line, {str(name).strip().lower(): (row[name] or "").strip() for name in row if name})
        for line, row in rows
    ]
