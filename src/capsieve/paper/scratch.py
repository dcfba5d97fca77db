"""Buffers that a thread keeps from frame to frame, so that the hot path allocates nothing.

Buffers named "work ..." belong to the step that is running: the next one may overwrite them. Few
planes that stay in the processor's cache are faster than many that each step has for itself. What
must outlive its step is borrowed, and nobody else gets it until it is handed back.
"""

import threading

import numpy as np
from numpy.typing import NDArray

__all__ = ["borrow", "hand_back", "scratch"]

_LOCAL = threading.local()
_KEPT = 256
_KEPT_IDLE = 8  # planes of the last size that nobody has borrowed


def scratch(name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return this thread's float32 buffer of that name and shape; its content is arbitrary."""
    try:
        buffers = _LOCAL.buffers
    except AttributeError:
        buffers = _LOCAL.buffers = {}
    key = (name, shape)
    buffer = buffers.get(key)
    if buffer is None:
        if len(buffers) >= _KEPT:  # many frame sizes in one process: start afresh
            buffers.clear()
        # Zeros, not empty: lanes beyond a row's end are computed too, and must not be denormal.
        buffer = buffers[key] = np.zeros(shape, np.float32)
    return buffer


def borrow(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a float32 plane that is the caller's alone; its content is arbitrary."""
    idle = _idle()
    while idle:
        plane = idle.pop()
        if plane.shape == shape:
            return plane
    return np.zeros(shape, np.float32)


def hand_back(plane: NDArray[np.float32]) -> None:
    """Let this thread's next borrower have a plane that nobody looks at any more."""
    idle = _idle()
    if len(idle) < _KEPT_IDLE:
        idle.append(plane)


def _idle() -> list[NDArray[np.float32]]:
    try:
        return _LOCAL.idle
    except AttributeError:
        idle = _LOCAL.idle = []
        return idle
