"""The page of ``capsieve reproduce``: the figures and tables of the paper next to its numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from capsieve.atomic_write import check_replaceable
from capsieve.report import figures, page, tables
from capsieve.report.figures import Drawing
from capsieve.result_table import Table

PAGE = "reproduction.html"

_TABLES = ("numbers", "readings", "table-1", "table-2", "table-3", "table-4")

_CHARTS = frozenset({3, 7, 8, 9})  # drawn as SVG; the others show frames
_DOTS_PER_INCH = 96


@dataclass(frozen=True, slots=True, eq=False)
class ReproducedStudy:
    """What the page shows.

    Attributes
    ----------
    is_phantom, is_short
        Whether the exams are synthetic, and only a tenth of the frames.
    patient
        The patient that chose R_P: "patient 4".
    counts
        "5 patients", "230 polyp frames", ...
    tables
        By key: numbers, readings, and table-1 to table-4; written as CSV and LaTeX too.
    drawings
        Of each figure of the paper, by the name of the reading.
    changes
        The rates of Table IV before and after each change, of the paper and of both readings.
    warnings
        Sentences, by the name of the reading.
    facts
        Rows about the origin of the numbers.
    """

    is_phantom: bool
    is_short: bool
    patient: str
    counts: tuple[str, ...]
    tables: Mapping[str, Table]
    drawings: Mapping[int, Mapping[str, Drawing]]
    changes: Drawing
    warnings: Mapping[str, Iterable[str]]
    facts: tuple[tuple[str, str], ...]


class _Picture(NamedTuple):
    address: str
    width: int
    height: int
    caption: str
    alt: str


def check_files(out: Path) -> None:
    """Raise FileError if the page or a table would replace a file that capsieve did not write."""
    written = (out / "tables" / f"{key}.{kind}" for key in _TABLES for kind in ("csv", "tex"))
    check_replaceable(out / PAGE)
    check_replaceable(*written, record=out / PAGE)


def write_reproduction(study: ReproducedStudy, out: Path) -> Path:
    """Write the page, then the tables into the folder `tables`: with the page they are ours."""
    (out / "tables").mkdir(parents=True, exist_ok=True)
    shown = {
        number: {name: _picture(each, chart=number in _CHARTS) for name, each in found.items()}
        for number, found in study.drawings.items()
    }
    html = page.render(
        "reproduce.html",
        study=study,
        tables=study.tables,
        drawn=shown,
        changes=_picture(study.changes, chart=True),
    )
    page.write(html, out / PAGE)
    for key in _TABLES:
        tables.write(study.tables[key], out / "tables")
    return out / PAGE


def _picture(drawing: Drawing, *, chart: bool) -> _Picture:
    content = figures.content(drawing.figure, "svg" if chart else "png")
    width, height = (round(_DOTS_PER_INCH * inches) for inches in drawing.figure.get_size_inches())
    return _Picture(page.image(content), width, height, drawing.caption, drawing.alt)
