"""A stored frame, for examples that should not render one."""

from importlib.resources import files

import cv2
import numpy as np
from numpy.typing import NDArray


def polyp_frame() -> NDArray[np.uint8]:
    """Return a synthetic frame with a polyp: 256 x 256 x 3, RGB."""
    stored = (files(__package__ or "") / "polyp_frame.png").read_bytes()
    return np.asarray(cv2.imdecode(np.frombuffer(stored, np.uint8), cv2.IMREAD_COLOR_RGB), np.uint8)
