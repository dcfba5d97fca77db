"""A few frames of a video, spread over it, at little cost."""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import Place, Segment, Survey
from capsieve.sources.video.colour import RGB
from capsieve.sources.video.cutting import Span
from capsieve.sources.video.damage import Damage
from capsieve.sources.video.decoding import decoded
from capsieve.sources.video.finding import segment_packets

__all__ = ["sample_frames"]

# Where key frames are fewer than the samples, frames after them are decoded too: so many for each
# sample, so that the samples differ.
_DECODED_PER_SAMPLE = 8


def sample_frames(place: Place, survey: Survey, count: int) -> list[NDArray[Any]]:
    """Return pixels of about `count` frames spread evenly over a video, whatever decodes.

    Frames are decoded from key frames on, and where there are enough of these, they alone.

    Parameters
    ----------
    place, survey
        The video, and what reading through it told.
    count
        How many frames, about.

    Raises
    ------
    FileError
        The file is not what was surveyed.
    """
    keys = [(segment, key) for segment in survey.segments for key in segment.span["keys"]]
    if not keys or count < 1:
        return []
    chosen = _evenly(keys, count)
    each = -(-count // len(chosen))
    samples: list[NDArray[Any]] = []
    for segment in survey.segments:
        places = [key for owner, key in chosen if owner is segment]
        if places:
            samples += _segment_samples(place, segment, places, each)
    return samples[:count] if len(samples) <= count else _evenly(samples, count)


def _segment_samples(
    place: Place, segment: Segment, keys: list[int], each: int
) -> list[NDArray[Any]]:
    """Return `each` frames from every one of some key frames of a segment on."""
    rgb = RGB()
    run = 1 if each == 1 else each * _DECODED_PER_SAMPLE
    samples: list[NDArray[Any]] = []
    with segment_packets(place.path, place.stream, segment) as (stream, packets):
        context = stream.codec_context
        span = Span(**segment.span)
        read = 0
        for key, following in zip(keys, [*keys[1:], len(span.stamps)], strict=True):
            fed = list(islice(packets, key - read, min(key + run, following) - read))
            read = key + len(fed)
            frames = [
                frame for _, frame in decoded(context, fed, Damage(span)) if frame is not None
            ]
            context.flush_buffers()
            sound = [frame for frame in frames if not frame.is_corrupt]
            samples += [rgb(frame) for frame in _evenly(sound, each)]
    return samples


def _evenly(items: list[Any], count: int) -> list[Any]:
    """Return `count` of the items, evenly spaced; all of them where they are fewer."""
    if len(items) <= count:
        return items
    places = (np.arange(count) + 0.5) * len(items) / count
    return [items[place] for place in places.astype(int).tolist()]
