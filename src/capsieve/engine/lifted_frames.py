"""What the report shows of frames that the timeline lifts: they are read from the source again.

A worker keeps pictures of the frames that it flags. It does not know which others the timeline will
lift, for that takes the whole exam.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from capsieve.aperture.field import FieldOfView
from capsieve.detector import Detector
from capsieve.engine.evidence import signature, small_map, strongest, thumbnail
from capsieve.engine.timeline_flags import TimelineFlags
from capsieve.results import Evidence
from capsieve.sources.source import Source, Survey
from capsieve.store.record import ViewRecord

__all__ = ["read_lifted"]


def read_lifted(
    heads: Sequence[tuple[Source, Survey]],
    flags: TimelineFlags,
    *,
    detector: Detector,
    views: Sequence[ViewRecord],
    explained: Collection[tuple[int, int]],
) -> dict[tuple[int, int], dict[str, Any]]:
    """Return what is kept of each lifted frame, by head and frame: columns of a segment.

    Only segments that hold such frames are decoded.

    Parameters
    ----------
    heads
        The exam's sources.
    flags
        Which frames are lifted.
    detector, views
        For the evidence.
    explained
        Head and frame of those that get evidence: it costs much more than a picture.

    Raises
    ------
    FileError
        The source is not what was screened.
    """
    kept: dict[tuple[int, int], dict[str, Any]] = {}
    for source, survey in heads:
        head = source.place.head
        lifted = set(flags.lifted(head).tolist())
        starts = [*flags.first[head], len(flags.flagged[head])]
        for segment in survey.segments:
            wanted = lifted & set(range(starts[segment.number], starts[segment.number + 1]))
            if not wanted:
                continue
            for number, frame in enumerate(source.frames(segment), starts[segment.number]):
                if number not in wanted or frame.pixels is None:
                    continue
                kept[head, number] = {
                    "signature": signature(frame.pixels),
                    "thumbnail": thumbnail(frame.pixels),
                }
                if (head, number) in explained:
                    view = _view(views, head, frame.pixels)
                    kept[head, number] |= _evidence(detector, frame.pixels, view)
    return kept


def _evidence(
    detector: Detector, pixels: NDArray[Any], view: FieldOfView | None
) -> Mapping[str, Any]:
    ask = getattr(detector, "evidence", None)
    if ask is None:
        return {}
    found: Evidence = ask(pixels, view)
    return {
        "evidence": None if found.map is None else small_map(found.map),
        "weights": [weight._asdict() for weight in strongest(found.weights)],
    }


def _view(views: Sequence[ViewRecord], head: int, pixels: NDArray[Any]) -> FieldOfView | None:
    """Return the field of view for frames of this size; None where they are taken whole."""
    for view in views:
        if (view["head"], view["rows"], view["cols"]) == (head, *pixels.shape[:2]):
            shape: Any = view["shape"]
            return FieldOfView(shape, view["row"], view["col"], view["radius"], view["confidence"])
    return None
