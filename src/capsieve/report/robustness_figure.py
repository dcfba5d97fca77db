"""Figure of a robustness study: each rate before and after each change of a parameter."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from capsieve.report.figures import (
    BLUE,
    GREY,
    ORANGE,
    VERMILLION,
    Drawing,
    figure,
    percent_axis,
)
from capsieve.report.text import math_symbols, signed

_LOOKS = ((BLUE, "o"), (VERMILLION, "D"), (ORANGE, "s"), (GREY, "^"))


class RateChanges(NamedTuple):
    """Rates of one study.

    Attributes
    ----------
    name
        For the legend, which is drawn if there are several studies.
    base
        The value of each rate, by the name of the rate.
    changed
        The same for each change, by its name: ``sigma1 +10 %``. None if there is no value.
    """

    name: str
    base: Mapping[str, float | None]
    changed: Mapping[str, Mapping[str, float | None]]


def robustness_drawing(studies: Sequence[RateChanges], *, differences: bool = False) -> Drawing:
    """Draw a panel per rate: a line from the base to each changed value, one colour per study.

    The first study has the names of all rates and changes; there are at most four studies. With
    `differences` the base of every study is 0.
    """
    if differences:
        studies = [_from_base(study) for study in studies]
    first = studies[0]
    names = list(first.changed)
    height = 1.2 + 0.24 * len(names) * (1 + 0.35 * (len(studies) - 1))
    options = {"width": 3.2, "height": height, "sharey": True}
    with figure(len(first.base), **options) as (drawing, panels):
        for panel, rate in zip(panels, first.base, strict=True):
            panel.set_title(rate)
            for number, (study, (color, mark)) in enumerate(zip(studies, _LOOKS, strict=False)):
                base, label = study.base.get(rate), study.name
                if base is None:
                    continue
                panel.axvline(base, color=color, linestyle="--", linewidth=1.0)
                shift = 0.22 * (number - (len(studies) - 1) / 2)
                for place, name in enumerate(names):
                    value = study.changed.get(name, {}).get(rate)
                    if value is None:
                        continue
                    panel.plot([base, value], [place + shift] * 2, color=color, linewidth=1.2)
                    panel.plot([value], [place + shift], mark, color=color, label=label)
                    label = "_"
            if differences:
                panel.set_xlabel("change in percentage points")
                panel.xaxis.set_major_formatter(lambda value, _: signed(round(100 * value, 9)))
            else:
                low, high = panel.get_xlim()
                panel.set_xlim(max(low, -0.005), min(high, 1.005))  # no shares beyond 0 and 100 %
                percent_axis(panel.xaxis)
            panel.set_yticks(range(len(names)), [math_symbols(name) for name in names])
        panels[0].invert_yaxis()
        if len(studies) > 1:
            drawing.legend(
                *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4
            )
    value = "change of the rate by" if differences else "value after"
    caption = f"Dashed: the base. Marks: the {value} each change of one parameter."
    return Drawing(drawing, caption, "Rates after each change of a parameter")


def _from_base(study: RateChanges) -> RateChanges:
    """Return the differences to the base; None if one of both is not known."""
    base = study.base
    changed = {
        name: {rate: _difference(value, base.get(rate)) for rate, value in rates.items()}
        for name, rates in study.changed.items()
    }
    return RateChanges(study.name, dict.fromkeys(base, 0.0), changed)


def _difference(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None else value - base
