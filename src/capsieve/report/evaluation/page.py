"""report.html of an evaluation: read from top to bottom, nothing else needed.

One file: figures and pictures lie inside, and a content security policy forbids the browser to
fetch anything. The same evaluation gives the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from markupsafe import Markup

from capsieve._version import __version__
from capsieve.report import formats, provenance
from capsieve.report.evaluation.galleries import Gallery, left_out_words
from capsieve.report.evaluation.gallery_pictures import Picture
from capsieve.report.evaluation.operating import is_paper, point_words, threshold_name
from capsieve.report.evaluation.page_rows import metric_row, page_table
from capsieve.report.evaluation.sections import Drawn, sections
from capsieve.report.evaluation.summary import headline_tiles, summary_sentences
from capsieve.report.evaluation.symbols import html_symbols
from capsieve.report.overlay import overlay
from capsieve.report.page_parts import digest, part, template
from capsieve.report.strips import jpeg_address
from capsieve.report.style import GREEN, YELLOW
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.evaluation import Evaluation
from capsieve.statistics.table import Table

__all__ = ["evaluation_page"]


@dataclass(frozen=True, slots=True)
class _Tile:
    title: str
    where: str
    rule: Markup
    picture: str
    shape: tuple[int, int]
    drawing: Markup


@dataclass(frozen=True, slots=True)
class _Gallery:
    key: str
    title: str
    caption: Markup
    tiles: list[_Tile]


def evaluation_page(
    evaluation: Evaluation,
    *,
    drawn: Mapping[str, Drawn],
    galleries: Sequence[tuple[Gallery, Sequence[Picture]]] = (),
    files: Sequence[str] = (),
) -> str:
    """Return the page as a text.

    Parameters
    ----------
    evaluation
        All that it shows.
    drawn
        The figures by name.
    galleries
        Chosen frames with their pictures.
    files
        Names of the files that stand beside the page.
    """
    style = part("exam.css") + part("evaluation.css")
    style = style.replace("YELLOW", YELLOW).replace("GREEN", GREEN)
    accounts = next((table for table in evaluation.tables if table.key == "accounts"), None)
    rates = next((table for table in evaluation.tables if table.key == "operating-points"), None)
    detector = provenance.rows_of(evaluation.detector)
    shown = sections(evaluation, drawn)
    differences = () if evaluation.comparison is None else evaluation.comparison.metrics
    return template("evaluation.html").render(
        version=__version__,
        circle="the best-fit ball" if is_paper(evaluation) else "where the detector points",
        title=_title(evaluation),
        results=formats.plain(evaluation.results),
        labels=formats.plain(evaluation.labels),
        leaks=[formats.plain(leak) for leak in evaluation.leaks],
        warnings=[
            html_symbols(formats.plain(f"{warning[:1].upper()}{warning[1:]}"))
            for warning in evaluation.warnings
        ],
        answers=[
            (question, html_symbols(answer)) for question, answer in summary_sentences(evaluation)
        ],
        tiles=headline_tiles(evaluation),
        counts=_counts(evaluation),
        accounts=None if accounts is None else page_table(_without_zeros(accounts)),
        # Its caption says how each point was chosen, which stands just above it on the page.
        rates=None if rates is None else page_table(replace(rates, caption="")),
        problems=[
            (
                formats.plain(problem.what),
                formats.plural(problem.rows, "row"),
                problem.used,
                [formats.plain(example) for example in problem.examples],
            )
            for problem in evaluation.problems
        ],
        points=[
            (
                html_symbols(threshold_name(evaluation, point)),
                point_words(point),
                html_symbols(formats.plain(point.how)),
                point.optimistic,
            )
            for point in evaluation.points
        ],
        sections=shown,
        galleries=[_gallery(gallery, pictures) for gallery, pictures in galleries],
        metrics=[metric_row(metric) for metric in evaluation.metrics],
        differences=[metric_row(metric, signed=True) for metric in differences],
        settings=provenance.rows_of(evaluation.settings),
        detector=detector,
        parameters=provenance.parameter_rows(evaluation.parameters),
        files=files,
        formats=formats,
        unit=evaluation.unit,
        resampled=formats.plain(plural(evaluation.judged.group_kind)),
        style=style,
        style_digest=digest(style),
    )


def _without_zeros(table: Table) -> Table:
    """Return the table without columns in which nothing was counted; the file has them all."""
    rows = [*table.rows, *([] if table.total is None else [table.total])]
    kept = [
        place
        for place, column in enumerate(table.columns)
        if column.kind != "count" or any(row[place] for row in rows)
    ]
    if len(kept) == len(table.columns):
        return table
    left_out = [column.label for place, column in enumerate(table.columns) if place not in kept]

    def cut(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(row[place] for place in kept)

    return replace(
        table,
        columns=cut(table.columns),
        rows=tuple(map(cut, table.rows)),
        total=None if table.total is None else cut(table.total),
        caption=f"{table.caption} 0 everywhere, and left out here: {'; '.join(left_out)}.",
    )


def _title(evaluation: Evaluation) -> str:
    name = formats.plain(evaluation.detector.get("name", "unknown"))
    words = "the published algorithm" if name == "paper" else f"the detector {name}"
    return f"Evaluation of {words}"


def _counts(evaluation: Evaluation) -> str:
    judged = evaluation.judged
    # The labels may name patients and polyps of exams that were not screened.
    patients, polyps = (len(np.unique(code[code >= 0])) for code in (judged.patient, judged.polyp))
    parts = [
        formats.plural(len(judged.exams), "exam"),
        formats.plural(patients, "patient") if patients else "",
        formats.plural(polyps, judged.unit) if polyps else "",
        formats.plural(len(judged), "frame"),
    ]
    return ", ".join(words for words in parts if words)


def _gallery(gallery: Gallery, pictures: Sequence[Picture]) -> _Gallery:
    caption = f"{gallery.caption} {left_out_words(gallery)}".strip()
    return _Gallery(
        key=gallery.key,
        title=gallery.title,
        caption=html_symbols(formats.plain(caption)),
        tiles=[_tile(picture) for picture in pictures],
    )


def _tile(picture: Picture) -> _Tile:
    tile = picture.tile
    address = jpeg_address(picture.jpeg())
    shape = tile.shape if min(tile.shape) > 0 else (1, 1)
    drawing = overlay(shape, tile.ball, None) if address and tile.ball else Markup("")
    return _Tile(tile.title, tile.where, html_symbols(tile.rule), address, shape, drawing)
