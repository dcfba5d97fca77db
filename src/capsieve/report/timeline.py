"""The timeline of an exam as an SVG: scores, what was set aside, events, colours.

Frames are gathered into a fixed number of columns, so that the drawing of an exam stays small
however long the exam is. Colours come from the page's style sheet by class: the same drawing serves
light, dark and paper.
"""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from capsieve.report.bins import Bins, Scale, bins_of, positions, scale_of
from capsieve.report.exam_tables import Event, HeadFrames
from capsieve.report.text import clock
from capsieve.report.ticks import frame_ticks, score_ticks, time_ticks

__all__ = ["timeline"]

# Units of the drawing; on a laptop one unit is about one pixel.
_WIDTH = 1000
_LEFT = 44
_RIGHT = 8
_PLOT = 112
_STRIP = 16
_MARKS = 34
_TITLE = 20
_GAP = 5
_BELOW = 18
_AXIS = 34
_COLUMNS = 474
_INNER = _WIDTH - _LEFT - _RIGHT
_LETTER = 7.2  # width of a digit of a rank

# Shares of frames set aside, and how strongly the stretch is shaded.
_SHADES = ((0.75, "most"), (0.40, "many"), (0.10, "some"))


@dataclass(frozen=True, slots=True)
class _Room:
    """Where things of one head lie: the plot's top and bottom, and the scores there."""

    top: float
    bottom: float
    low: float
    high: float

    def height(self, score: float) -> float:
        share = (score - self.low) / (self.high - self.low)
        return self.bottom - share * (self.bottom - self.top)


def timeline(
    heads: Sequence[HeadFrames],
    events: Sequence[Event],
    *,
    threshold: float | None = None,
    by_list: bool = False,
) -> Markup:
    """Draw the whole exam, one lane for each head.

    Parameters
    ----------
    heads
        The frames.
    events
        Those that get a mark, best first. A mark links to ``#event-<rank>``.
    threshold
        The score from which a frame is flagged, or the last score of a reading list; None if there
        is neither.
    by_list
        Whether it is that of a reading list.

    Returns
    -------
    Markup
        An ``svg`` element; empty where there are no frames.
    """
    heads = [head for head in heads if head.frame.size]
    if not heads:
        return Markup("")
    scale = scale_of(heads)
    bins = [bins_of(head, scale, columns=_COLUMNS) for head in heads]
    low, high = _score_bounds(bins, threshold)
    named = len(heads) > 1
    lane = (_TITLE if named else 0) + _MARKS + _PLOT + _GAP + _STRIP
    tall = len(heads) * lane + (len(heads) - 1) * _BELOW + _AXIS
    parts: list[Markup] = []
    for place, (head, gathered) in enumerate(zip(heads, bins, strict=True)):
        top = place * (lane + _BELOW) + (_TITLE if named else 0) + _MARKS
        room = _Room(top=top, bottom=top + _PLOT, low=low, high=high)
        if named:
            text = Markup('<text class="lane" x="0" y="{}">Head {}</text>')
            parts.append(text.format(_r(top - _MARKS - _TITLE + 12), head.head))
        parts += _grid(scale, room)
        parts += _scores(gathered, room, threshold, by_list)
        parts += _broken(gathered, room)
        parts.append(_strip(gathered, room.bottom + _GAP))
        own = [event for event in events if event.head == head.head]
        parts += _marks(own, head, scale, room)
    parts += _axis(scale, tall - _AXIS)
    head_words = f"{len(heads)} heads" if named else "one head"
    return Markup(
        '<svg class="timeline" viewBox="0 0 {} {}" role="img" aria-label="Timeline of the exam, '
        '{}: the score of the frames {}; the events are listed below.">{}</svg>'
    ).format(
        _WIDTH,
        _r(tall),
        head_words,
        "over time" if scale.timed else "by frame number",
        Markup("").join(parts),
    )


def _score_bounds(bins: Sequence[Bins], threshold: float | None) -> tuple[float, float]:
    scores = np.concatenate([gathered.score[np.isfinite(gathered.score)] for gathered in bins])
    values = [*scores.tolist(), 0.0] + ([] if threshold is None else [threshold])
    low, high = min(values), max(values)
    return low, (low + (high - low) * 1.08 if high > low else low + 1.0)


def _grid(scale: Scale, room: _Room) -> Iterator[Markup]:
    line = Markup('<path class="grid" d="{}"/>')
    verticals = "".join(
        f"M{_r(_across(value, scale))} {_r(room.top)}V{_r(room.bottom + _GAP + _STRIP)}"
        for value, _ in _ticks(scale)
    )
    ticks = score_ticks(room.low, room.high, most=4)
    horizontals = "".join(
        f"M{_LEFT} {_r(room.height(value))}H{_WIDTH - _RIGHT}" for value, _ in ticks
    )
    yield line.format(verticals + horizontals)
    for value, text in ticks:
        yield Markup('<text class="tick end" x="{}" y="{}">{}</text>').format(
            _LEFT - 6, _r(room.height(value) + 4), text
        )


def _shading(bins: Bins, room: _Room) -> Iterator[Markup]:
    for name, shares in (("smooth", bins.smooth), ("busy", bins.busy)):
        upper = np.inf
        for least, strength in _SHADES:
            runs = _runs((shares >= least) & (shares < upper))
            upper = least
            if runs:
                outline = "".join(_box(first, last, room.top, _PLOT) for first, last in runs)
                yield Markup('<path class="{} {}" d="{}"/>').format(name, strength, outline)


def _scores(bins: Bins, room: _Room, threshold: float | None, by_list: bool) -> Iterator[Markup]:
    known = np.isfinite(bins.score)
    yield _area(bins.score, known, room, "score")
    # In a long exam every column holds some frame with a ball: the shading must lie above those.
    yield from _shading(bins, room)
    yield _area(bins.score, known & bins.flagged, room, "score flagged")
    yield Markup('<path class="base" d="M{} {}H{}"/>').format(
        _LEFT, _r(room.height(0.0)), _WIDTH - _RIGHT
    )
    if threshold is not None:
        height = room.height(threshold)
        text = f"{threshold:.3g}"
        if threshold < 1 <= float(text):  # a probability: rounded up nothing would reach it
            text = f"{threshold:.12g}"
        yield Markup(
            '<path class="threshold" d="M{} {}H{}"/>'
            '<text class="threshold-name end" x="{}" y="{}">{} {}</text>'
        ).format(
            *(_LEFT, _r(height), _WIDTH - _RIGHT, _WIDTH - _RIGHT - 3, _r(height - 4)),
            *("last listed" if by_list else "flagged from", text),
        )


def _area(score: NDArray[np.float64], chosen: NDArray[np.bool_], room: _Room, name: str) -> Markup:
    """Steps from the base line up to the scores, one outline per unbroken run."""
    base = _r(room.height(0.0))
    outline: list[str] = []
    for first, last in _runs(chosen & (score != 0)):
        outline.append(f"M{_r(_column(first))} {base}")
        for k in range(first, last + 1):
            outline.append(f"V{_r(room.height(float(score[k])))}H{_r(_column(k + 1))}")
        outline.append(f"V{base}z")
    return Markup('<path class="{}" d="{}"/>').format(name, "".join(outline))


def _broken(bins: Bins, room: _Room) -> Iterator[Markup]:
    """A bar and a cross above the plot where frames could not be decoded."""
    for first, last in _runs(bins.undecodable > 0):
        left, right = _column(first), _column(last + 1)
        middle = (left + right) / 2
        yield Markup(
            '<g class="broken"><title>Frames that could not be decoded</title>'
            '<path class="broken-bar" d="M{} {}H{}V{}H{}z"/>'
            '<path class="broken-cross" d="M{} {}l8 8m0 -8l-8 8"/></g>'
        ).format(
            *(_r(left), _r(room.top), _r(right), _r(room.bottom), _r(left)),
            *(_r(middle - 4), _r(room.top + 6)),
        )


def _strip(bins: Bins, top: float) -> Markup:
    """The mean colour of each column, as a picture one pixel high."""
    from PIL import Image

    there = np.isfinite(bins.colour).all(axis=1)
    pixels = np.zeros((1, _COLUMNS, 4), dtype=np.uint8)
    pixels[0, there, :3] = np.clip(np.rint(bins.colour[there]), 0, 255)
    pixels[0, there, 3] = 255
    with io.BytesIO() as file:
        Image.fromarray(pixels, "RGBA").save(file, "PNG", optimize=True)
        encoded = base64.b64encode(file.getvalue()).decode("ascii")
    return Markup(
        '<rect class="strip-ground" x="{x}" y="{y}" width="{w}" height="{h}"/>'
        '<image class="strip" x="{x}" y="{y}" width="{w}" height="{h}" '
        'preserveAspectRatio="none" href="data:image/png;base64,{data}"/>'
    ).format(x=_LEFT, y=_r(top), w=_INNER, h=_STRIP, data=encoded)


def _marks(
    events: Sequence[Event], head: HeadFrames, scale: Scale, room: _Room
) -> Iterator[Markup]:
    """A mark for every event; its rank where there is room, the best ones first."""
    where = positions(head, scale)
    index = np.searchsorted(head.frame, [event.best_frame for event in events])
    taken: list[tuple[float, float]] = []
    labelled: list[Markup] = []
    for event, k in zip(events, index.tolist(), strict=True):
        position = float(where[min(k, where.size - 1)])
        x = _across(position, scale)
        half = (len(str(event.event)) * _LETTER + 6) / 2
        centre = min(max(x, half), _WIDTH - half)
        moment = clock(position) if scale.timed else "time unknown"
        title = f"Event {event.event}: frame {event.best_frame}, {moment}, score {event.score:.4g}"
        if all(centre + half <= left or centre - half >= right for left, right in taken):
            taken.append((centre - half, centre + half))
            labelled.append(
                Markup(
                    '<a href="#event-{rank}"><title>{title}</title>'
                    '<rect class="rank" x="{left}" y="{y}" width="{w}" height="18" rx="3"/>'
                    '<text class="rank-text" x="{x}" y="{base}">{rank}</text>'
                    '<path class="mark" d="M{tip} {top}l-4 -7h8z"/></a>'
                ).format(
                    rank=event.event,
                    title=title,
                    left=_r(centre - half),
                    y=_r(room.top - 30),
                    w=_r(2 * half),
                    x=_r(centre),
                    base=_r(room.top - 17),
                    tip=_r(x),
                    top=_r(room.top - 2),
                )
            )
        else:
            yield Markup(
                '<a href="#event-{}"><title>{}</title>'
                '<path class="mark small" d="M{} {}l-2.5 -6h5z"/></a>'
            ).format(event.event, title, _r(x), _r(room.top - 2))
    yield from reversed(labelled)  # the best ones lie on top


def _axis(scale: Scale, top: float) -> Iterator[Markup]:
    for value, text in _ticks(scale):
        x = _across(value, scale)
        room_left = x + 4 * len(text) <= _WIDTH
        yield Markup('<text class="tick {}" x="{}" y="{}">{}</text>').format(
            "middle" if room_left else "end", _r(x if room_left else _WIDTH), _r(top + 14), text
        )
    name = "time from the first frame, h:mm:ss" if scale.timed else "frame number"
    yield Markup('<text class="tick middle" x="{}" y="{}">{}</text>').format(
        _r(_LEFT + _INNER / 2), _r(top + 30), name
    )


def _ticks(scale: Scale) -> list[tuple[float, str]]:
    if scale.timed:
        return time_ticks(scale.end, most=9)
    return frame_ticks(scale.start, scale.end, most=9)


def _across(position: float, scale: Scale) -> float:
    return _LEFT + _INNER * (position - scale.start) / (scale.end - scale.start)


def _column(number: int) -> float:
    return _LEFT + _INNER * number / _COLUMNS


def _box(first: int, last: int, top: float, height: float) -> str:
    left, right = _r(_column(first)), _r(_column(last + 1))
    return f"M{left} {_r(top)}H{right}v{_r(height)}H{left}z"


def _runs(chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last index of each unbroken run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    return [(int(first), int(after) - 1) for first, after in edges.reshape(-1, 2)]


def _r(value: float) -> str:
    """A coordinate with a tenth of a unit, as short as it gets."""
    return f"{value:.1f}".removesuffix(".0")
