"""The timeline of an exam as SVG: scores, rejected frames, events, colours; and its parts.

Frames are gathered into a fixed number of columns, so the drawing of an exam is small however long
the exam is. The style sheet of the page gives the colours by class: the same drawing serves light,
dark and print. The reading report draws its bar from the same parts: scale, columns, colour strip,
marks and ticks.
"""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from capsieve.report.exam_tables import Event, HeadFrames
from capsieve.report.text import clock
from capsieve.report.timeline_scale import (
    Bins,
    Scale,
    bins_of,
    positions,
    scale_of,
    score_ticks,
    ticks,
)

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

# Proportions of rejected frames, and how strongly the stretch is shaded.
_SHADES = ((0.75, "most"), (0.40, "many"), (0.10, "some"))


@dataclass(frozen=True, slots=True)
class _Lane:
    """Vertical positions of one head: top and bottom of the plot, and the scores there."""

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
        The lowest score of a flagged frame, or the last score of a reading list; None if there
        is neither.
    by_list
        Whether it is that of a reading list.

    Returns
    -------
    Markup
        An ``svg`` element; empty if there are no frames.
    """
    heads = [head for head in heads if head.frame.size]
    if not heads:
        return Markup("")
    scale = scale_of(heads)
    bins = [bins_of(head, scale, columns=_COLUMNS) for head in heads]
    low, high = _score_bounds(bins, threshold)
    named = len(heads) > 1
    step = (_TITLE if named else 0) + _MARKS + _PLOT + _GAP + _STRIP
    tall = len(heads) * step + (len(heads) - 1) * _BELOW + _AXIS
    parts: list[Markup] = []
    for place, (head, gathered) in enumerate(zip(heads, bins, strict=True)):
        top = place * (step + _BELOW) + (_TITLE if named else 0) + _MARKS
        lane = _Lane(top=top, bottom=top + _PLOT, low=low, high=high)
        if named:
            text = Markup('<text class="lane" x="0" y="{}">Head {}</text>')
            parts.append(text.format(_r(top - _MARKS - _TITLE + 12), head.head))
        parts += _grid(scale, lane)
        parts += _scores(gathered, lane, threshold, by_list)
        parts += _broken(gathered, lane)
        parts.append(_strip(gathered, lane.bottom + _GAP))
        own = [event for event in events if event.head == head.head]
        parts += _marks(own, head, scale, lane)
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


def _grid(scale: Scale, lane: _Lane) -> Iterator[Markup]:
    line = Markup('<path class="grid" d="{}"/>')
    verticals = "".join(
        f"M{_r(_across(value, scale))} {_r(lane.top)}V{_r(lane.bottom + _GAP + _STRIP)}"
        for value, _ in ticks(scale)
    )
    scores = score_ticks(lane.low, lane.high, most=4)
    horizontals = "".join(
        f"M{_LEFT} {_r(lane.height(value))}H{_WIDTH - _RIGHT}" for value, _ in scores
    )
    yield line.format(verticals + horizontals)
    for value, text in scores:
        yield Markup('<text class="tick end" x="{}" y="{}">{}</text>').format(
            _LEFT - 6, _r(lane.height(value) + 4), text
        )


def _shading(bins: Bins, lane: _Lane) -> Iterator[Markup]:
    for name, shares in (("smooth", bins.smooth), ("busy", bins.busy)):
        upper = np.inf
        for least, strength in _SHADES:
            runs = _runs((shares >= least) & (shares < upper))
            upper = least
            if runs:
                outline = "".join(_box(first, last, lane.top, _PLOT) for first, last in runs)
                yield Markup('<path class="{} {}" d="{}"/>').format(name, strength, outline)


def _scores(bins: Bins, lane: _Lane, threshold: float | None, by_list: bool) -> Iterator[Markup]:
    known = np.isfinite(bins.score)
    yield _area(bins.score, known, lane, "score")
    # In a long exam every column has a frame with a ball: the shading is drawn over them.
    yield from _shading(bins, lane)
    yield _area(bins.score, known & bins.flagged, lane, "score flagged")
    yield Markup('<path class="base" d="M{} {}H{}"/>').format(
        _LEFT, _r(lane.height(0.0)), _WIDTH - _RIGHT
    )
    if threshold is not None:
        height = lane.height(threshold)
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


def _area(score: NDArray[np.float64], chosen: NDArray[np.bool_], lane: _Lane, name: str) -> Markup:
    """Steps from the base line up to the scores, one outline per unbroken run."""
    base = _r(lane.height(0.0))
    outline: list[str] = []
    for first, last in _runs(chosen & (score != 0)):
        outline.append(f"M{_r(_column(first))} {base}")
        for k in range(first, last + 1):
            outline.append(f"V{_r(lane.height(float(score[k])))}H{_r(_column(k + 1))}")
        outline.append(f"V{base}z")
    return Markup('<path class="{}" d="{}"/>').format(name, "".join(outline))


def _broken(bins: Bins, lane: _Lane) -> Iterator[Markup]:
    """A bar and a cross above the plot where frames could not be decoded."""
    for first, last in _runs(bins.undecodable > 0):
        left, right = _column(first), _column(last + 1)
        middle = (left + right) / 2
        yield Markup(
            '<g class="broken"><title>Frames that could not be decoded</title>'
            '<path class="broken-bar" d="M{} {}H{}V{}H{}z"/>'
            '<path class="broken-cross" d="M{} {}l8 8m0 -8l-8 8"/></g>'
        ).format(
            *(_r(left), _r(lane.top), _r(right), _r(lane.bottom), _r(left)),
            *(_r(middle - 4), _r(lane.top + 6)),
        )


def _strip(bins: Bins, top: float) -> Markup:
    box = Markup('x="{}" y="{}" width="{}" height="{}"').format(_LEFT, _r(top), _INNER, _STRIP)
    return Markup(
        '<rect class="strip-ground" {0}/>'
        '<image class="strip" {0} preserveAspectRatio="none" href="{1}"/>'
    ).format(box, colour_strip(bins))


def _marks(
    events: Sequence[Event], head: HeadFrames, scale: Scale, lane: _Lane
) -> Iterator[Markup]:
    """A mark for every event; its rank if there is space, the best ones first."""
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
            shape = mark(
                str(event.event),
                tip=(x, lane.top - 2),
                centre=centre,
                half=half,
                attributes=('class="mark"', 'class="rank"', 'class="rank-text"'),
            )
            link = Markup('<a href="#event-{}"><title>{}</title>{}</a>')
            labelled.append(link.format(event.event, title, shape))
        else:
            yield Markup(
                '<a href="#event-{}"><title>{}</title>'
                '<path class="mark small" d="M{} {}l-2.5 -6h5z"/></a>'
            ).format(event.event, title, _r(x), _r(lane.top - 2))
    yield from reversed(labelled)  # the best ones on top


def _axis(scale: Scale, top: float) -> Iterator[Markup]:
    for value, text in ticks(scale):
        x = _across(value, scale)
        fits = x + 4 * len(text) <= _WIDTH
        yield Markup('<text class="tick {}" x="{}" y="{}">{}</text>').format(
            "middle" if fits else "end", _r(x if fits else _WIDTH), _r(top + 14), text
        )
    name = "time from the first frame, h:mm:ss" if scale.timed else "frame number"
    yield Markup('<text class="tick middle" x="{}" y="{}">{}</text>').format(
        _r(_LEFT + _INNER / 2), _r(top + 30), name
    )


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


def colour_strip(bins: Bins) -> str:
    """Return the mean colour of each column as an image one pixel high; unknown is transparent."""
    from PIL import Image

    known = np.isfinite(bins.colour).all(axis=1)
    pixels = np.zeros((1, known.size, 4), np.uint8)
    pixels[0, known, :3] = np.clip(np.rint(bins.colour[known]), 0, 255)
    pixels[0, known, 3] = 255
    with io.BytesIO() as file:
        Image.fromarray(pixels, "RGBA").save(file, "PNG", optimize=True)
        return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def mark(
    text: str,
    *,
    tip: tuple[float, float],
    centre: float,
    half: float,
    attributes: tuple[str, str, str],
) -> Markup:
    """Return a box with a text and a small triangle below it.

    Parameters
    ----------
    text
        A number.
    tip
        The point that the triangle points at.
    centre, half
        Centre and half the width of the box, which may be moved away from the tip.
    attributes
        Attributes of the triangle, the box and the text.
    """
    triangle, box, label = map(Markup, attributes)
    x, y = tip
    return Markup(
        '<rect {} x="{}" y="{}" width="{}" height="18" rx="3"/>'
        '<text {} x="{}" y="{}">{}</text><path {} d="M{} {}l-4 -7h8z"/>'
    ).format(
        *(box, _r(centre - half), _r(y - 28), _r(2 * half)),
        *(label, _r(centre), _r(y - 15), text, triangle, _r(x), _r(y)),
    )
