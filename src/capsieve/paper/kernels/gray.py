"""Grey from RGB."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["gray"]


@compiled
def gray(pixels, out):
    """Write 0.2989 R + 0.5870 G + 0.1140 B; whole numbers and floats alike."""
    rows, cols = out.shape
    flat = pixels.reshape(rows, 3 * cols)
    for row in range(rows):
        colours, values = flat[row], out[row]
        for col in range(cols):
            values[col] = (
                np.float32(0.2989) * np.float32(colours[3 * col])
                + np.float32(0.5870) * np.float32(colours[3 * col + 1])
                + np.float32(0.1140) * np.float32(colours[3 * col + 2])
            )
