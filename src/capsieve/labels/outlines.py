"""Where polyps are on frames: boxes, polygons and masks, with a hit test.

Positions are in pixels, rows first; whole numbers are centres of pixels. COCO and text boxes count
from the outer edge of the first pixel, so they are shifted by half a pixel.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from capsieve.errors import FileError
from capsieve.frame_table import Floats, Mask
from capsieve.labels.columns import compute
from capsieve.labels.keys import KEY_PROBLEMS, FrameKeys, find_frames
from capsieve.labels.label_set import LabelProblem, Problems

_PNG = b"\x89PNG\r\n\x1a\n"
_STRAY = 1.0  # pixels by which sizes may differ, and outlines may leave the frame
EDGE = 0.5
"""Distance from the centre of a pixel to its edge."""

Size = tuple[int, int]


class _Misfit(Exception):  # noqa: N818 - it is counted here and never leaves this module
    """An outline that cannot be used; the message has no final stop."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, edges included; in shares of the image if it is relative."""

    row0: float
    col0: float
    row1: float
    col1: float
    relative: bool = False

    def contains(self, row: Floats, col: Floats) -> Mask:
        """Return which points are inside."""
        return (self.row0 <= row) & (row <= self.row1) & (self.col0 <= col) & (col <= self.col1)


@dataclass(frozen=True, slots=True)
class Polygon:
    """Closed lines of corners (row, column); a point is inside if any of them encloses it."""

    rings: tuple[tuple[tuple[float, float], ...], ...]

    def contains(self, row: Floats, col: Floats) -> Mask:
        """Return which points are inside."""
        inside = np.zeros(row.shape, np.bool_)
        for ring in self.rings:
            odd = np.zeros(row.shape, np.bool_)  # crossings of a ray along the row
            for (row0, col0), (row1, col1) in zip(ring, (*ring[1:], ring[0]), strict=True):
                if row0 != row1:
                    crosses = (row0 > row) != (row1 > row)
                    odd ^= crosses & (col < col0 + (row - row0) * (col1 - col0) / (row1 - row0))
            inside |= odd
        return inside & ~np.isnan(col) & ~np.isnan(row)


class _Pixels:
    """The pixels of a mask; only the part with the polyp, because all of a study are in memory."""

    def __init__(self, mask: Mask) -> None:
        rows, cols = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
        self.top, self.left = int(rows[0]), int(cols[0])
        self.part = mask[self.top : int(rows[-1]) + 1, self.left : int(cols[-1]) + 1].copy()

    def contains(self, row: Floats, col: Floats) -> Mask:
        down, right = np.floor(row + EDGE) - self.top, np.floor(col + EDGE) - self.left
        rows, cols = self.part.shape
        near = (down >= 0) & (down < rows) & (right >= 0) & (right < cols)
        inside = np.zeros(row.shape, np.bool_)
        inside[near] = self.part[down[near].astype(int), right[near].astype(int)]
        return inside


@dataclass(frozen=True, slots=True)
class MaskFile:
    """A PNG file; `value` is the grey level of one polyp, None takes every level above 0."""

    path: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class RunLength:
    """A run-length mask of COCO: lengths of runs of 0 and 1 in turn, column by column."""

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """One polyp on one frame, as the source has it; exam, head, frame and file as in labels."""

    file: str | None  # without the ending of an image it fits any image of this stem
    shape: Box | Polygon | MaskFile | RunLength
    exam: str | None = None
    head: int | None = None
    frame: int | None = None
    size: Size | None = None  # rows and columns of the image that it was drawn on
    polyp: str | None = None
    where: str = ""  # for messages


@dataclass(frozen=True, slots=True, eq=False)
class FrameOutline:
    """One polyp on one frame, in pixels of the frame."""

    row: int  # of the frame in the table of frames
    polyp: str | None  # the name that the source gives it
    shape: Box | Polygon | _Pixels  # in its own pixels
    scale: tuple[float, float]  # pixels of the frame per pixel of the outline

    def hit(self, row: Floats, col: Floats) -> Mask:
        """Return which points are inside; NaN never is."""
        row = (np.asarray(row, np.float64) + EDGE) / self.scale[0] - EDGE
        col = (np.asarray(col, np.float64) + EDGE) / self.scale[1] - EDGE
        return self.shape.contains(row, col)


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """All outlines of a study, and what is not clear."""

    outlines: tuple[Outline, ...]
    problems: tuple[LabelProblem, ...]
    outline_format: str  # "COCO", "text boxes", "masks", ...
    path: str
    unique_names: bool = False  # whether names of files identify frames in all folders

    def find(
        self, frames: pa.Table, *, polyp_frames: Mask
    ) -> tuple[list[FrameOutline], tuple[LabelProblem, ...]]:
        """Return the outlines of polyp frames, sorted by frame, and what cannot be used.

        Frames are found by the rule by which labels find theirs, see
        :func:`~capsieve.labels.match`.

        Parameters
        ----------
        frames
            As for :func:`~capsieve.labels.match`, with the columns rows and cols (the size of the
            images; null or 0 if unknown). Without these columns, the images have the size of those
            that the outlines were drawn on.
        polyp_frames
            Frames that are labelled polyp. Outlines of other frames are counted and not opened. If
            one outline of a frame cannot be used, all outlines of this frame are left out.
        """
        problems = Problems()
        matched = self._places(frames, polyp_frames, problems)
        sides = ("rows", "cols") if "rows" in frames.column_names else ()
        sizes = [compute.fill_null(frames[name], 0).to_numpy() for name in sides]
        fitted: list[tuple[FrameOutline, Outline]] = []
        spoiled: set[int] = set()
        seen: set[tuple[int, Any, str | None]] = set()
        for outline, row in sorted(matched, key=lambda pair: pair[1]):
            if not polyp_frames[row]:
                problems.add("the frame of the outline is not labelled polyp", outline.where)
                continue
            if (row, outline.shape, outline.polyp) in seen:
                problems.add("the outline is there twice", outline.where, used=True)
                continue
            seen.add((row, outline.shape, outline.polyp))
            try:
                size = (int(sizes[0][row]), int(sizes[1][row])) if sizes else None
                fitted.append((_fitted(outline, row, size), outline))
            except _Misfit as error:
                problems.add(str(error), outline.where)
                spoiled.add(row)
        for of_frame, outline in fitted:
            if of_frame.row in spoiled:
                problems.add("another outline of the same frame cannot be used", outline.where)
        return [outline for outline, _ in fitted if outline.row not in spoiled], tuple(problems)

    def _places(
        self, frames: pa.Table, polyp_frames: Mask, problems: Problems
    ) -> list[tuple[Outline, int]]:
        """Return outlines with the rows of their frames."""
        from capsieve.sources.image_source import is_image_name  # here: it imports decoders

        rows = np.arange(len(frames))
        if self.unique_names:  # copies of a frame in other folders have no label
            rows = np.flatnonzero(polyp_frames)
            frames = frames.take(pa.array(rows))
        stems = _stems(frames["path"])
        stem_frames = frames.set_column(frames.column_names.index("path"), "path", stems)
        matched: list[tuple[Outline, int]] = []
        for known, by_stem in ((frames, False), (stem_frames, True)):
            chosen = [
                each for each in self.outlines if by_stem != is_image_name(each.file or "x.png")
            ]
            if not chosen:
                continue
            kinds = {
                "exam": pa.string(),
                "head": pa.int64(),
                "frame": pa.int64(),
                "file": pa.string(),
            }
            keys = pa.table(
                {name: pa.array([getattr(o, name) for o in chosen], t) for name, t in kinds.items()}
            )
            if by_stem:
                keys = keys.set_column(3, "file", _stems(keys["file"]))
            matches = find_frames(
                FrameKeys(known), keys, read_from=self.path, unique_names=self.unique_names
            )
            for outline, row, why in zip(chosen, matches.row, matches.why, strict=True):
                if row >= 0:
                    matched.append((outline, int(rows[row])))
                else:
                    problems.add(KEY_PROBLEMS[why], outline.where)
        return matched


def _stems(path: Any) -> Any:
    """Return paths without the endings of images and without folders named images."""
    path = compute.replace_substring_regex(path, r"\.[^./]*$", "")
    return compute.replace_substring_regex(path, r"(^|/)(?:images/)+", r"\1")


def _fitted(outline: Outline, row: int, frame: Size | None) -> FrameOutline:
    """Return an outline in pixels of its frame.

    Sizes that differ by at most a pixel are equal. An outline that was drawn on an image of another
    size but the same proportions is scaled.
    """
    shape, drawn, frame = outline.shape, outline.size, frame or outline.size
    if isinstance(shape, MaskFile | RunLength):
        mask = _read_mask(shape) if isinstance(shape, MaskFile) else _decoded(shape, drawn)
        if not mask.any():
            raise _Misfit("the mask is empty, but the frame is labelled polyp")
        if mask.all():
            raise _Misfit("the mask covers the whole image")
        drawn = (mask.shape[0], mask.shape[1])
        return FrameOutline(row, outline.polyp, _Pixels(mask), _scale(drawn, frame or drawn))
    if isinstance(shape, Polygon):
        corners = np.array([corner for ring in shape.rings for corner in ring])
    else:
        corners = np.array([(shape.row0, shape.col0), (shape.row1, shape.col1)])
        if shape.relative:
            if frame is None or not all(frame):
                raise _Misfit("the size of the frame is not known")
            corners, drawn = corners * frame - EDGE, frame
            (top, left), (bottom, right) = corners.tolist()
            shape = Box(top, left, bottom, right)
    scale = (1.0, 1.0) if drawn is None else _scale(drawn, frame or drawn)
    if frame is not None and all(frame):
        low, high = -EDGE - _STRAY, np.divide(frame, scale) - EDGE + _STRAY
        if (corners < low).any() or (corners > high).any():
            raise _Misfit("the outline reaches beyond the frame by more than a pixel")
    return FrameOutline(row, outline.polyp, shape, scale)


def _scale(drawn: Size, frame: Size) -> tuple[float, float]:
    rows, cols = frame
    if not (rows and cols):
        raise _Misfit("the size of the frame is not known")
    if abs(drawn[0] - rows) <= _STRAY and abs(drawn[1] - cols) <= _STRAY:
        return 1.0, 1.0
    factor = cols / drawn[1]
    if abs(rows - drawn[0] * factor) > max(_STRAY, factor):  # either side may have been rounded
        raise _Misfit("the outline was drawn on an image of other proportions than the frame")
    return rows / drawn[0], factor


def _decoded(mask: RunLength, size: Size | None) -> Mask:
    assert size is not None
    values = np.arange(len(mask.counts)) % 2 == 1
    return np.repeat(values, mask.counts).reshape(size[1], size[0]).T


def _read_mask(mask: MaskFile) -> Mask:
    from capsieve.sources.image_file import decode_image, image_damage, read_file

    try:
        content = read_file(mask.path)
    except FileError:
        raise _Misfit("the mask is missing or cannot be read") from None
    if not content.startswith(_PNG):
        raise _Misfit("the mask is not a PNG file")
    try:
        image = decode_image(content, name=mask.path)
    except FileError:
        raise _Misfit("the mask is damaged or too large") from None
    if image_damage(content):
        raise _Misfit("the mask is damaged")
    if mask.value is None:
        return np.any(image[..., :3], axis=2) if image.ndim == 3 else image > 0
    if image.ndim == 3:
        raise _Misfit("the mask is not grey, so its values do not number polyps")
    return image == mask.value
