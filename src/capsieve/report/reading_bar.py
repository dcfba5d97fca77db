"""The whole exam as one bar: its colours, its landmarks and its findings."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from capsieve.decisions.model import LANDMARKS, Entry, Finding, Landmark, said
from capsieve.decisions.reading import Reading
from capsieve.report.exam_tables import HeadFrames
from capsieve.report.timeline import colour_strip, mark
from capsieve.report.timeline_scale import FrameTimes, Scale, bins_of, ticks

_WIDTH = 1000
_MARKS = 30
_STRIP = 26
_LINE = 18
_AXIS = 20
_COLUMNS = 500
_LETTER = 7.6  # width of a letter of a landmark's name
_INK = "#1d2733"
_SOFT = "#55626f"
_ALERT = "#a3142a"
_BLUE = "#2f5d8a"

# Colours are attributes, because WeasyPrint applies no style sheet to drawings; the class lets the
# style sheet change them on a dark screen.
_TEXT = Markup('<text class="{}" x="{}" y="{}" font-size="14" text-anchor="{}" fill="{}">{}</text>')


def reading_bar(reading: Reading, findings: Sequence[Entry], times: FrameTimes) -> Markup:
    """Draw the exam, one bar per head: numbered findings above, landmarks below.

    The ``svg`` element is empty if there are no frames.
    """
    heads = [head for head in times.heads if head.frame.size]
    if not heads:
        return Markup("")
    parts: list[Markup] = []
    top = 0.0
    for head in heads:
        if len(heads) > 1:
            parts.append(_TEXT.format("bar-ink", 0, top + 14, "start", _INK, f"Head {head.head}"))
        top += _MARKS
        parts.append(_strip(head, times.scale, top))
        parts += _findings(findings, head.head, times, top)
        labels, lines = _landmarks(reading, head.head, times, top + _STRIP)
        parts += labels
        top += _STRIP + lines * _LINE + 6
    parts += _axis(times.scale, top)
    return Markup(
        '<svg class="bar" viewBox="0 0 {} {}" role="img" font-family="Liberation '
        'Sans, Arial, sans-serif" aria-label="The whole exam: mean '
        'colour of the frames, landmarks and findings, which are listed below.">{}</svg>'
    ).format(_WIDTH, round(top + _AXIS), Markup("").join(parts))


def _strip(head: HeadFrames, scale: Scale, top: float) -> Markup:
    box = Markup('x="0" y="{}" width="{}" height="{}"').format(top, _WIDTH, _STRIP)
    return Markup(
        '<rect {0} fill="#e8e8e8"/><image {0} preserveAspectRatio="none" href="{1}"/>'
    ).format(box, colour_strip(bins_of(head, scale, columns=_COLUMNS)))


def _findings(
    findings: Sequence[Entry], head: int, times: FrameTimes, top: float
) -> Iterator[Markup]:
    """Yield a numbered mark for each finding of a head; marks of near findings do not overlap."""
    left = 0.0  # end of the box before
    for number, entry in enumerate(findings, start=1):
        best = said(entry, Finding).best
        place = times.position(head, best.frame)
        if best.head != head or place is None:
            continue
        x = _across(place, times.scale)
        half = 6 + 4 * len(str(number))
        centre = min(max(x, left + half), _WIDTH - half)
        left = centre + half + 1
        yield mark(
            str(number),
            tip=(x, top - 1),
            centre=centre,
            half=half,
            attributes=(
                f'fill="{_ALERT}"',
                f'fill="{_ALERT}"',
                'font-size="13" font-weight="bold" text-anchor="middle" fill="#ffffff"',
            ),
        )


def _landmarks(
    reading: Reading, head: int, times: FrameTimes, top: float
) -> tuple[list[Markup], int]:
    """Return the landmarks of a head, and the number of lines of their names."""
    parts: list[Markup] = []
    taken: list[float] = []  # end of the last name of each line
    marks = [
        (place, LANDMARKS[name])
        for name, entry in reading.landmarks.items()
        if (mark := said(entry, Landmark)).head == head
        and (place := times.position(head, mark.frame)) is not None
    ]
    for place, words in sorted(marks):
        x, width = _across(place, times.scale), len(words) * _LETTER
        start = min(max(0.0, x - width / 2), _WIDTH - width)
        line = next((k for k, end in enumerate(taken) if start > end + 8), len(taken))
        taken[line : line + 1] = [start + width]
        base = top + 15 + line * _LINE
        parts.append(
            Markup('<path d="M{} {}V{}" stroke="{}" stroke-width="1.6" fill="none"/>').format(
                f"{x:.1f}", f"{top - _STRIP:.1f}", f"{top + 3:.1f}", _BLUE
            )
        )
        middle = f"{start + width / 2:.1f}"
        parts.append(_TEXT.format("bar-ink", middle, f"{base:.1f}", "middle", _INK, words))
    return parts, len(taken)


def _axis(scale: Scale, top: float) -> Iterator[Markup]:
    for value, text in ticks(scale):
        x = _across(value, scale)
        anchor = "start" if x < 30 else "end" if x > _WIDTH - 30 else "middle"
        yield _TEXT.format("bar-soft", f"{x:.1f}", f"{top + 13:.1f}", anchor, _SOFT, text)


def _across(position: float, scale: Scale) -> float:
    return _WIDTH * (position - scale.start) / (scale.end - scale.start)
