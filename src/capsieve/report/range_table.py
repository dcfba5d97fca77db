"""How an exam compares with the range that the detector was calibrated on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from capsieve.detector import MEASURES
from capsieve.report.text import number, percent

__all__ = ["RangeRow", "range_rows"]

_WIDTH, _HEIGHT = 200.0, 20.0
_FROM, _TO = 50.0, 150.0  # where the calibrated range lies in the drawing


@dataclass(frozen=True, slots=True)
class RangeRow:
    """One measure: the range, where the exam lies, and how much of it lies outside."""

    name: str
    meaning: str
    low: str
    high: str
    median: str
    below: str
    above: str
    warning: str
    drawing: Markup


def range_rows(measures: Mapping[str, Mapping[str, Any]]) -> list[RangeRow]:
    """Prepare the measures, in their own order."""
    return [
        RangeRow(
            name=name,
            meaning=MEASURES.get(name, ""),
            low=number(each["low"]),
            high=number(each["high"]),
            median=number(each["median"]),
            below=percent(each["below"]),
            above=percent(each["above"]),
            warning=each["warning"],
            drawing=_drawing(each["low"], each["high"], each["median"]),
        )
        for name, each in measures.items()
    ]


def _drawing(low: float, high: float, median: float | None) -> Markup:
    """A bar for the range, a dot for the exam's median; an arrow where that is far outside."""
    middle = _HEIGHT / 2
    bar = Markup('<rect class="range" x="{:g}" y="{:g}" width="{:g}" height="8" rx="2"/>').format(
        _FROM, middle - 4, _TO - _FROM
    )
    mark = Markup("")
    if median is not None:
        share = (
            (median - low) / (high - low) if high > low else 0.5 + (median > low) - (median < low)
        )
        place = _FROM + share * (_TO - _FROM)
        name = "inside" if low <= median <= high else "outside"
        if 6 <= place <= _WIDTH - 6:
            mark = Markup('<circle class="median {}" cx="{:.1f}" cy="{:g}" r="5"/>').format(
                name, place, middle
            )
        else:
            turn, tip = (-1, 1.0) if place < 6 else (1, _WIDTH - 1)
            mark = Markup('<path class="median outside" d="M{:g} {:g}l{:g} -6v12z"/>').format(
                tip, middle, -10 * turn
            )
    return Markup(
        '<svg class="range-plot" viewBox="0 0 {:g} {:g}" aria-hidden="true">'
        '<path class="grid" d="M0 {:g}H{:g}"/>{}{}</svg>'
    ).format(_WIDTH, _HEIGHT, middle, _WIDTH, bar, mark)
