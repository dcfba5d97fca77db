"""Masks of a phantom study: the pixel's value is the number of the polyp."""

import csv
from pathlib import Path

from capsieve.errors import FileError
from capsieve.sources.natural_order import natural_key
from capsieve.statistics.regions.problem_list import ProblemList
from capsieve.statistics.regions.region import MaskFile, Region, RegionSet

__all__ = ["read_phantom_truth", "recognises_phantom_truth"]

_TABLE = "sightings.csv"
_COLUMNS = ("head", "frame", "polyp", "counts")


def recognises_phantom_truth(path: Path) -> bool:
    """Whether this is a study, its folder truth, or the truth of one of its exams."""
    return path.is_dir() and bool(_exams(path))


def read_phantom_truth(path: Path) -> RegionSet:
    """Read the polyps that count by the study's label rule; none of the masks is opened.

    A polyp that is too far away, too small or too hidden makes no frame a polyp frame: it is no
    polyp to point at either, and only counted.
    """
    regions: list[Region] = []
    problems = ProblemList()
    for folder in _exams(path):
        _read_exam(folder, regions, problems)
    return RegionSet(tuple(regions), problems.result(), "phantom", str(path))


def _exams(path: Path) -> list[Path]:
    for folders in ([path], path.glob("truth/*"), path.glob("*")):
        found = [
            folder
            for folder in folders
            if (folder / _TABLE).is_file()
            and (folder / "masks").is_dir()
            and not folder.name.startswith(".")
        ]
        if found:
            return sorted(found, key=lambda folder: natural_key(folder.name))
    return []


def _read_exam(folder: Path, regions: list[Region], problems: ProblemList) -> None:
    exam = folder.resolve().name
    try:
        with (folder / _TABLE).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise FileError(f"cannot read {folder / _TABLE}: {error}") from error
    heads_named = any("-head-" in mask.name for mask in (folder / "masks").iterdir())
    for line, row in enumerate(rows, 2):
        where = f"line {line} of {exam}/{_TABLE}"
        try:
            head, frame, polyp, counts = (int(row[name]) for name in _COLUMNS)
        except (KeyError, TypeError, ValueError):
            problems.add("the row lacks head, frame, polyp or counts", where)
            continue
        if not counts:
            what = "the polyp does not count by the study's label rule: far, small or hidden"
            problems.add(what, f"{exam}, frame {frame}, polyp {polyp}")
            continue
        number = f"{frame:06d}-head-{head}" if heads_named else f"{frame:06d}"
        regions.append(
            Region(
                exam=exam,
                head=head,
                frame=frame,
                file=f"{exam}/{number}",
                shape=MaskFile(str(folder / "masks" / f"{number}.png"), polyp),
                polyp=f"{exam}/{polyp}",
                where=where,
            )
        )
