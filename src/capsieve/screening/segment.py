"""The work on one segment: decode it and score its frames with a detector."""

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeAlias, TypeVar

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.detector import Detector
from capsieve.errors import CapsieveError, FrameError
from capsieve.frame_images import eight_bits, shrink
from capsieve.frames import FieldOfView, pixel_hash
from capsieve.phash import field_phash, phash
from capsieve.results import FrameResult
from capsieve.sources.base import Place, Segment, SourceFrame, open_source
from capsieve.store.schema import SEGMENT

T = TypeVar("T")

FieldsOfView: TypeAlias = Mapping[tuple[int, int], FieldOfView]
"""Field of view by rows and columns of the frame. Frames of other sizes are analysed whole."""

FrameFunction: TypeAlias = Callable[[Sequence[SourceFrame], Sequence[FieldOfView | None]], list[T]]
"""Takes consecutive frames and their fields of view, and returns one value per frame."""

_BATCH = 16  # frames; part of the results, because scores of a model depend on the batch
_BATCH_BYTES = 1 << 26
_WORKING_WIDTH = 256
_SAMPLES_ACROSS = 48  # pixels across the field of view; a mean colour needs no more


@dataclass(frozen=True, slots=True)
class SegmentTask(Generic[T]):
    """A segment and the function for its frames."""

    exam: str
    place: Place
    segment: Segment
    fields: FieldsOfView = field(hash=False)  # of the head
    function: FrameFunction[T]  # it can be pickled

    def __str__(self) -> str:
        return f"segment {self.segment.number} of head {self.place.head} of {self.exam}"


def map_frames(task: SegmentTask[T]) -> list[T]:
    """Decode a segment and return the function's value for each of the frames.

    The function gets batches of 16 frames, fewer if they are large; the first batch starts with the
    segment. Frames that cannot be decoded have no pixels.

    Raises
    ------
    FileError
        The source has changed since it was surveyed.
    """
    values: list[T] = []
    for batch in _batches(open_source(task.place).frames(task.segment)):
        sizes = [(0, 0) if frame.pixels is None else frame.pixels.shape[:2] for frame in batch]
        values += task.function(batch, [task.fields.get(size) for size in sizes])
    return values


def _batches(frames: Iterator[SourceFrame]) -> Iterator[list[SourceFrame]]:
    batch: list[SourceFrame] = []
    size = 0
    for frame in frames:
        batch.append(frame)
        size += 0 if frame.pixels is None else frame.pixels.nbytes
        if len(batch) == _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def score_segment(task: SegmentTask[dict[str, Any]]) -> bytes:
    """Return the rows of a segment as a Parquet file, see :data:`capsieve.store.schema.SEGMENT`.

    The task's function is :func:`score_frames` with a detector.
    """
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(map_frames(task), SEGMENT), buffer, compression="zstd")
    return buffer.getvalue()


def unscreened_rows(frames: Iterator[SourceFrame], problem: str) -> pa.Table:
    """Return the rows of frames of a segment that no worker could screen."""
    rows = [_origin(frame) | {"status": "unscreened", "problem": problem} for frame in frames]
    return pa.Table.from_pylist(rows, SEGMENT)


def score_frames(
    detector: Detector, frames: Sequence[SourceFrame], fields: Sequence[FieldOfView | None]
) -> list[dict[str, Any]]:
    """Return one row per frame: its origin, hashes, and the detector's result.

    If the detector fails on a frame, the error is the problem of this frame alone.
    """
    pairs = list(zip(frames, fields, strict=True))
    decoded = [(frame.pixels, field) for frame, field in pairs if frame.pixels is not None]
    results, batch_error = _results(detector, decoded)
    scored = iter(results)
    rows: list[dict[str, Any]] = []
    for frame, field_of_view in pairs:
        row = _origin(frame) | {"status": "undecodable", "problem": frame.problem or None}
        pixels = frame.pixels
        if pixels is not None:
            row |= _properties(pixels, field_of_view) | {"batch_error": batch_error or None}
            result = next(scored)
            if isinstance(result, FrameError):
                row["problem"] = " ".join(str(result).split())
            else:
                row |= _result_columns(result)
                row["red"], row["green"], row["blue"] = _mean_colour(pixels, field_of_view)
                row["sharpness"] = _sharpness(pixels)
        rows.append(row)
    return rows


def _results(
    detector: Detector, frames: list[tuple[NDArray[Any], FieldOfView | None]]
) -> tuple[list[FrameResult | FrameError], str]:
    """Return the results of a batch, and why only `score_batch` failed, or ""."""
    if not frames:
        return [], ""
    score_batch = getattr(detector, "score_batch", None)
    if score_batch is None:
        return [_result(detector, *frame) for frame in frames], ""
    try:
        results = [_checked(result) for result in score_batch(*zip(*frames, strict=True))]
        if len(results) != len(frames):
            raise ValueError(f"it returned {len(results)} results for {len(frames)} frames")
    except Exception as error:
        if isinstance(error, CapsieveError) and not isinstance(error, FrameError):
            raise  # a missing model, not a bad frame
        results = [_result(detector, *frame) for frame in frames]
        # If a frame fails alone as well, it is the frame, which has the error.
        if not any(isinstance(result, FrameError) for result in results):
            return results, f"{type(error).__name__}: {error}"
    return results, ""


def _result(
    detector: Detector, pixels: NDArray[Any], field_of_view: FieldOfView | None
) -> FrameResult | FrameError:
    try:
        return _checked(detector.score(pixels, field_of_view))
    except FrameError as error:
        return error
    except Exception as error:
        if isinstance(error, CapsieveError):
            raise
        return FrameError(f"the detector failed with {type(error).__name__}: {error}")


def _checked(result: object) -> FrameResult | FrameError:
    if isinstance(result, FrameError):
        return result
    if not isinstance(result, FrameResult):
        return FrameError(f"the detector returned {type(result).__name__}, not FrameResult")
    if not math.isfinite(result.score):
        return FrameError(f"the detector returned the score {result.score}")
    return result


def _origin(frame: SourceFrame) -> dict[str, Any]:
    return {"file": frame.file, "packet": frame.packet, "time_s": frame.time}


def _properties(pixels: NDArray[Any], field_of_view: FieldOfView | None) -> dict[str, Any]:
    return {
        "pixel_hash": pixel_hash(pixels),
        "phash": phash(pixels),
        "field_phash": field_phash(pixels, field_of_view),
        "status": "decoded",
        "rows": pixels.shape[0],
        "cols": pixels.shape[1],
    }


def _result_columns(result: FrameResult) -> dict[str, Any]:
    # A detector without the paper's steps has no T_max, and then R_max means nothing.
    paper = not math.isnan(result.texture_max)
    columns = {
        "reason": result.reason,
        "score": result.score,
        "texture_max": result.texture_max if paper else None,
        "radius_max": result.radius_max if paper else None,
        "midpass_max": result.midpass_max,
        "segmentation_threshold": result.segmentation_threshold,
        "values": list(result.values) or None,
        "features": [_feature_columns(feature, result) for feature in result.features],
    }
    return columns if result.place is None else columns | result.place._asdict()


def _feature_columns(feature: Any, result: FrameResult) -> dict[str, Any]:
    row, col = result.placement.to_source(feature.ball_row, feature.ball_col)
    radius = result.placement.length_to_source(feature.radius)
    source = {"source_row": row, "source_col": col, "source_radius": radius}
    return feature._asdict() | source


def _mean_colour(
    pixels: NDArray[Any], field_of_view: FieldOfView | None
) -> tuple[float, float, float]:
    """Return mean red, green and blue inside the field of view, 0 to 255."""
    rows, cols = _grid(pixels.shape[0], pixels.shape[1], field_of_view)
    mean = pixels[rows, cols].mean(axis=0) * (255 / np.iinfo(pixels.dtype).max)
    red, green, blue = np.broadcast_to(mean, 3) if mean.ndim == 0 else mean[:3]
    return float(red), float(green), float(blue)


@lru_cache(maxsize=16)
def _grid(
    rows: int, cols: int, field_of_view: FieldOfView | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return indices of pixels that are spread evenly over the field of view."""
    row, col, radius = (rows - 1) / 2, (cols - 1) / 2, min(rows, cols) / 2
    if field_of_view is not None and field_of_view.confidence > 0:
        row, col, radius = field_of_view.row, field_of_view.col, field_of_view.radius
    step = max(1, math.floor(2 * radius / _SAMPLES_ACROSS))
    r, c = np.mgrid[0:rows:step, 0:cols:step]
    inside = (r - row) ** 2 + (c - col) ** 2 < (0.95 * radius) ** 2
    return (r[inside], c[inside]) if inside.any() else (r.ravel(), c.ravel())


def _sharpness(pixels: NDArray[Any]) -> float:
    """Return the variance of the Laplacian of the grey image, at most 256 pixels wide."""
    image = eight_bits(pixels)
    if image.ndim == 3:  # grey first: resizing one channel costs a third
        image = cv2.cvtColor(np.ascontiguousarray(image[:, :, :3]), cv2.COLOR_RGB2GRAY)
    _, deviation = cv2.meanStdDev(cv2.Laplacian(shrink(image, width=_WORKING_WIDTH), cv2.CV_16S))
    return float(deviation[0, 0]) ** 2
