"""Read frames once: a small stack for the search, sums in full size for the last pixel."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from capsieve.errors import FrameError
from capsieve.frames import Frame, checked_array

__all__ = ["Exam", "corners", "greatest", "take_in"]

WORKING_SIZE = 256
"""Longest side of the images on which shapes are searched, in pixels."""

MOST_FRAMES = 40
"""Frames kept for the search. Of a longer exam every second, fourth, ... frame is kept."""

SMALLEST_SIDE = 16

LARGEST_VALUE = 1e15
"""Beyond it the sums of squares would lose what they are needed for."""


@dataclass(frozen=True, slots=True)
class Exam:
    """What is remembered of the frames.

    All values are scaled such that a well exposed exam reaches about 255.

    Parameters
    ----------
    stack
        Reduced frames, float32, (frames, channels, rows, columns).
    mean, spread
        Over all frames in full size: the mean, (rows, columns, channels), and the standard
        deviation, (rows, columns), greatest over the channels.
    factor
        Full size over reduced size, along rows and along columns.
    views
        Number of frames of the stack that differ from the one before.
    """

    stack: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    factor: tuple[float, float]
    views: int

    @property
    def height(self) -> int:
        """Rows of a frame in full size."""
        return self.mean.shape[0]

    @property
    def width(self) -> int:
        """Columns of a frame in full size."""
        return self.mean.shape[1]


def as_pixels(frame: Any, number: int) -> np.ndarray:
    """One frame as (rows, columns, channels) with 1 or 3 channels, or a FrameError."""
    try:
        pixels = checked_array(getattr(frame, "pixels", frame))
    except FrameError as error:
        raise FrameError(f"frame {number}: {error}") from error
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if min(pixels.shape[:2]) < SMALLEST_SIDE:
        raise FrameError(
            f"frame {number} has {pixels.shape[0]} x {pixels.shape[1]} pixels: "
            f"at least {SMALLEST_SIDE} x {SMALLEST_SIDE} are needed"
        )
    if pixels.dtype == np.uint8:
        return np.ascontiguousarray(pixels)
    if not (np.abs(pixels) <= LARGEST_VALUE).all():  # NaN is not less than anything
        raise FrameError(
            f"frame {number} holds values that are not finite (NaN or infinite) or absurdly large"
        )
    return np.ascontiguousarray(pixels, dtype=np.float32)


def take_in(frames: Iterable[Any]) -> Exam:
    """Read every frame once.

    Parameters
    ----------
    frames
        Arrays, or objects whose ``pixels`` are one. Iterators are read to their end.

    Returns
    -------
    Exam

    Raises
    ------
    FrameError
        No frame, a frame that is not an image, or frames of different sizes.
    """
    single = isinstance(frames, np.ndarray) and (
        frames.ndim == 2 or (frames.ndim == 3 and frames.shape[2] in (1, 3, 4))
    )
    if single or isinstance(frames, Frame):
        raise FrameError("one frame was given where several are expected: pass [frame]")
    if not isinstance(frames, Iterable):
        raise FrameError(f"several frames are expected, not {type(frames).__name__}")
    kept: list[np.ndarray] = []
    stride, count = 1, 0
    shape: tuple[int, ...] = (0, 0, 0)
    total = square = np.zeros(0)
    small = (0, 0)
    eight_bit = True
    for number, frame in enumerate(frames):
        pixels = as_pixels(frame, number)
        if number == 0:
            shape = pixels.shape
            total, square = np.zeros(shape), np.zeros(shape)
            shrink = min(1.0, WORKING_SIZE / max(shape[:2]))
            small = (max(1, round(shape[1] * shrink)), max(1, round(shape[0] * shrink)))
        elif pixels.shape != shape:
            raise FrameError(
                f"frames of different sizes: frame 0 is {_size(shape)}, "
                f"frame {number} is {_size(pixels.shape)}"
            )
        eight_bit = eight_bit and pixels.dtype == np.uint8
        cv2.accumulate(pixels, total)
        cv2.accumulateSquare(pixels, square)
        if number % stride == 0:
            reduced = cv2.resize(pixels, small, interpolation=cv2.INTER_AREA)
            planes = reduced.reshape(small[1], small[0], shape[2]).transpose(2, 0, 1)
            kept.append(np.ascontiguousarray(planes, dtype=np.float32))
            if len(kept) > MOST_FRAMES:
                kept, stride = kept[::2], stride * 2
        count = number + 1
    if count == 0:
        raise FrameError("no frames: the field of view needs at least one")
    stack = _without_odd_ones(np.stack(kept))
    low, gain = _scale(stack, eight_bit=eight_bit)
    if gain > 1 and eight_bit:
        # The grain of a dark exam would be amplified with it.
        for plane in stack.reshape(-1, *stack.shape[2:]):
            plane[:] = cv2.GaussianBlur(plane, (0, 0), 1.0)
    total /= count
    square /= count
    square -= total**2
    spread = np.sqrt(np.maximum(greatest(np.moveaxis(square, -1, 0)), 0))
    stack = (stack - np.float32(low)) * np.float32(gain)
    return Exam(
        stack=stack,
        mean=((total - low) * gain).astype(np.float32),
        spread=(spread * gain).astype(np.float32),
        factor=(shape[0] / small[1], shape[1] / small[0]),
        views=_number_of_views(stack),
    )


def greatest(planes: np.ndarray) -> np.ndarray:
    """The greatest value over the first axis; much faster than a maximum over a short last one."""
    return np.maximum.reduce(list(planes))


def corners(planes: np.ndarray, share: float) -> list[np.ndarray]:
    """The four corner squares of (..., rows, columns), `share` of the shorter side wide."""
    side = max(3, round(share * min(planes.shape[-2:])))
    top, bottom = slice(None, side), slice(-side, None)
    return [planes[..., rows, cols] for rows in (top, bottom) for cols in (top, bottom)]


def _number_of_views(stack: np.ndarray) -> int:
    """Frames that differ from the one before: a capsule at rest shows the same view again."""
    # Coarse blocks: the grain of a dark or noisy exam is not a new view.
    rows, cols = (n // 16 * 16 for n in stack.shape[-2:])
    blocks = stack[:, :, :rows, :cols].reshape(*stack.shape[:2], 16, rows // 16, 16, cols // 16)
    step = np.abs(np.diff(blocks.mean(axis=(3, 5)), axis=0)).mean(axis=(1, 2, 3))
    return 1 + int((step > 1.5).sum())


def _without_odd_ones(stack: np.ndarray) -> np.ndarray:
    """Leave out frames whose corners are all unlike those of the others (a title page)."""
    if len(stack) < 3:
        return stack
    colours = np.stack([np.median(part, axis=(-2, -1)) for part in corners(stack, 0.06)])
    odd = np.abs(colours - np.median(colours, axis=1, keepdims=True)).max(axis=-1) > 40.0
    regular = odd.sum(axis=0) < 3
    return stack[regular] if regular.sum() * 2 > len(stack) else stack


def _scale(stack: np.ndarray, *, eight_bit: bool) -> tuple[float, float]:
    """Offset and gain to a range of about 0 to 255, whatever the type of the pixels."""
    sample = stack[:, :, ::2, ::2]
    low = min(0.0, float(sample.min()))
    high = float(np.percentile(sample, 99.5)) - low
    if high <= 0 or (eight_bit and high >= 80):
        return low, 1.0
    # More than this would make a black exam's noise look like an exam.
    return low, min(200.0 / high, 6.0) if eight_bit else 200.0 / high


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(str(n) for n in shape)
