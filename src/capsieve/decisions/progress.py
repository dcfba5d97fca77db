"""How far a reading has come: events offered and decided, frames displayed."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from capsieve.decisions.exam import Event
from capsieve.decisions.model import Signature
from capsieve.decisions.reading import Reading
from capsieve.decisions.viewed import Bitmaps, together


class Progress(BaseModel):
    """How far a reading has come; of a signed reading, what was signed."""

    model_config = ConfigDict(frozen=True)

    events: int = Field(default=0, description="Of the exam.")
    offered: int = Field(default=0, description="Events that need a decision.")
    opened: int = Field(default=0, description="Offered events whose best frame was displayed.")
    decided: int = Field(default=0, description="Offered events with a decision.")
    to_read: int = Field(default=0, description="Listed frames: flagged, without near-duplicates.")
    to_read_displayed: int = Field(default=0, description="Listed frames that were displayed.")
    to_read_viewed: int = Field(default=0, description="Listed frames displayed for 45 ms or more.")
    frames: int = 0
    displayed: int = Field(default=0, description="Frames that were displayed.")
    viewed: int = Field(default=0, description="Frames displayed for at least 45 ms.")
    without_picture: int = Field(default=0, description="Frames that were not decoded.")


def make_progress(
    reading: Reading,
    displayed: Iterable[Bitmaps],
    *,
    events: Sequence[Event],
    offered: Sequence[Event],
    to_read: Mapping[int, NDArray[np.bool_]],
    without_picture: int,
) -> Progress:
    """Count what was offered, decided and displayed.

    Parameters
    ----------
    displayed
        What was displayed to the readers of this reading; a signature has its own copies.
    events, offered
        All events of the exam, and those that need a decision.
    to_read
        For each head, whether a frame is listed.
    without_picture
        How many frames were not decoded.
    """
    content = None if reading.signature is None else reading.signature.content
    if isinstance(content, Signature):
        displayed = [Bitmaps.of(each) for each in content.viewed]
    bits = together(displayed, {head: listed.size for head, listed in to_read.items()})
    return Progress(
        events=len(events),
        offered=len(offered),
        opened=len(_opened(offered, bits)),
        decided=sum(event.subject in reading.decisions for event in offered),
        to_read=sum(int(listed.sum()) for listed in to_read.values()),
        to_read_displayed=sum(int((to_read[head] & both[0]).sum()) for head, both in bits.items()),
        to_read_viewed=sum(int((to_read[head] & both[1]).sum()) for head, both in bits.items()),
        frames=sum(listed.size for listed in to_read.values()),
        displayed=sum(int(both[0].sum()) for both in bits.values()),
        viewed=sum(int(both[1].sum()) for both in bits.values()),
        without_picture=without_picture,
    )


def opened_events(events: Iterable[Event], displayed: Iterable[Bitmaps]) -> list[Event]:
    """Return the events whose best frame was displayed."""
    return _opened(events, together(displayed))


def _opened(
    events: Iterable[Event], bits: Mapping[int, Sequence[NDArray[np.bool_]]]
) -> list[Event]:
    return [
        event
        for event in events
        if event.head in bits
        and event.best < bits[event.head][0].size
        and bits[event.head][0][event.best]
    ]
