"""The frames to read of an event besides its best one, as small pictures and as numbers.

Every flagged frame that is no near-duplicate is to be read, so the page shows it, or at least names
it. Pictures weigh a page down: they are bounded, and what is beyond the bound is named by number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup
from numpy.typing import NDArray

from capsieve.report import page
from capsieve.report.exam_tables import Event
from capsieve.report.overlay import overlay
from capsieve.report.text import clock, count

__all__ = ["LONGEST_STRIP", "SmallPicture", "Strip", "event_strips", "named"]

LONGEST_STRIP = 24
"""How many small pictures an event has; of more frames, so many are shown, evenly spread."""

_MOST_NAMED = 16  # numbers or runs of numbers in one sentence


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """A frame to read.

    Attributes
    ----------
    frame
        Its number.
    time
        h:mm:ss from the exam's first frame; "" where it is unknown.
    picture
        Address of the picture.
    shape
        Rows and columns of the frame.
    drawing
        The ball, over the picture.
    """

    frame: str
    time: str
    picture: str
    shape: tuple[int, int]
    drawing: Markup


@dataclass(frozen=True, slots=True)
class Strip:
    """The other frames to read of an event: pictures, and the rest in words."""

    pictures: tuple[SmallPicture, ...] = ()
    rest: str = ""


def event_strips(
    frames: pa.Table,
    events: Sequence[Event],
    thumbnails: Mapping[tuple[int, int], bytes],
    *,
    most_bytes: int,
    zero: float | None,
) -> list[Strip]:
    """Return a strip for each event.

    Parameters
    ----------
    frames
        Rows of the frames to read.
    events
        The first ones, best first.
    thumbnails
        JPEG of the whole frame, by head and number.
    most_bytes
        What all pictures together may take; the first events are served first.
    zero
        The time of the exam's first frame; None where times are unknown.
    """
    frames = frames.sort_by([("event", "ascending"), ("frame", "ascending")])
    ranks = _numbers(frames, "event")
    strips: list[Strip] = []
    for event in events:
        start, stop = np.searchsorted(ranks, [event.event, event.event + 1]).tolist()
        mine = frames.slice(start, stop - start)
        mine = mine.filter(pa.array(_numbers(mine, "frame") != event.best_frame))
        numbers = _numbers(mine, "frame")
        shown: list[int] = []
        for place in _evenly_spread(numbers, event.head, thumbnails):
            size = len(thumbnails[event.head, int(numbers[place])])
            if size > most_bytes:
                most_bytes = 0  # no later picture slips in because it is smaller
                break
            most_bytes -= size
            shown.append(place)
        rows = mine.take(pa.array(shown, pa.int64())).to_pylist()
        pictures = [_small_picture(row, thumbnails[event.head, row["frame"]], zero) for row in rows]
        rest = named(np.delete(numbers, shown))
        strips.append(Strip(tuple(pictures), rest))
    return strips


def named(numbers: Sequence[int] | NDArray[np.int64]) -> str:
    """Name frames by their numbers, in order: ``frames 812, 815–819 and 4 more``."""
    frames = np.asarray(numbers, dtype=np.int64)
    if not frames.size:
        return ""
    ends = np.flatnonzero(np.diff(frames) != 1)[:_MOST_NAMED]  # of runs, but for the last one
    firsts = frames[[0, *(ends + 1)]].tolist()[:_MOST_NAMED]
    lasts = frames[[*ends, -1]].tolist()[:_MOST_NAMED]
    texts = [_span(first, last) for first, last in zip(firsts, lasts, strict=True)]
    more = frames.size - sum(lasts) + sum(firsts) - len(firsts)
    if more:
        texts.append(f"{count(more)} more")
    words = f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]
    return f"frame {words}" if frames.size == 1 else f"frames {words}"


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}\N{EN DASH}{last}"


def _evenly_spread(
    numbers: NDArray[np.int64], head: int, thumbnails: Mapping[tuple[int, int], bytes]
) -> list[int]:
    """Return the places of those that get a picture, growing."""
    possible = [
        place for place, frame in enumerate(numbers.tolist()) if thumbnails.get((head, frame))
    ]
    if len(possible) <= LONGEST_STRIP:
        return possible
    steps = np.linspace(0, len(possible) - 1, LONGEST_STRIP).round().astype(int)
    return [possible[step] for step in steps]


def _small_picture(row: Mapping[str, Any], jpeg: bytes, zero: float | None) -> SmallPicture:
    shape, drawing = (1, 1), Markup("")
    if row["rows"] and row["cols"]:
        shape = row["rows"], row["cols"]
        if row["row"] is not None and row["col"] is not None and row["radius"]:
            drawing = overlay(shape, (row["row"], row["col"], row["radius"]), None)
    time = row["time_s"]
    return SmallPicture(
        frame=str(row["frame"]),
        time="" if time is None or zero is None else clock(time - zero),
        picture=page.image(jpeg),
        shape=shape,
        drawing=drawing,
    )


def _numbers(table: pa.Table, name: str) -> NDArray[np.int64]:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)
