"""Boxes and polygons in YOLO's format: a text file per image, a line per object."""

import math
from pathlib import Path

from capsieve.errors import FileError
from capsieve.sources.base import natural_key
from capsieve.statistics.regions.class_names import NAME_FILES, read_class_names
from capsieve.statistics.regions.polyp_words import polyp_classes
from capsieve.statistics.regions.problem_list import ProblemList
from capsieve.statistics.regions.region import Box, Polygon, Region, RegionSet

__all__ = ["read_yolo", "recognises_yolo"]

# Text files that lie in such folders and hold no boxes.
_NO_LABELS = {*NAME_FILES, "train.txt", "valid.txt", "val.txt", "test.txt"}


def recognises_yolo(path: Path) -> bool:
    """Whether this is a folder with text files of labels."""
    return path.is_dir() and any(True for _ in _files(path))


def read_yolo(path: Path) -> RegionSet:
    """Read polyps from lines ``class centre_x centre_y width height`` in shares of the image.

    A line with three points or more, ``class x1 y1 x2 y2 x3 y3 ...``, is a polygon. Only the
    class named polyp counts, or the only one; without names there must be no class but 0.

    Parameters
    ----------
    path
        A folder; the text file of an image has its name, up to the ending, in any folder below.
    """
    names = read_class_names(path)
    problems = ProblemList()
    found: list[tuple[int, Region]] = []
    for file in sorted(_files(path), key=lambda file: natural_key(str(file))):
        found += _read_file(file, path, problems)
    classes = {number for number, _ in found}
    if names is None and classes - {0}:
        raise FileError(
            f"{path} has objects of the classes {', '.join(map(str, sorted(classes)[:5]))} and no "
            "names for them; write the names into a classes.txt there, one per line"
        )
    polyps = {0} if names is None else polyp_classes(names)
    for number, region in found:
        if number not in polyps:
            name = "without a name" if names is None else names.get(number, "without a name")
            problems.add("the class is not polyp", f"{region.where}: class {number} ({name})")
    regions = tuple(region for number, region in found if number in polyps)
    return RegionSet(regions, problems.result(), "YOLO", str(path))


def _files(path: Path) -> list[Path]:
    return [
        file
        for file in path.rglob("*.txt")
        if file.name.lower() not in _NO_LABELS
        and not file.name.lower().startswith("readme")
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]


def _read_file(file: Path, root: Path, problems: ProblemList) -> list[tuple[int, Region]]:
    name = file.relative_to(root)
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        problems.add("the file cannot be read", str(name))
        return []
    stem = "/".join(part for part in name.with_suffix("").parts if part != "labels")
    found = []
    for number, line in enumerate(lines, 1):
        where = f"line {number} of {name}"
        values = _numbers(line)
        if values is None:
            problems.add("the line is not a class and numbers", f"{where}: {line.strip()[:40]!r}")
        elif values:
            shape = _shape(values[1:], where, problems)
            if shape is not None:
                region = Region(None, None, None, stem, shape, None, None, where)
                found.append((int(values[0]), region))
    return found


def _numbers(line: str) -> list[float] | None:
    """The numbers of a line, none for an empty one; None where it is something else."""
    try:
        values = [float(word) for word in line.split()]
    except ValueError:
        return None
    if not all(math.isfinite(value) for value in values):
        return None
    return values if not values or (values[0] >= 0 and values[0].is_integer()) else None


def _shape(numbers: list[float], where: str, problems: ProblemList) -> Box | Polygon | None:
    if len(numbers) == 5:
        problems.add("a line with a confidence is a detector's opinion, not a label", where)
    elif len(numbers) >= 6 and len(numbers) % 2 == 0:
        ring = tuple(zip(numbers[1::2], numbers[::2], strict=True))
        return Polygon((ring,), relative=True)
    elif len(numbers) != 4:
        problems.add("a line needs a class and four numbers", where)
    elif not (numbers[2] > 0 and numbers[3] > 0):
        problems.add("the box has no area", where)
    else:
        col, row, width, height = numbers
        box = (row - height / 2, col - width / 2, row + height / 2, col + width / 2)
        return Box(*box, relative=True)
    return None
