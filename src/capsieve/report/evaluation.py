"""The report of an evaluation: report.html, metrics.json, tables and figures in one folder."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from capsieve._version import __version__
from capsieve.atomic_write import remove_leftovers
from capsieve.errors import FileError, file_errors
from capsieve.report import figures, page, provenance, tables, text, words
from capsieve.report.comparison_tables import changed_table, compared, comparison_table
from capsieve.report.evaluation_figures import drawings
from capsieve.report.evaluation_tables import (
    areas,
    baseline_warnings,
    group_table,
    missing_intervals,
    summary,
    without_zeros,
)
from capsieve.report.galleries import FrameImages, choose, draw
from capsieve.report.point_tables import point_line
from capsieve.result_table import Table
from capsieve.statistics.frames import exam_units
from capsieve.statistics.results import LEVEL, Evaluation, Metric
from capsieve.store.record import RECORD
from capsieve.user_files import PathLike, read_text

REPORT = "report.html"
METRICS = "metrics.json"
SCHEMA = 2
"""Version of metrics.json."""

_FILES = "files.txt"
_HEAD = "files of this evaluation, written by capsieve"
_PAPER_TABLES = ("sequences", "false-positives-per-patient", "causes", "reasons")
_OWN_PLACE = ("frame-counts", "operating-points", "comparison", "changed-sides")


def write_evaluation(
    evaluation: Evaluation, out: PathLike, *, images: FrameImages | None = None
) -> Path:
    """Write an evaluation into a folder, each file complete or not at all, report.html last.

    Files of an earlier evaluation are replaced, and those that this one does not write are removed;
    files.txt names them. Other files in the folder are not touched. Without `images` there are no
    galleries. The page is returned.

    Raises
    ------
    FileError
        The folder cannot be written to, or contains something else.
    """
    folder = Path(out)
    check_folder(folder)
    contents: dict[str, str | bytes] = {}
    for table in _all_tables(evaluation):
        contents[f"tables/{table.key}.csv"] = tables.csv(table)
        contents[f"tables/{table.key}.tex"] = tables.latex(table)
    drawn, galleries = {}, []
    for name, drawing in drawings(evaluation).items():
        contents[f"figures/{name}.png"] = figures.content(drawing.figure, "png")
        contents[f"figures/{name}.svg"] = svg = figures.content(drawing.figure, "svg")
        size = map(round, 96 * drawing.figure.get_size_inches())
        drawn[name] = (page.image(svg), *size, drawing)
    if images is not None:
        for gallery in choose(evaluation, images):
            parts = []
            for number, drawing in enumerate(draw(evaluation, gallery, images), start=1):
                name = f"figures/gallery-{gallery.key}-{number}.png"
                contents[name] = figures.content(drawing.figure, "png")
                parts.append((name, drawing))
            galleries.append((gallery, parts))
    contents[METRICS] = _json(metrics_json(evaluation))
    shown = {
        "written": sorted(contents),
        "galleries": galleries,
        "gallery_parts": [(f"gallery-{each.key}", each.title) for each, _ in galleries],
        "drawn": drawn,
    }
    html = page.render("evaluation.html", files=True, **shown, **_values(evaluation))
    _write(folder, contents)
    page.write(html, folder / REPORT)
    return folder / REPORT


def check_folder(out: PathLike) -> None:
    """Raise FileError if an evaluation would overwrite something else in the folder."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file; give a folder for the evaluation")
    with file_errors("read", folder):
        if (folder / RECORD).exists() or any(folder.glob(f"*/{RECORD}")):
            raise FileError(
                f"{folder} contains results of capsieve screen; give another folder for EVAL"
            )
        names = (REPORT, METRICS, _FILES)
        if _earlier(folder) is None and any((folder / name).exists() for name in names):
            raise FileError(
                f"{folder} contains a report that is not of an evaluation; give another folder"
            )


def metrics_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return the content of metrics.json: plain values, null for NaN and infinity."""
    e = evaluation
    curves = {name: getattr(e, name) for name in ("roc_frames", "roc_polyps", "effort", "froc")}
    content = {
        "schema": SCHEMA,
        "capsieve": __version__,
        "level": LEVEL,
        "results": e.results,
        "labels": e.labels,
        "options": e.options,
        "settings": e.settings,
        "detector": e.detector,
        "parameters": e.parameters,
        "points": [
            _fields(each, "flagged", "rule")
            | {
                "rule": each.rule and each.rule.kind,
                "value": each.rule and each.rule.value,
                "flagged": int(np.count_nonzero(each.flagged)),
            }
            for each in e.points
        ],
        "metrics": e.metrics,
        "curves": {name: curve for name, curve in curves.items() if curve is not None},
        "histograms": e.histograms,
        "comparison": e.comparison and _fields(e.comparison, "frames", "second_score", "flags"),
        "tables": {
            table.key: {
                "title": table.title,
                "columns": [column.key for column in table.columns],
                "rows": table.rows,
                "total": table.total,
            }
            for table in _all_tables(e)
        },
        "problems": e.problems,
        "warnings": e.warnings,
        "leaks": e.leaks,
    }
    return _plain(content)


def _values(e: Evaluation) -> dict[str, Any]:
    """The values of the template, by their names."""
    frames = e.frames
    by_key, shown = {table.key: table for table in e.tables}, _page_tables(e)
    detector = {name: value for name, value in e.detector.items() if name != "parameters"}
    given = {**asdict(e.options), **e.settings}
    counts = (
        (len(exam_units(frames).names), "exam"),
        (np.unique(frames.patient.code[frames.patient.code >= 0]).size, "patient"),
        (np.unique(frames.polyp.code[frames.polyp.code >= 0]).size, frames.polyp_word),
        (int(frames.polyp_frames.sum()), "polyp frame"),
        (int(frames.normal_frames.sum()), "normal frame"),
    )
    return {
        "e": e,
        "title": title(e),
        "counts": [text.plural(number, noun) for number, noun in counts if number],
        "warnings": (*e.warnings, *baseline_warnings(e)),
        "summary": summary(e),
        "missing": missing_intervals(e),
        "compared": e.comparison and compared(e.comparison),
        "changed": e.comparison and changed_table(e.comparison),
        "histograms": [f"histogram-{each.key}" for each in e.histograms],
        "tables": shown,
        "table_parts": [(tables.anchor(each), each.title) for each in shown],
        "frame_counts": without_zeros(by_key["frame-counts"]) if "frame-counts" in by_key else None,
        "points": [(point_line(e, point), point) for point in e.points],
        # The list of points has the texts of the caption.
        "rates": [replace(each, caption="") for each in e.tables if each.key == "operating-points"],
        "settings": provenance.rows_of(
            {name: value for name, value in given.items() if value not in (None, ())}
        ),
        "detector": provenance.rows_of({"detector": detector} if detector else {}),
        "parameters": provenance.parameter_rows(e.parameters),
    }


def _page_tables(e: Evaluation) -> list[Table]:
    """The tables of the page, those of the paper first; some others have a place of their own."""
    by_key = {table.key: table for table in e.tables if table.key not in _OWN_PLACE}
    groups = [
        areas(e),
        group_table(e, "effort", "Reading effort"),
        by_key.pop("reading-effort", None),
        group_table(e, "localisation", "Localisation"),
        *(by_key.pop(key) for key in list(by_key) if key.startswith("localisation")),
        *(by_key.pop(key, None) for key in _PAPER_TABLES),
        group_table(e, "preselection", "Pre-selection"),
        *by_key.values(),
    ]
    return [each for each in groups if each is not None and each.rows]


def title(evaluation: Evaluation) -> str:
    """Return the title: the evaluated detector."""
    name = str(evaluation.detector.get("name", "")).rpartition("/")[2]
    if name == "paper":
        preset = words.preset_words(evaluation.detector.get("preset"))
        return f"Evaluation of the published algorithm, {preset}"
    return f"Evaluation of the detector {text.plain(name)}" if name else "Evaluation of scores"


def _all_tables(evaluation: Evaluation) -> list[Table]:
    both = evaluation.comparison
    more = () if both is None else (comparison_table(both), changed_table(both))
    return [*evaluation.tables, *more]


def _fields(value: Any, *without: str) -> dict[str, Any]:
    """Return the fields of a dataclass by name, and the unit of a metric."""
    names = [each.name for each in fields(value) if each.name not in without]
    unit = {"unit": value.unit} if isinstance(value, Metric) else {}
    return {name: getattr(value, name) for name in names} | unit


def _plain(value: Any) -> Any:
    """Return values that JSON knows; NaN and infinity become None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        value = _fields(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _json(content: Mapping[str, Any]) -> str:
    """One line per entry, and per item of a list: long arrays stay in a line."""
    dump = partial(json.dumps, allow_nan=False, ensure_ascii=False)
    lines = []
    for name, value in content.items():
        many = isinstance(value, list) and value
        shown = "[\n  " + ",\n  ".join(map(dump, value)) + "\n ]" if many else dump(value)
        lines.append(f" {dump(name)}: {shown}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _write(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Write all files but the page, and remove those of an earlier evaluation."""
    for directory in (folder, folder / "tables", folder / "figures"):
        with file_errors("create the folder", directory):
            directory.mkdir(parents=True, exist_ok=True)
        remove_leftovers(directory)
    earlier = _earlier(folder) or set()
    for name in contents.keys() - earlier:
        if (folder / name).exists():
            raise FileError(
                f"{folder / name} exists and was not written by capsieve; rename it, or give "
                "another folder"
            )
    # The list is written first: after a failure, the next run knows which files are its own. The
    # old page is removed, because it does not belong to the new files.
    _write_list(folder, earlier | contents.keys())
    (folder / REPORT).unlink(missing_ok=True)
    for name, content in contents.items():
        page.write(content, folder / name)
    for name in earlier - contents.keys():
        (folder / name).unlink(missing_ok=True)
    _write_list(folder, contents.keys())


def _write_list(folder: Path, names: Iterable[str]) -> None:
    page.write("\n".join([_HEAD, *sorted(names), ""]), folder / _FILES)


def _earlier(folder: Path) -> set[str] | None:
    """The files of an earlier evaluation in this folder; None if there was none."""
    try:
        head, *names = read_text(folder / _FILES).splitlines()
    except (FileError, ValueError):
        return None
    if head != _HEAD:
        return None
    # A list that was changed by hand must not lead out of the folder.
    return {
        name
        for name in names
        if os.path.normpath(name) == name
        and (name == METRICS or Path(name).parent.as_posix() in ("tables", "figures"))
    }
