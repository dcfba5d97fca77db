"""Histograms of T_max and R_max in both classes, with the bounds that decide."""

from typing import TYPE_CHECKING, Any

import numpy as np

from capsieve.report.evaluation.drawing import (
    BLUE,
    axes_labels,
    drawing_style,
    legend,
    new_figure,
    note,
    panel_title,
    percent_axis,
)
from capsieve.report.formats import count
from capsieve.report.style import INK
from capsieve.report.words import digits
from capsieve.statistics.evaluation import Histogram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["histogram_figure"]

_DASHES = ("--", "-.", ":")


def histogram_figure(histogram: Histogram) -> "Figure | None":
    """Draw both classes, each in shares of itself: they differ too much in size for counts."""
    if not histogram.polyp.sum() + histogram.normal.sum():
        return None
    notes = ["Each class in percent of its own frames. The last bin also holds what lies beyond."]
    if histogram.left_out:
        notes.append(f"{histogram.left_out}.")
    with drawing_style():
        figure, [axes] = new_figure(1, width=6.2, height=2.7, top=0.56, notes=notes)
        tallest = 0.0
        looks: list[tuple[Any, str, dict[str, Any]]] = [
            (histogram.normal, "normal", {"facecolor": "#a9cbe4", "edgecolor": BLUE}),
            (
                histogram.polyp,
                "polyp",
                {"facecolor": "none", "edgecolor": "#9c4400", "hatch": "////", "linewidth": 1.3},
            ),
        ]
        for counts, name, look in looks:
            whole = int(counts.sum())
            shares = counts / max(whole, 1)
            tallest = max(tallest, float(shares.max(initial=0.0)))
            axes.stairs(
                shares, histogram.edges, fill=True, label=f"{name} ({count(whole)} frames)", **look
            )
        low, high = float(histogram.edges[0]), float(histogram.edges[-1])
        axes.set_xlim(low, high)
        axes.set_ylim(0, tallest * 1.08 or 1)
        for dashes, (name, value) in zip(_DASHES * 4, histogram.bounds.items(), strict=False):
            if not np.isfinite(value) or not low <= value <= high:
                continue
            axes.axvline(value, color=INK, linestyle=dashes, linewidth=1.2)
            note(
                axes, value, 1.015, f"{name} = {digits(value)}", va="bottom", ha="center",
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip
        percent_axis(axes.yaxis)
        axes_labels(axes, histogram.label, "share of the class")
        panel_title(axes, f"{histogram.label}: both classes", pad=24)
        legend(axes, loc="upper right")
        return figure
