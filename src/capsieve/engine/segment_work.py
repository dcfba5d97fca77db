"""The work on one segment: decode, score, describe. The same wherever it runs."""

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.detector import Detector
from capsieve.engine.evidence import mean_colour, signature, small_map, thumbnail
from capsieve.errors import FrameError
from capsieve.frames import FieldOfView, pixel_hash
from capsieve.phash import phash
from capsieve.results import Evidence, Feature, FrameResult
from capsieve.sources.source import Place, Segment, SourceFrame, open_source
from capsieve.store.schema import SEGMENT

__all__ = ["SegmentTask", "View", "row_of_lost", "screen_segment", "segment_file"]


_TOGETHER = 16  # frames that a detector is given at once
_TOGETHER_BYTES = 1 << 26  # of their pixels, whatever their size


@dataclass(frozen=True, slots=True)
class View:
    """The field of view for frames of one size; frames of another size are taken whole."""

    rows: int
    cols: int
    field: FieldOfView


@dataclass(frozen=True, slots=True)
class SegmentTask:
    """All that a worker needs to know.

    Attributes
    ----------
    exam
        The exam's name.
    place, segment
        What to decode.
    detector
        What to score it with.
    views
        The head's fields of view.
    """

    exam: str
    place: Place
    segment: Segment
    detector: Detector
    views: tuple[View, ...]

    def __str__(self) -> str:
        """How messages name it."""
        return f"segment {self.segment.number} of head {self.place.head} of {self.exam}"


def screen_segment(task: SegmentTask) -> bytes:
    """Return the segment's rows as a Parquet file, see :data:`capsieve.store.schema.SEGMENT`."""
    return segment_file(_rows(task))


def segment_file(rows: Iterator[dict[str, Any]]) -> bytes:
    """Return rows as a Parquet file."""
    buffer = io.BytesIO()
    table = pa.Table.from_pylist(list(rows), SEGMENT)
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def row_of_lost(frame: SourceFrame, problem: str) -> dict[str, Any]:
    """Return the row of a frame that no worker lived to decode."""
    return _identity(frame) | {"status": "unscreened", "problem": problem}


def _rows(task: SegmentTask) -> Iterator[dict[str, Any]]:
    views = {(view.rows, view.cols): view.field for view in task.views}
    for frames in _chunks(open_source(task.place).frames(task.segment)):
        yield from _chunk_rows(task.detector, views, frames)


def _chunks(frames: Iterator[SourceFrame]) -> Iterator[list[SourceFrame]]:
    """Yield frames in order, as many at once as a detector takes and memory bears."""
    chunk: list[SourceFrame] = []
    held = 0
    for frame in frames:
        chunk.append(frame)
        held += 0 if frame.pixels is None else frame.pixels.nbytes
        if len(chunk) == _TOGETHER or held >= _TOGETHER_BYTES:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


def _chunk_rows(
    detector: Detector,
    views: dict[tuple[int, int], FieldOfView],
    frames: Sequence[SourceFrame],
) -> Iterator[dict[str, Any]]:
    pixels = [frame.pixels for frame in frames if frame.pixels is not None]
    fields = [views.get((each.shape[0], each.shape[1])) for each in pixels]
    scored = iter(zip(fields, detector.score_batch(pixels, fields), strict=True))
    for frame in frames:
        if frame.pixels is None:
            yield _identity(frame) | {"status": "undecodable", "problem": frame.problem}
            continue
        rows, cols = frame.pixels.shape[:2]
        row = _identity(frame) | {
            "sha1": pixel_hash(frame.pixels),
            "look": phash(frame.pixels),
            "status": "decoded",
            "problem": frame.problem or None,
            "rows": rows,
            "cols": cols,
        }
        field, result = next(scored)
        if isinstance(result, FrameError):
            row["problem"] = str(result)
        else:
            row |= _outcome(result)
            row["red"], row["green"], row["blue"] = mean_colour(frame.pixels, field)
            if result.label == "polyp":
                row["signature"] = signature(frame.pixels)
                row["thumbnail"] = thumbnail(frame.pixels)
                row |= _evidence(detector, frame.pixels, field)
        yield row


def _evidence(
    detector: Detector, pixels: NDArray[Any], field: FieldOfView | None
) -> dict[str, Any]:
    """Why a frame was flagged, small enough to travel with it; empty for the paper's detector."""
    ask = getattr(detector, "evidence", None)
    if ask is None:
        return {}
    found: Evidence = ask(pixels, field)
    return {
        "evidence": None if found.map is None else small_map(found.map),
    }


def _identity(frame: SourceFrame) -> dict[str, Any]:
    return {"file": frame.file, "pts": frame.pts, "time_s": frame.time}


def _outcome(result: FrameResult) -> dict[str, Any]:
    # Without the paper's texture energy the paper's steps were not taken: there is no R_max.
    known = not math.isnan(result.texture_max)
    row = {
        "label": result.label,
        "reason": result.reason,
        "score": result.score,
        "texture_max": result.texture_max if known else None,
        "radius_max": result.radius_max if known else None,
        "midpass_max": result.midpass_max,
        "threshold": result.segmentation_threshold,
        "values": list(result.values) or None,
        "features": [_feature(feature, result) for feature in result.features],
    }
    if result.place is not None:
        row |= result.place._asdict()
    return row


def _feature(feature: Feature, result: FrameResult) -> dict[str, Any]:
    row, col = result.placement.to_source(feature.ball_row, feature.ball_col)
    return {
        "feature": feature.number,
        "size": feature.size,
        "eccentricity": feature.eccentricity,
        "row": feature.row,
        "col": feature.col,
        "ball_row": feature.ball_row,
        "ball_col": feature.ball_col,
        "radius": feature.radius,
        "rejected": feature.rejected,
        "moment_rr": feature.moment_rr,
        "moment_rc": feature.moment_rc,
        "moment_cc": feature.moment_cc,
        "source_row": row,
        "source_col": col,
        "source_radius": result.placement.length_to_source(feature.radius),
    }
