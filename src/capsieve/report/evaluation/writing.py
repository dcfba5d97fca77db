"""An evaluation as a folder: metrics.json, tables/, figures/, report.html."""

import base64
import os
from pathlib import Path
from typing import TYPE_CHECKING

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.errors import FileError
from capsieve.report.evaluation.figures import figures
from capsieve.report.evaluation.galleries import choose
from capsieve.report.evaluation.gallery_pictures import Fetch, draw, gallery_figure
from capsieve.report.evaluation.metrics_file import METRICS, write_metrics
from capsieve.report.evaluation.page import evaluation_page
from capsieve.report.evaluation.sections import Drawn
from capsieve.report.evaluation.table_files import write_table
from capsieve.report.figure_file import save_figure
from capsieve.statistics.evaluation import Evaluation
from capsieve.store.record import RECORD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["REPORT", "check_folder", "write_evaluation"]

REPORT = "report.html"
FILES = "files.txt"
"""Names what an evaluation wrote, so that the next one knows its own files from others."""

_PIXELS_PER_INCH = 96
_HEAD = "files of this evaluation, written by capsieve"


def write_evaluation(
    evaluation: Evaluation,
    folder: Path,
    *,
    fetch: Fetch | None = None,
    galleries: bool = True,
) -> Path:
    """Write an evaluation into a folder, each file whole or not at all; report.html comes last.

    Files of an earlier evaluation are replaced one by one, and those that this one does not write
    are removed: files.txt names them. Nothing else in the folder is touched.

    Parameters
    ----------
    evaluation
        What to write.
    folder
        EVAL; it is made where it is not there.
    fetch
        Where the galleries' frames come from, for instance
        :func:`~capsieve.report.evaluation.gallery_pictures.recalling`; without it their tiles say
        that there is no picture.
    galleries
        False leaves the galleries out.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileError
        The folder cannot be written to, or belongs to an exam.
    """
    check_folder(folder)
    for place in (folder, folder / "tables", folder / "figures"):
        _make(place)
        remove_leftovers(place)
    earlier = _earlier(folder)
    (folder / REPORT).unlink(missing_ok=True)  # a page that is there belongs to what is beside it
    written: list[Path] = []
    try:
        tables = list(evaluation.tables)
        if evaluation.comparison is not None:
            tables += [evaluation.comparison.values, evaluation.comparison.changed]
        for table in {table.key: table for table in tables}.values():
            written += write_table(table, folder / "tables")
        drawn: dict[str, Drawn] = {}
        for name, figure in figures(evaluation).items():
            paths = [folder / "figures" / f"{name}{ending}" for ending in (".png", ".svg")]
            for path in paths:
                save_figure(figure, path)
            written += paths
            drawn[name] = _drawn(figure, paths[1])
        shown = []
        for gallery in choose(evaluation) if galleries else ():
            pictures = draw(gallery, fetch)
            path = folder / "figures" / f"gallery-{gallery.key}.png"
            save_figure(gallery_figure(gallery, pictures), path)
            written.append(path)
            shown.append((gallery, pictures))
        write_metrics(evaluation, folder / METRICS)
        written.append(folder / METRICS)
    finally:
        # Also after a failure: what was written so far is known as ours.
        names = [path.relative_to(folder).as_posix() for path in written]
        _write(folder / FILES, "\n".join([_HEAD, *sorted({*names, *earlier}), ""]))
    for name in earlier - set(names):
        (folder / name).unlink(missing_ok=True)
    page = evaluation_page(evaluation, drawn=drawn, galleries=shown, files=sorted(names))
    _write(folder / REPORT, page)
    _write(folder / FILES, "\n".join([_HEAD, *sorted([*names, REPORT]), ""]))
    return folder / REPORT


def check_folder(folder: Path) -> None:
    """Raise FileError where the folder is a screened exam's: its report.html would be lost."""
    if (folder / RECORD).exists():
        raise FileError(
            f"{folder} is the folder of a screened exam, with a report of its own; "
            "give another folder for the evaluation"
        )


def _earlier(folder: Path) -> set[str]:
    """The files of an earlier evaluation in this folder, by their names from here."""
    try:
        head, *names = (folder / FILES).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    if head != _HEAD:
        return set()
    # A list that was tampered with must not lead anywhere else.
    ours = ("tables/", "figures/")
    return {
        name
        for name in names
        if (name in (METRICS, REPORT) or name.startswith(ours))
        and os.path.normpath(name) == name
        and name.count("/") <= 1
    } - {REPORT}


def _drawn(figure: "Figure", path: Path) -> Drawn:
    width, height = (round(_PIXELS_PER_INCH * inches) for inches in figure.get_size_inches())
    address = base64.b64encode(path.read_bytes()).decode("ascii")
    return Drawn(f"data:image/svg+xml;base64,{address}", width, height)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror or error}") from error


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))
