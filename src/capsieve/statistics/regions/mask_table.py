"""A table of frames and their masks: CSV with the columns file and mask, and optional others."""

from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.regions.csv_rows import columns_of, read_rows
from capsieve.statistics.regions.problem_list import ProblemList
from capsieve.statistics.regions.region import MaskFile, Region, RegionSet

__all__ = ["read_mask_table", "recognises_mask_table"]

_NAMES = ("masks.csv", "frames.csv")


def recognises_mask_table(path: Path) -> bool:
    """Whether this is such a table, or a folder with a masks.csv or frames.csv that is one."""
    return _table(path) is not None


def read_mask_table(path: Path) -> RegionSet:
    """Read which mask belongs to which frame; none is opened.

    Paths of masks start at the table's folder. Optional columns: exam, head and frame, which name
    the frame of a video; polyp, which names the polyp (or sequence, if there is no polyp); value,
    the grey level of the polyp in its mask (every level above 0 by default). A row without a mask
    is a frame without an outline.
    """
    table = _table(path)
    if table is None:
        raise FileError(f"{path} is no CSV file with the columns file and mask")
    regions = []
    problems = ProblemList()
    for line, row in read_rows(table):
        where = f"line {line} of {table.name}"
        if not row.get("mask"):
            continue
        try:
            head, frame, value = (
                int(row[name]) if row.get(name) else None for name in ("head", "frame", "value")
            )
        except ValueError:
            problems.add("head, frame or value is not a whole number", f"{where}: {row['mask']}")
            continue
        if not row.get("file") and frame is None:
            problems.add("the mask has no frame", f"{where}: {row['mask']}")
            continue
        sequence = row.get("sequence")
        polyp = row.get("polyp") or (f"sequence {sequence}" if sequence else None)
        shape = MaskFile(str(table.parent / row["mask"].replace("\\", "/")), value)
        exam, file = row.get("exam") or None, row["file"] or None
        regions.append(Region(exam, head, frame, file, shape, polyp, where=where))
    return RegionSet(tuple(regions), problems.result(), "table of masks", str(path))


def _table(path: Path) -> Path | None:
    for table in (path / name for name in _NAMES) if path.is_dir() else (path,):
        fits = table.is_file() and table.suffix.lower() == ".csv"
        if fits and {"file", "mask"} <= columns_of(table):
            return table
    return None
