r"""How much results change when a parameter changes a little: the paper's robustness study.

.. math:: \delta(SPEC) = |SPEC_{pert} - SPEC_{base}| / SPEC_{base} \cdot 100\%

and the same for SENS, one parameter at a time, all others as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, share_metric
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.metric import Metric
from capsieve.statistics.perturbation import Change
from capsieve.statistics.table import Column, Table

__all__ = [
    "Rates",
    "Share",
    "Sides",
    "base_metrics",
    "changed_sides",
    "draw_normals",
    "rates_of",
    "relative_change",
    "robustness_table",
]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The share of 1; None of none."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Rates:
    """How good a setting is.

    Attributes
    ----------
    specificity
        Normal frames that are not flagged.
    sensitivity_frames
        Polyp frames that are flagged.
    sensitivity_polyps
        Polyps (or runs) of which a frame is flagged.
    """

    specificity: Share
    sensitivity_frames: Share
    sensitivity_polyps: Share


@dataclass(frozen=True, slots=True)
class Sides:
    """Frames on which two settings differ.

    Attributes
    ----------
    polyp_gained, polyp_lost
        Polyp frames that only the changed setting flags, and that only the base flags.
    normal_gained, normal_lost
        The same of normal frames.
    """

    polyp_gained: int
    polyp_lost: int
    normal_gained: int
    normal_lost: int


def relative_change(pert: float | None, base: float | None) -> float | None:
    """Return delta in percent, |pert - base| / base * 100; None where there is none."""
    if pert is None or base is None or base == 0:
        return None
    return abs(pert - base) / base * 100


def draw_normals(
    exam: Sequence[str],
    head: NDArray[np.integer],
    frame: NDArray[np.integer],
    normals: NDArray[np.bool_],
    *,
    count: int,
    seed: int,
) -> NDArray[np.bool_]:
    """Return which normal frames are drawn: each with the same chance, whatever its exam.

    The draw depends on the frames and the seed, and not on the order in which they come.

    Parameters
    ----------
    exam, head, frame
        Which frame each is.
    normals
        The frames to draw from.
    count
        How many; all where there are not more.
    seed
        Of the draw.
    """
    places = np.flatnonzero(normals)
    _, code = np.unique(np.asarray(exam, dtype=str)[places], return_inverse=True)
    order = places[np.lexsort((frame[places], head[places], code))]
    lots = np.random.Generator(np.random.PCG64(seed)).random(len(order))
    drawn = np.zeros(len(normals), dtype=bool)
    drawn[order[np.argsort(lots, kind="stable")[:count]]] = True
    return drawn


def rates_of(
    flagged: NDArray[np.bool_],
    truth: NDArray[np.integer],
    polyp: NDArray[np.integer],
    scored: NDArray[np.bool_],
) -> Rates:
    """Return the rates of one setting.

    Parameters
    ----------
    flagged
        What it flags; False where a frame was not scored.
    truth, polyp
        As in :class:`~capsieve.statistics.judged.Judged`.
    scored
        Which frames were scored. A polyp frame that was not counts as missed, a normal one is left
        out.
    """
    normal, shows = (truth == NORMAL) & scored, truth == POLYP
    named = shows & (polyp >= 0)
    return Rates(
        Share(int((normal & ~flagged).sum()), int(normal.sum())),
        Share(int((shows & flagged).sum()), int(shows.sum())),
        Share(len(np.unique(polyp[named & flagged])), len(np.unique(polyp[named]))),
    )


def changed_sides(
    base: NDArray[np.bool_], other: NDArray[np.bool_], truth: NDArray[np.integer]
) -> Sides:
    """Return on how many frames two settings differ."""
    counts = [
        int(((truth == shown) & mine & ~yours).sum())
        for shown in (POLYP, NORMAL)
        for mine, yours in ((other, base), (base, other))
    ]
    return Sides(*counts)


def base_metrics(rates: Rates, *, unit: str = "polyp") -> tuple[Metric, ...]:
    """Return the base row with its counts and Wilson's intervals."""
    return (
        share_metric(
            "robustness.base.specificity",
            "Specificity",
            "The share of the normal frames of this study that the base does not flag.",
            numerator=rates.specificity.count,
            denominator=rates.specificity.of,
            independent=FRAMES_NOT_INDEPENDENT,
            empty="there are no normal frames that were scored",
        ),
        share_metric(
            "robustness.base.sensitivity_frames",
            "Sensitivity per frame",
            "The share of the polyp frames that the base flags.",
            numerator=rates.sensitivity_frames.count,
            denominator=rates.sensitivity_frames.of,
            independent=FRAMES_NOT_INDEPENDENT,
            empty="there are no polyp frames",
        ),
        share_metric(
            "robustness.base.sensitivity_polyps",
            f"Sensitivity per {unit}",
            f"The share of the {unit}s of which the base flags at least one frame.",
            numerator=rates.sensitivity_polyps.count,
            denominator=rates.sensitivity_polyps.of,
            independent=f"treats {unit}s of one patient as independent",
            empty=f"no {unit} is named in the labels",
        ),
    )


def robustness_table(
    changes: Sequence[Change],
    base: Rates,
    rates: Sequence[Rates | None],
    sides: Sequence[Sides | None],
    *,
    unit: str = "polyp",
    caption: str = "",
) -> Table:
    """Return the paper's robustness table, with the frames that changed sides.

    Parameters
    ----------
    changes
        The rows below the base.
    base
        Of the unchanged parameters.
    rates, sides
        One per change; None where it was not possible.
    unit
        "polyp" or "run".
    caption
        On which frames.
    """
    columns = (
        Column("parameter", "Parameter"),
        Column("change", "Change"),
        Column("value", "Value"),
        Column("specificity", "SPEC", "share"),
        Column("delta_specificity", "delta(SPEC) %", "number", 2),
        Column("sensitivity_frames", "SENS per frame", "share"),
        Column("delta_sensitivity_frames", "delta(SENS) % per frame", "number", 2),
        Column("sensitivity_polyps", f"SENS per {unit}", "share"),
        Column("delta_sensitivity_polyps", f"delta(SENS) % per {unit}", "number", 2),
        Column("newly_flagged", "Newly flagged frames", "count"),
        Column("no_longer_flagged", "No longer flagged", "count"),
    )
    first = ("Base", None, None, *_cells(base, None), None, None)
    rows: list[tuple[Any, ...]] = [first]
    for change, found, moved in zip(changes, rates, sides, strict=True):
        value = None if change.value is None else f"{change.value:g}"
        name = change.symbol if change.symbol != "-" else change.name
        head = (name, f"{change.percent:+g} %", value)
        if found is None or moved is None:
            rows.append((*head, *[None] * 8))
        else:
            gained = moved.polyp_gained + moved.normal_gained
            lost = moved.polyp_lost + moved.normal_lost
            rows.append((*head, *_cells(found, base), gained, lost))
    return Table("robustness", "Robustness", columns, tuple(rows), caption)


def _cells(rates: Rates, base: Rates | None) -> list[float | None]:
    cells: list[float | None] = []
    for name in ("specificity", "sensitivity_frames", "sensitivity_polyps"):
        value = getattr(rates, name).value
        before = None if base is None else getattr(base, name).value
        cells += [value, relative_change(value, before)]
    return cells
