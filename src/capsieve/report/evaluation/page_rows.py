"""Tables and metrics as rows of a page: texts that are ready for the template."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from capsieve.report.evaluation.cells import (
    DASH,
    cell_text,
    counts_text,
    interval_text,
    shown_columns,
    value_text,
)
from capsieve.report.evaluation.symbols import html_symbols, is_symbol
from capsieve.report.formats import count, plain
from capsieve.statistics.metric import LEVEL, Interval, Metric
from capsieve.statistics.table import Table

__all__ = [
    "MOST_ROWS",
    "Cell",
    "MetricRow",
    "MetricTable",
    "PageTable",
    "metric_row",
    "metric_table",
    "page_table",
]

MOST_ROWS = 60
"""Of a table on the page; the files hold them all."""


_MARKS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and whether it is a number that stands to the right."""

    text: Markup
    number: bool


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table for the template."""

    key: str
    title: Markup
    caption: Markup
    heads: list[Cell]
    rows: list[list[Cell]]
    total: list[Cell]
    left_out: str


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric for the template: intervals to quote with the marks of their notes, then all."""

    key: str
    name: Markup
    value: str
    counts: str
    quoted: list[tuple[str, str]]
    intervals: list[str]
    definition: Markup
    note: Markup


@dataclass(frozen=True, slots=True)
class MetricTable:
    """Metrics, and the notes below them with their marks."""

    rows: list[MetricRow]
    notes: list[tuple[str, str]]


def page_table(table: Table) -> PageTable:
    """Prepare a table."""
    columns = shown_columns(table)
    numbers = [column.kind not in ("text", "flag") for column in table.columns]

    def cells(row: tuple, *, blank: bool = False) -> list[Cell]:
        texts = [cell_text(value, column) for value, column in zip(row, columns, strict=True)]
        return [
            Cell(_cell("" if blank and text == DASH else text), number)
            for text, number in zip(texts, numbers, strict=True)
        ]

    rows = table.rows[:MOST_ROWS]
    left_out = ""
    if len(table.rows) > len(rows):
        left_out = (
            f"The first {len(rows)} of {count(len(table.rows))} rows; tables/{table.key}.csv has "
            "them all."
        )
    return PageTable(
        key=table.key,
        title=html_symbols(plain(table.title)),
        caption=html_symbols(plain(table.caption)),
        heads=[
            Cell(html_symbols(plain(column.label)), number)
            for column, number in zip(table.columns, numbers, strict=True)
        ],
        rows=[cells(row) for row in rows],
        total=[] if table.total is None else cells(table.total, blank=True),
        left_out=left_out,
    )


def metric_table(metrics: Sequence[Metric], *, signed: bool = False) -> MetricTable:
    """Prepare metrics as a table: what makes an interval doubtful or impossible stands below it.

    The interval to quote comes first. Where it has no bounds, that is said in its place with a
    mark, the reason stands below the table, and the first other interval that has bounds follows.
    """
    notes: dict[str, str] = {}

    def mark(why: str) -> str:
        if not why:
            return ""
        return notes.setdefault(plain(why), _MARKS[min(len(notes), len(_MARKS) - 1)])

    rows: list[MetricRow] = []
    for metric in metrics:
        quoted = list(metric.intervals[:1])
        if quoted and quoted[0].low is None:
            quoted += [each for each in metric.intervals[1:] if each.low is not None][:1]
        words = [(_short(each, metric, signed), mark(each.why)) for each in quoted]
        rows.append(replace(metric_row(metric, signed=signed), quoted=words))
    return MetricTable(rows, [(letter, why) for why, letter in notes.items()])


def metric_row(metric: Metric, *, signed: bool = False) -> MetricRow:
    """Prepare a metric with its definition and all its intervals."""
    return MetricRow(
        key=metric.key,
        name=html_symbols(plain(metric.name)),
        value=value_text(metric, signed=signed),
        counts=counts_text(metric),
        quoted=[],
        intervals=[_whole(each, metric, signed) for each in metric.intervals],
        definition=html_symbols(plain(metric.definition)),
        note=html_symbols(plain(metric.note)),
    )


def _short(interval: Interval, metric: Metric, signed: bool) -> str:
    if interval.low is None:
        return "no interval"
    return f"{interval_text(interval, metric.unit, signed=signed)} ({_basis(interval)})"


def _whole(interval: Interval, metric: Metric, signed: bool) -> str:
    text = interval_text(interval, metric.unit, signed=signed)
    if interval.low is None:
        return f"{plain(interval.method)}: {text}"
    rounds = "" if interval.rounds is None else f", {count(interval.rounds)} rounds"
    words = f"{100 * LEVEL:g} %: {text} ({_basis(interval)}{rounds})"
    return f"{words}; {plain(interval.why)}" if interval.why else words


def _basis(interval: Interval) -> str:
    units = "" if interval.units is None else f", n = {count(interval.units)}"
    return f"{plain(interval.method)}{units}"


def _cell(text: str) -> Markup:
    return html_symbols(text) if is_symbol(text) else escape(text)
