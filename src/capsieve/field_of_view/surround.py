"""The surround of the field of view: its colours, and the edge of all that differs from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FrameError
from capsieve.frames import checked_array

_SEARCH_SIZE = 256  # longest side of the reduced frames, in pixels
_LARGEST_SIDE = 2048  # of the statistics, which take 120 bytes per pixel
_MOST_FRAMES = 40  # reduced frames in memory; of a long exam every second, fourth, ... is kept
_SMALLEST_SIDE = 16
_LARGEST_VALUE = 1e15  # above it, sums of squares lose the digits that the spread needs

_TILE = 0.05  # side of a tile as a fraction of the shorter side of the image
_TILE_WEIGHTS = (4.0, 1.0, 0.5)  # of a tile in the corner, next to it, and one further
_FLAT = 6.0  # a tile has one colour if half of its pixels differ by at most this many grey levels
_LEAST_SHARE = 0.2  # of the flat tiles that a colour of the surround has; a logo has fewer

_CAP = 64.0  # largest distance that counts: limits the weight of one odd frame (a title page)
_THRESHOLD = 0.15  # between the noise of the surround (0) and the level of the image (1)
_MOST_POINTS = 300  # of an edge


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Frames of one exam, reduced for the search, and their statistics in full size.

    Grey values are scaled: a well exposed exam reaches about 255.
    """

    size: tuple[int, int]  # rows and columns of a frame
    stack: NDArray[np.float32]  # reduced frames, float32, (frames, channels, rows, columns)
    # Mean of all frames in full size, at most 2048 pixels wide, (channels, rows, columns).
    mean: NDArray[np.float32]
    # Standard deviation in that size, (rows, columns), the largest of the channels.
    spread: NDArray[np.float32]
    # Number of reduced frames that differ from the frame before. A capsule at rest has 1.
    views: int

    @property
    def small_size(self) -> tuple[int, int]:
        """Rows and columns of a reduced frame."""
        return self.stack.shape[2], self.stack.shape[3]


@dataclass(frozen=True, slots=True, eq=False)
class Surround:
    """What surrounds the field of view, and how much each pixel differs from it."""

    colours: NDArray[np.float32]  # colours of the surround, (n, channels)
    distance: NDArray[np.float32]  # mean distance of a pixel to the nearest colour, in reduced size
    noise: float  # median distance inside the surround
    level: float  # typical distance inside the field of view

    def distance_in_full_size(self, sample: Sample) -> NDArray[np.float32]:
        """Root mean square distance of each pixel to the surround."""
        return np.hypot(_distance(sample.mean, self.colours), sample.spread)


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """Edge of the region that differs from the surround."""

    # Points on the edge and outward unit normals as (row, column), (n, 2).
    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    # True for every pixel that differs, including pixels outside the region.
    mask: NDArray[np.bool_]


def read_frames(frames: Iterable[Any]) -> Sample:
    """Read every frame once.

    Parameters
    ----------
    frames
        Arrays. An iterator is read to its end.

    Raises
    ------
    FrameError
        No frame, a frame that is not an image, or frames of different sizes.
    """
    if isinstance(frames, np.ndarray) and (
        frames.ndim == 2 or (frames.ndim == 3 and frames.shape[2] in (1, 3, 4))
    ):
        raise FrameError("a single frame was given instead of several: pass [frame]")
    if not isinstance(frames, Iterable):
        raise FrameError(f"a sequence of frames is needed, not {type(frames).__name__}")
    kept: list[NDArray[np.float32]] = []
    shape = None
    total = square = np.zeros(0)
    count, stride, eight_bit = 0, 1, True
    for number, frame in enumerate(frames):
        pixels = _pixels(frame, number)
        shape = shape or pixels.shape
        if pixels.shape != shape:
            raise FrameError(
                f"frames have different sizes: frame 0 is {_size(shape)}, frame {number} is "
                f"{_size(pixels.shape)}; pass frames of one size"
            )
        pixels = _resized(pixels, _LARGEST_SIDE)
        if number == 0:
            total, square = np.zeros(pixels.shape), np.zeros(pixels.shape)
        cv2.accumulate(pixels, total)
        cv2.accumulateSquare(pixels, square)
        eight_bit = eight_bit and pixels.dtype == np.uint8
        count = number + 1
        if number % stride == 0:
            planes = _resized(pixels, _SEARCH_SIZE).transpose(2, 0, 1)
            kept.append(np.ascontiguousarray(planes, dtype=np.float32))
            if len(kept) > _MOST_FRAMES:
                kept, stride = kept[::2], stride * 2
    if shape is None:
        raise FrameError("no frames: pass at least one")
    stack = np.stack(kept)
    low, gain = _scale(stack, eight_bit=eight_bit)
    stack = (stack - np.float32(low)) * np.float32(gain)
    mean, square = np.divide(total, count, out=total), np.divide(square, count, out=square)
    square -= mean**2
    return Sample(
        size=(shape[0], shape[1]),
        stack=stack,
        mean=np.ascontiguousarray(np.moveaxis((mean - low) * gain, -1, 0), dtype=np.float32),
        spread=(gain * np.sqrt(np.maximum(square.max(axis=2), 0))).astype(np.float32),
        views=_views(stack),
    )


def find_surround(sample: Sample) -> Surround | None:
    """Find the colours that the corners of the image have in all frames.

    Tiles near the corners that have one colour in all frames vote for it. A colour with a fifth
    of the votes belongs to the surround; the rest are logos, letters or smooth mucosa.

    Returns
    -------
    Surround or None
        None if no corner of the image has a constant colour.
    """
    stack = sample.stack
    groups: list[list[tuple[NDArray[np.float32], float, tuple[slice, slice]]]] = []
    for rows, cols, weight in _corner_tiles(*sample.small_size):
        pixels = np.moveaxis(stack[:, :, rows, cols], 1, -1).reshape(-1, stack.shape[1])
        colour = np.median(pixels, axis=0)
        # Medians ignore letters and single odd frames.
        if np.median(np.abs(pixels - colour).max(axis=1)) > _FLAT:
            continue
        alike = [group for group in groups if np.abs(group[0][0] - colour).max() < 2 * _FLAT]
        if not alike:
            groups.append([])
        (alike or groups[-1:])[0].append((colour, weight, (rows, cols)))
    if not groups:
        return None
    votes = [sum(weight for _, weight, _ in group) for group in groups]
    least = min(_LEAST_SHARE * sum(votes), max(votes))
    groups = [group for group, vote in zip(groups, votes, strict=True) if vote >= least]
    surround = np.stack([np.median([colour for colour, _, _ in g], axis=0) for g in groups])
    distance = np.minimum(_distance(stack, surround), _CAP).mean(axis=0)
    noise = float(np.median([np.median(distance[tile]) for group in groups for *_, tile in group]))
    top = float(np.percentile(distance[::2, ::2], 99.5))
    # A small field of view covers no fixed part of the image: use those above a quarter of the top.
    level = float(np.median(distance[distance >= noise + 0.25 * (top - noise)]))
    return Surround(surround, distance, noise, level)


def find_edge(surround: Surround) -> Edge | None:
    """Return the edge of the large region that differs from the surround, if there is one."""
    if surround.level <= max(6.0, 4.0 * surround.noise):
        return None
    step = max(3.0, _THRESHOLD * (surround.level - surround.noise))
    mask = surround.distance > surround.noise + step
    region = _large_pieces(mask)
    return None if region is None else Edge(*_contour(region), mask)


def _pixels(frame: Any, number: int) -> NDArray[Any]:
    """One frame as (rows, columns, channels), uint8 or float32, with 1 or 3 channels."""
    try:
        pixels = checked_array(frame)
    except FrameError as error:
        raise FrameError(f"frame {number}: {error}") from error
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if min(pixels.shape[:2]) < _SMALLEST_SIDE:
        raise FrameError(
            f"frame {number} is too small ({_size(pixels.shape)}): at least {_SMALLEST_SIDE} rows "
            "and columns are needed"
        )
    if pixels.dtype == np.uint8:
        return np.ascontiguousarray(pixels)
    if not (np.abs(pixels) <= _LARGEST_VALUE).all():  # NaN fails every comparison
        raise FrameError(f"frame {number} has values that are not finite or exceed 1e15")
    return np.ascontiguousarray(pixels, dtype=np.float32)


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _resized(pixels: NDArray[Any], side: int) -> NDArray[Any]:
    """The frame with at most `side` rows and columns."""
    rows, cols, channels = pixels.shape
    if max(rows, cols) <= side:
        return pixels
    shrink = side / max(rows, cols)
    size = max(_SMALLEST_SIDE, round(cols * shrink)), max(_SMALLEST_SIDE, round(rows * shrink))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return small.reshape(size[1], size[0], channels)


def _scale(stack: NDArray[np.float32], *, eight_bit: bool) -> tuple[float, float]:
    """Offset and gain to a range of about 0 to 255, for any type of pixels."""
    sample = stack[:, :, ::2, ::2]
    low = min(0.0, float(sample.min()))
    high = float(np.percentile(sample, 99.5)) - low
    if high <= 0 or (eight_bit and high >= 80):
        return low, 1.0
    # A larger gain would make an exam of the noise of black frames.
    return low, min(200.0 / high, 6.0) if eight_bit else 200.0 / high


def _views(stack: NDArray[np.float32]) -> int:
    # Means of large blocks: noise does not make a new view.
    rows, cols = (n // 16 * 16 for n in stack.shape[2:])
    blocks = stack[:, :, :rows, :cols].reshape(*stack.shape[:2], 16, rows // 16, 16, cols // 16)
    step = np.abs(np.diff(blocks.mean(axis=(3, 5)), axis=0)).mean(axis=(1, 2, 3))
    return 1 + int((step > 1.5).sum())


def _corner_tiles(rows: int, cols: int) -> list[tuple[slice, slice, float]]:
    """Three by three tiles in each corner, with their weights."""
    side = max(4, round(_TILE * min(rows, cols)))
    near = [(k, slice(k * side, (k + 1) * side)) for k in range(len(_TILE_WEIGHTS))]
    down, across = (
        near + [(k, slice(n - (k + 1) * side, n - k * side)) for k in range(len(_TILE_WEIGHTS))]
        for n in (rows, cols)
    )
    return [(a, b, _TILE_WEIGHTS[max(i, j)]) for i, a in down for j, b in across]


def _distance(planes: NDArray[Any], colours: NDArray[np.float32]) -> NDArray[np.float32]:
    """Distance to the nearest colour, the largest of the channels; channels are axis -3."""
    gaps = [np.abs(planes - colour[:, None, None]).max(axis=-3) for colour in colours]
    return np.minimum.reduce(gaps)


def _large_pieces(mask: NDArray[np.bool_]) -> NDArray[Any] | None:
    """Remove strokes of letters, then keep the largest piece and those of a fifth of its size.

    A dark fold may cut the field of view into several pieces.
    """
    reach = max(2, round(0.012 * min(mask.shape)))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    # Outside the image counts as surround, so a region that is cut off ends at the border.
    margin = 2 * reach + 1
    padded = np.pad(mask, margin).astype(np.uint8)
    core = cv2.erode(padded, disc)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(core, connectivity=4)
    if count < 2:
        return None
    area = stats[:, cv2.CC_STAT_AREA].copy()
    area[0] = 0  # the background
    kept = (area >= 0.2 * area.max())[labels].astype(np.uint8)
    pieces = cv2.dilate(kept, disc)
    return pieces[margin:-margin, margin:-margin] if pieces.sum() >= 0.01 * mask.size else None


def _contour(region: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points half a pixel outside the last pixels of a region, and outward normals."""
    contours, _ = cv2.findContours(np.pad(region, 2), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    points, normals = [], []
    for contour in contours:
        path = contour[:, 0, ::-1].astype(float) - 2.0
        # Pixel steps are rough: a smoothed path gives the directions.
        smooth = sum(np.roll(path, shift, axis=0) for shift in range(-3, 4))
        tangent = np.roll(smooth, -2, axis=0) - np.roll(smooth, 2, axis=0)
        normal = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
        if ((path - path.mean(axis=0)) * normal).sum() < 0:
            normal = -normal
        points.append(path + 0.5 * normal)
        normals.append(normal)
    every, directions = np.concatenate(points), np.concatenate(normals)
    pick = np.linspace(0, len(every), min(len(every), _MOST_POINTS), endpoint=False).astype(int)
    return every[pick], directions[pick]
