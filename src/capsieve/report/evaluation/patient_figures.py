"""False positives per patient, and by what the frames show."""

from typing import TYPE_CHECKING, Any

from capsieve.report.evaluation.cells import share_text
from capsieve.report.evaluation.drawing import (
    BLUE,
    axes_labels,
    drawing_style,
    legend,
    mathematical,
    new_figure,
    panel_title,
    percent_axis,
)
from capsieve.report.evaluation.table_columns import CountedRow, counted_rows
from capsieve.report.formats import count
from capsieve.report.style import INK
from capsieve.statistics.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["causes_figure", "patients_figure"]

_MOST_ROWS = 40
_ROW = 0.27  # inches


def patients_figure(table: Table | None, *, level: str = "95 %") -> "Figure | None":
    """Draw each patient's false positive rate as a dot with its interval."""
    return _dots(
        table,
        title="" if table is None else table.title,
        label="normal frames flagged",
        note="Wilson's interval takes frames for independent, which frames of one exam are not: "
        f"it shows at least how far off each rate may be ({level}).",
    )


def causes_figure(table: Table | None) -> "Figure | None":
    """Draw which share of the frames with each other finding is flagged."""
    return _dots(
        table,
        title="Flagged frames by what they show",
        label="frames flagged",
        note="Intervals: Wilson, 95 %, with frames taken for independent.",
    )


def _dots(table: Table | None, *, title: str, label: str, note: str) -> "Figure | None":
    rows = [] if table is None else counted_rows(table)
    if not rows or table is None:
        return None
    shown, left = rows[:_MOST_ROWS], len(rows) - _MOST_ROWS
    notes = [note]
    if left > 0:
        notes.append(f"The first {_MOST_ROWS} of {len(rows)}; the table has them all.")
    longest = max(len(_name(row.name)) for row in shown)
    with drawing_style():
        figure, [axes] = new_figure(
            1,
            width=5.2,
            height=max(1.0, _ROW * len(shown) + 0.2),
            left=0.5 + 0.075 * longest,
            right=2.45,
            notes=notes,
        )
        for place, row in enumerate(shown):
            bar: dict[str, Any] = {"color": BLUE, "linewidth": 1.6}
            axes.plot([row.low, row.high], [place, place], **bar)
            for end in (row.low, row.high):
                axes.plot([end, end], [place - 0.16, place + 0.16], **bar)
            axes.plot([row.rate], [place], "o", color=BLUE, markersize=6)
        most = max(row.high for row in shown)
        right = min(1.0, most * 1.04) or 1.0
        for place, row in enumerate(shown):
            axes.text(
                1.015, place,
                _share(row),
                transform=axes.get_yaxis_transform(), ha="left", va="center", fontsize=8.2,
            )  # fmt: skip
        if table.total is not None and (whole := counted_rows(table, total=True)):
            axes.axvline(
                whole[0].rate, color=INK, linestyle="--", linewidth=1.1,
                label=f"all: {_share(whole[0])}",
            )  # fmt: skip
            legend(axes, loc="upper left", bbox_to_anchor=(1.0, -0.02), frameon=False)
        axes.set_xlim(0, right)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_yticks(range(len(shown)), [mathematical(_name(row.name)) for row in shown])
        axes.grid(False, axis="y")
        percent_axis(axes.xaxis)
        axes_labels(axes, label, "")
        panel_title(axes, title)
        return figure


def _share(row: CountedRow) -> str:
    share = share_text(row.numerator, row.denominator)
    return f"{share}  ({count(row.numerator)} of {count(row.denominator)})"


def _name(text: str) -> str:
    return text if len(text) <= 28 else f"{text[:27]}\N{HORIZONTAL ELLIPSIS}"
