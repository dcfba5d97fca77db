"""Buffers that a thread keeps from frame to frame, so that the hot path allocates nothing.

Buffers named "work ..." belong to the step that is running: the next one may overwrite them. Few
planes that stay in the processor's cache are faster than many that each step has for itself.
"""

import threading

import numpy as np
from numpy.typing import NDArray

__all__ = ["scratch"]

_LOCAL = threading.local()
_KEPT = 256


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
