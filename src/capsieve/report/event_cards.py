"""The events of an exam as cards with pictures, and the rest as rows of a table."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from markupsafe import Markup
from numpy.typing import NDArray

from capsieve.report import page
from capsieve.report.evidence_parts import map_address
from capsieve.report.exam_tables import Event, best_features
from capsieve.report.overlay import overlay
from capsieve.report.strips import Strip, event_strips
from capsieve.report.text import clock, count, percent, plain, plural

__all__ = ["MOST_CARDS", "Card", "event_cards", "explain_command"]

MOST_CARDS = 200
"""How many events get a picture; the others are rows of a table."""

_MOST_BYTES = 3_500_000  # of pictures: with them the page stays below 6 MB
_UNKNOWN_SHAPE = (1, 1)


@dataclass(frozen=True, slots=True)
class Card:
    """An event as the page shows it: texts that are ready to be escaped, and a drawing.

    Attributes
    ----------
    rank, head
        Numbers as texts.
    frames
        The numbers of the first and the last frame.
    best
        The number of the best frame.
    time
        Of the best frame, h:mm:ss from the exam's first frame; "" where it is unknown.
    lasts
        How long the event lasts, in words; "" where it is unknown or a single frame.
    score, flagged, to_read
        As texts.
    file
        Name of the best frame's image file, or "".
    command
        The command that explains the best frame, in its parts.
    picture
        Address of the picture, or "" where there is none.
    shape
        Rows and columns of the best frame.
    drawing
        Circle and ellipse, over the picture.
    others
        The other frames to read.
    map
        Address of the evidence map that lies over the picture, or "".
    """

    rank: str
    head: str
    frames: str
    best: str
    time: str
    lasts: str
    score: str
    flagged: str
    to_read: str
    file: str
    command: tuple[str, str, str]
    picture: str
    shape: tuple[int, int]
    drawing: Markup
    others: Strip
    map: str = ""


def event_cards(
    tables: Mapping[str, pa.Table],
    events: Sequence[Event],
    thumbnails: Mapping[tuple[int, int], bytes],
    *,
    to_read: NDArray[np.bool_],
    place: str,
    zero: float | None,
    probability: bool,
    evidence: Mapping[tuple[int, int], bytes],
) -> tuple[list[Card], list[Card]]:
    """Prepare the events.

    Parameters
    ----------
    tables
        The tables "frames" and "features".
    events
        All events, best first.
    thumbnails
        JPEG of the whole frame, by head and number. Best frames have theirs first; the other
        frames to read have what the page's size then leaves.
    to_read
        Which frames a reader is shown.
    place
        What the commands call the exam's folder.
    zero
        The time of the exam's first frame; None where times are unknown.
    probability
        Whether scores are probabilities.
    evidence
        Evidence maps of best frames, by head and frame.

    Returns
    -------
    cards, rows
        The best events with pictures, and all others without.
    """
    pictured, left = _pictured(events, thumbnails)
    first = events[:pictured]
    best = [(event.head, event.best_frame) for event in first]
    shapes, features = best_features(tables["frames"], tables["features"], best)
    strips = event_strips(
        tables["frames"].filter(pa.array(to_read)), first, thumbnails, most_bytes=left, zero=zero
    )
    cards: list[Card] = []
    for event, key, others in zip(first, best, strips, strict=True):
        shape = shapes.get(key, _UNKNOWN_SHAPE)
        ball = None
        if event.row is not None and event.col is not None and event.radius:
            ball = (event.row, event.col, event.radius)
        # A learned detector points where its map is brightest, not at a ball of the paper's.
        fitted = None if probability else features.get(key)
        drawn = overlay(shape, ball, fitted) if key in shapes else Markup("")
        card = _card(place, event, zero, probability)
        picture = page.image(thumbnails.get(key))
        card = replace(card, picture=picture, shape=shape, drawing=drawn, others=others)
        known = evidence.get(key)
        if known is not None and picture:
            card = replace(card, map=map_address(known))
        cards.append(card)
    rows = [_card(place, event, zero, probability) for event in events[pictured:]]
    return cards, rows


def explain_command(place: str, head: int, frame: int) -> tuple[str, str, str]:
    """Return the command that explains a frame, in parts that a line should not break."""
    start = f"capsieve explain {shlex.quote(plain(place))}"
    return start, f"--frame {frame}", f"--head {head}" if head else ""


def _pictured(
    events: Sequence[Event], thumbnails: Mapping[tuple[int, int], bytes]
) -> tuple[int, int]:
    """How many events get a card, and how many bytes their best frames leave for others."""
    left = _MOST_BYTES
    for place, event in enumerate(events[:MOST_CARDS]):
        size = len(thumbnails.get((event.head, event.best_frame), b""))
        if size > left:
            return place, 0
        left -= size
    return min(len(events), MOST_CARDS), left


def _card(place: str, event: Event, zero: float | None, probability: bool) -> Card:
    """Return the texts of an event, without pictures."""
    return Card(
        rank=str(event.event),
        head=str(event.head),
        frames=_span(event.first_frame, event.last_frame),
        best=str(event.best_frame),
        time=_moment(event.best_time_s, zero),
        lasts=_lasts(event),
        score=percent(event.score) if probability else f"{event.score:.4g}",
        flagged=plural(event.frames, "frame"),
        to_read=count(event.to_read),
        file=plain(event.best_file or ""),
        command=explain_command(place, event.head, event.best_frame),
        picture="",
        shape=_UNKNOWN_SHAPE,
        drawing=Markup(""),
        others=Strip(),
    )


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def _moment(time: float | None, zero: float | None) -> str:
    return "" if time is None or zero is None else clock(time - zero)


def _lasts(event: Event) -> str:
    if event.first_time_s is None or event.last_time_s is None:
        return ""
    seconds = event.last_time_s - event.first_time_s
    if event.first_frame == event.last_frame or seconds < 0:
        return ""
    if seconds < 0.1:
        return "< 0.1 s"
    return f"{seconds:.1f} s" if seconds < 60 else clock(seconds)
