"""Boxes of Kvasir-Capsule: four corners per row of its metadata.csv."""

import math
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.regions.csv_rows import columns_of, read_rows
from capsieve.statistics.regions.polyp_words import is_polyp
from capsieve.statistics.regions.problem_list import ProblemList
from capsieve.statistics.regions.region import Box, Region, RegionSet

__all__ = ["read_kvasir_boxes", "recognises_kvasir_boxes"]

_NAME = "metadata.csv"
_X = ("x1", "x2", "x3", "x4")
_Y = ("y1", "y2", "y3", "y4")
_SIZE = (336, 336)  # of all its frames; copies of another size are scaled


def recognises_kvasir_boxes(path: Path) -> bool:
    """Whether this is such a table, or a folder with a metadata.csv that is one."""
    return _table(path) is not None


def read_kvasir_boxes(path: Path) -> RegionSet:
    """Read the boxes of polyps; those of other findings are counted.

    The corners are pixels that belong to the finding, in frames of 336 x 336.

    References
    ----------
    P. H. Smedsrud et al., Kvasir-Capsule, a video capsule endoscopy dataset, Sci Data 8 (2021) 142.
    """
    table = _table(path)
    if table is None:
        raise FileError(f"{path} is no metadata.csv with the columns filename and x1 to y4")
    regions = []
    problems = ProblemList()
    for line, row in read_rows(table):
        where = f"line {line} of {table.name}"
        cells = [row.get(name, "") for name in (*_X, *_Y)]
        finding = row.get("finding_class", "")
        if not is_polyp(finding):
            if any(cells):
                problems.add("the finding is not polyp", f"{where}: {finding or 'none'}")
            continue
        box = _box(cells)
        if not any(cells):
            problems.add("a polyp has no box", f"{where}: {row.get('filename', '')}")
        elif box is None or not row.get("filename"):
            problems.add("the row lacks a file name or numbers for its corners", where)
        else:
            number = row.get("frame_number", "")
            frame = int(number) if number.isdecimal() else None
            exam = row.get("video_id") or None
            regions.append(Region(exam, None, frame, row["filename"], box, None, _SIZE, where))
    return RegionSet(tuple(regions), problems.result(), "Kvasir-Capsule", str(path))


def _table(path: Path) -> Path | None:
    table = path / _NAME if path.is_dir() else path
    fits = table.is_file() and table.suffix.lower() == ".csv"
    return table if fits and {"filename", *_X, *_Y} <= columns_of(table) else None


def _box(cells: list[str]) -> Box | None:
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        return None
    if not all(math.isfinite(value) for value in values):
        return None
    x, y = values[:4], values[4:]
    return Box(min(y) - 0.5, min(x) - 0.5, max(y) + 0.5, max(x) + 0.5)
