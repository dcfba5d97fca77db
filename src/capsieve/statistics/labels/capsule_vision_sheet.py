"""The .xlsx tables of Capsule Vision 2024: a path, and a 1 in the column of its class."""

import os
from collections.abc import Sequence
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.labels.capsule_vision import CLASSES, capsule_vision_labels
from capsieve.statistics.labels.delimited import EXAMPLES
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.labels.xlsx import is_workbook, read_first_sheet

__all__ = ["LOOKS", "NAME", "read", "recognises"]

NAME = "capsule-vision-xlsx"
LOOKS = "an .xlsx table of Capsule Vision 2024 (image_path and a column per class)"

_PATH = "image_path"
_PREDICTED = "predicted_class"
_VALUES = {"0": False, "1": True, "0.0": False, "1.0": True, "": False}


def recognises(path: Path) -> bool:
    """Whether it is a workbook; what is inside is looked at when it is read."""
    return path.is_file() and is_workbook(path)


def read(path: Path) -> LabelSet:
    """Read the first sheet.

    Raises
    ------
    FileError
        It is no such table, or one of predictions.
    """
    rows = read_first_sheet(path)
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    if _PREDICTED in header:
        raise FileError(f"{path} holds predictions and no labels: it has a column {_PREDICTED}")
    wanted = (_PATH, *CLASSES)
    missing = [name for name in wanted if header.count(name) != 1]
    if missing:
        raise FileError(
            f"{path} is no table of Capsule Vision 2024: its first row must name "
            f"{', '.join(wanted)}, each once ({missing[0]} is not)"
        )
    if not rows[1:]:
        raise FileError(f"{path} holds no labels: nothing follows its first row")
    places = [header.index(name) for name in wanted]
    pictures: list[tuple[str, str, str]] = []
    unclear: list[str] = []
    contrary: list[str] = []
    for number, cells in rows[1:]:
        where = f"row {number}"
        file, *values = (cells[place].strip() if place < len(cells) else "" for place in places)
        file = file.replace("\\", "/")
        strange = [value for value in values if value not in _VALUES]
        if strange:
            unclear.append(f"{where}: {strange[0]!r}")
            continue
        found = [name for name, value in zip(CLASSES, values, strict=True) if _VALUES[value]]
        told = file.split("/")[-3:-2]
        if found and told and told[0] in CLASSES and told[0] not in found:
            contrary.append(f"{where}: {file!r} is {' and '.join(found)}")
            continue
        pictures.extend((where, file, name) for name in found or [""])
    problems = (
        *_problem("a class has another value than 0 or 1", unclear),
        *_problem("the path tells of another class than the columns", contrary),
    )
    return capsule_vision_labels(pictures, path=os.fspath(path), problems=problems)


def _problem(what: str, said: Sequence[str]) -> tuple[LabelProblem, ...]:
    return (LabelProblem(what, len(said), tuple(said[:EXAMPLES])),) if said else ()
