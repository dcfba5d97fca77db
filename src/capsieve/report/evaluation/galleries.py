"""Which frames the galleries show, like the paper's: found, missed, false alarms, texture.

The choice rests on the tables alone and on no chance: the same evaluation gives the same frames.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.report.evaluation.operating import is_paper
from capsieve.report.evaluation.rules import rule_words
from capsieve.report.formats import clock, count, plain
from capsieve.report.words import digits
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.evaluation import Evaluation
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import NORMAL, POLYP, Judged

__all__ = ["MOST_FOUND", "MOST_TILES", "Gallery", "Tile", "choose", "left_out_words"]

MOST_FOUND = 12
MOST_TILES = 48
"""Of missed polyps; more are counted and said."""

_PAPER_TEXTURE = (2.6, 6.5, 17.1)  # T_max of the paper's figure: low, medium, high
_CLOSE = 25  # frames: false alarms nearer than this are views of one thing
_DEEPEST = 40  # false alarms looked at per group, and groups looked at
_STAGES = {
    "radius-low": 3,
    "no-feature": 2,
    "texture-low": 1,
    "texture-high": 1,
}

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Tile:
    """A frame of a gallery.

    Attributes
    ----------
    exam, head, frame
        Which frame.
    title, where, rule
        What it shows, where it is, and the rule that decided.
    shape
        Rows and columns of the source's frame; 0 where unknown.
    ball
        Row, column and radius of the best ball in the source's pixels, or None.
    """

    exam: str
    head: int
    frame: int
    title: str
    where: str
    rule: str
    shape: tuple[int, int]
    ball: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class Gallery:
    """Frames side by side: key ("found", ...), title, what they are, and how many were left out."""

    key: str
    title: str
    caption: str
    tiles: tuple[Tile, ...]
    left_out: int = 0


def choose(evaluation: Evaluation) -> tuple[Gallery, ...]:
    """Choose the frames; galleries without any are left out."""
    judged = evaluation.judged
    flagged = judged.flagged
    if evaluation.points:
        flagged = flagged_at(judged.score, evaluation.points[0].threshold)
    found, missed = _polyps(judged, flagged)
    alarms = _false_alarms(judged, flagged)
    unit = evaluation.unit
    paper = is_paper(evaluation)
    circle = "the best-fit ball" if paper else "where the detector points"
    weak = "a ball that was too small" if paper else "where the detector points"
    shown = _spread(judged, found, MOST_FOUND)
    named = [_polyp_name(judged, place) for place in missed]
    chosen = [
        Gallery(
            "found",
            f"{unit.capitalize()}s found",
            f"The frame with the highest score of {_number(len(shown), len(found), unit)} that "
            f"were found. The circle is {circle}.",
            tuple(_tile(evaluation, place, _polyp_name(judged, place)) for place in shown),
            len(found) - len(shown),
        ),
        Gallery(
            "missed",
            f"{unit.capitalize()}s missed",
            f"No frame of these {unit}s was flagged. Shown is the frame that came closest, with "
            f"the rule that stopped it. A circle is {weak}.",
            tuple(
                _tile(evaluation, place, name)
                for place, name in zip(missed[:MOST_TILES], named[:MOST_TILES], strict=True)
            ),
            max(0, len(missed) - MOST_TILES),
        ),
        Gallery(
            "false-alarms",
            "False alarms",
            "Normal frames that were flagged, the highest scores first, spread over "
            f"{plain(plural(judged.group_kind))}; of frames close together only one.",
            tuple(_tile(evaluation, place, _group_name(judged, place)) for place in alarms),
            int(np.count_nonzero(flagged & (judged.truth == NORMAL))) - len(alarms),
        ),
        _texture(evaluation),
    ]
    return tuple(gallery for gallery in chosen if gallery.tiles)


def left_out_words(gallery: Gallery) -> str:
    """Return how many frames or polyps the gallery does not show, or ""."""
    if not gallery.left_out:
        return ""
    return f"{count(gallery.left_out)} more {'is' if gallery.left_out == 1 else 'are'} not shown."


def _polyps(judged: Judged, flagged: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The best frame of every polyp, of those found and of those missed, in the polyps' order."""
    shown = np.flatnonzero((judged.truth == POLYP) & (judged.polyp >= 0))
    if not shown.size:
        return [], []
    stage = np.array([_STAGES.get(reason, 0) for reason in judged.reasons] + [0])
    polyp = judged.polyp[shown]
    order = np.argsort(polyp, kind="stable")  # by polyp, and within one by exam and frame
    shown, polyp = shown[order], polyp[order]
    starts = np.flatnonzero(np.diff(polyp, prepend=-1))
    sizes = np.diff(starts, append=polyp.size)
    rank = np.arange(polyp.size) - np.repeat(starts, sizes)
    off_centre = np.abs(rank - np.repeat((sizes - 1) / 2, sizes))
    score = np.nan_to_num(judged.score[shown], nan=0.0)
    best = np.lexsort((off_centre, -stage[judged.reason[shown]], -score.clip(0), polyp))[starts]
    hit = np.maximum.reduceat(flagged[shown], starts)
    return shown[best[hit]].tolist(), shown[best[~hit]].tolist()


def _spread(judged: Judged, places: list[int], most: int) -> list[int]:
    """So many of them: the best of every group, then the second best, ...; in their own order."""
    if len(places) <= most:
        return places
    chosen = _rounds(judged, np.array(places, dtype=np.intp))[:most]
    return sorted(chosen, key=places.index)


def _false_alarms(judged: Judged, flagged: NDArray[np.bool_]) -> list[int]:
    places = np.flatnonzero(flagged & (judged.truth == NORMAL))
    kept: list[int] = []
    for place in _rounds(judged, places, deepest=_DEEPEST):
        near = (
            judged.exam[place] == judged.exam[other]
            and judged.head[place] == judged.head[other]
            and abs(int(judged.frame[place]) - int(judged.frame[other])) < _CLOSE
            for other in kept
        )
        if not any(near):
            kept.append(place)
        if len(kept) == MOST_FOUND:
            break
    return kept


def _rounds(judged: Judged, places: Places, *, deepest: int | None = None) -> list[int]:
    """Frames by turns: the best of every group, best group first; then the second best, ..."""
    if not places.size:
        return []
    group, score = judged.group[places], judged.score[places]
    order = np.lexsort((places, -score, group))
    places, group, score = places[order], group[order], score[order]
    starts = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    rank = np.arange(group.size) - np.repeat(starts, np.diff(starts, append=group.size))
    order = np.lexsort((places, -score, rank))
    if deepest is not None:
        order = order[rank[order] < deepest][: deepest * deepest]
    return places[order].tolist()


def _texture(evaluation: Evaluation) -> Gallery:
    """Low, medium and high texture: as near to the paper's three frames as there is one."""
    judged = evaluation.judged
    parameters = evaluation.parameters
    low, high = parameters.get("texture_low"), parameters.get("texture_high")
    tiles: list[Tile] = []
    if is_paper(evaluation) and isinstance(low, int | float) and isinstance(high, int | float):
        t = judged.texture_max
        with np.errstate(invalid="ignore"):
            kinds = [
                ("low", (t < low) & (judged.truth == NORMAL)),
                ("medium", (t >= low) & (t <= high) & (judged.truth == POLYP)),
                ("high", (t > high) & (judged.truth == NORMAL)),
            ]
        for (name, mask), target in zip(kinds, _PAPER_TEXTURE, strict=True):
            places = np.flatnonzero(mask)
            if places.size:
                nearest = int(places[np.argmin(np.abs(t[places] - target))])
                truth = "normal" if judged.truth[nearest] == NORMAL else "polyp"
                rule = f"T_max {digits(float(t[nearest]), low, high, least=1)}"
                tiles.append(_tile(evaluation, nearest, f"{name} texture ({truth})", rule))
    caption = (
        "Pre-selection keeps frames with T_max from "
        f"T_L = {low} to T_U = {high}: too little texture shows no near wall, too much is bubbles "
        "or residue. Chosen as near as possible to the paper's figure (T_max 2.6, 6.5, 17.1)."
    )
    return Gallery("texture", "Low, medium and high texture", caption, tuple(tiles))


def _tile(evaluation: Evaluation, place: int, title: str, rule: str | None = None) -> Tile:
    judged = evaluation.judged
    exam, head = judged.exams[judged.exam[place]], int(judged.head[place])
    ball = float(judged.row[place]), float(judged.col[place]), float(judged.radius[place])
    shape = int(judged.rows[place]), int(judged.cols[place])
    known = np.isfinite(ball).all() and ball[2] > 0 and min(shape) > 0
    return Tile(
        exam=exam,
        head=head,
        frame=int(judged.frame[place]),
        title=plain(title),
        where=_where(judged, place),
        rule=rule_words(evaluation, place) if rule is None else rule,
        shape=shape,
        ball=ball if known and rule is None else None,
    )


def _where(judged: Judged, place: int) -> str:
    parts = [plain(judged.exams[judged.exam[place]])]
    if judged.head.any():
        parts.append(f"head {judged.head[place]}")
    parts.append(f"frame {judged.frame[place]}")
    name: Any = None if judged.file is None else judged.file[place]
    if name:
        parts.append(plain(name))
    elif np.isfinite(judged.time[place]):
        parts.append(clock(float(judged.time[place] - _zero(judged, place))))
    return ", ".join(parts)


def _zero(judged: Judged, place: int) -> float:
    """The time of the exam's first frame."""
    times = judged.time[judged.exam == judged.exam[place]]
    return float(np.nanmin(times))


def _polyp_name(judged: Judged, place: int) -> str:
    name = judged.polyps[judged.polyp[place]]
    return name if not name.isdigit() else f"{judged.unit} {name}"


def _group_name(judged: Judged, place: int) -> str:
    group = judged.group[place]
    name = judged.groups[group] if group >= 0 else judged.exams[judged.exam[place]]
    word = judged.group_kind if judged.group_kind in ("patient", "block", "exam") else ""
    return f"{word} {name}".strip() if name.isdigit() else name


def _number(shown: int, whole: int, unit: str) -> str:
    if shown < whole:
        return f"{count(shown)} of the {count(whole)} {unit}s"
    return f"all {count(whole)} {unit}s"
