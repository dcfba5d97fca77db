"""Grey values from colour (section III, before pre-processing)."""

import numpy as np

RED_WEIGHT = 0.2989
GREEN_WEIGHT = 0.5870
BLUE_WEIGHT = 0.1140


def grey_from_rgb(rgb: np.ndarray) -> np.ndarray:
    """0.2989 R + 0.5870 G + 0.1140 B on 0..255, not rounded.

    The paper only says "grayscale"; these are the weights of the toolbox its authors used.
    """
    rgb = np.asarray(rgb, dtype=np.float64)
    return RED_WEIGHT * rgb[..., 0] + GREEN_WEIGHT * rgb[..., 1] + BLUE_WEIGHT * rgb[..., 2]
