"""The work on one segment: decode, score, describe. The same wherever it runs."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from capsieve.aperture.field import FieldOfView
from capsieve.detectors import Detector
from capsieve.engine.evidence import mean_colour, signature, thumbnail
from capsieve.errors import FrameError
from capsieve.frames import pixel_digest
from capsieve.look import look
from capsieve.results import Feature, FrameResult
from capsieve.sources.source import Place, Segment, SourceFrame, open_source
from capsieve.store.schema import SEGMENT

__all__ = ["SegmentTask", "View", "row_of_lost", "screen_segment", "segment_file"]


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
    for frame in open_source(task.place).frames(task.segment):
        if frame.pixels is None:
            yield _identity(frame) | {"status": "undecodable", "problem": frame.problem}
            continue
        rows, cols = frame.pixels.shape[:2]
        row = _identity(frame) | {
            "sha1": pixel_digest(frame.pixels),
            "look": look(frame.pixels),
            "status": "decoded",
            "problem": frame.problem or None,
            "rows": rows,
            "cols": cols,
        }
        field = views.get((rows, cols))
        try:
            result = task.detector.score(frame.pixels, field)
        except FrameError as error:
            row["problem"] = str(error)
        else:
            row |= _outcome(result)
            row["red"], row["green"], row["blue"] = mean_colour(frame.pixels, field)
            if result.label == "polyp":
                row["signature"], row["thumbnail"] = (
                    signature(frame.pixels),
                    thumbnail(frame.pixels),
                )
        yield row


def _identity(frame: SourceFrame) -> dict[str, Any]:
    return {"file": frame.file, "pts": frame.pts, "time_s": frame.time}


def _outcome(result: FrameResult) -> dict[str, Any]:
    best = result.best
    row = {
        "label": result.label,
        "reason": result.reason,
        "score": result.score,
        "texture_max": result.texture_max,
        "radius_max": result.radius_max,
        "midpass_max": result.midpass_max,
        "threshold": result.threshold,
        "features": [_feature(feature, result) for feature in result.features],
    }
    if best is not None:
        row["row"], row["col"] = result.placement.to_source(best.ball_row, best.ball_col)
        row["radius"] = result.placement.length_to_source(best.radius)
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
