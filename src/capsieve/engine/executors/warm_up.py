"""What a worker does before its first task, while nobody waits for it."""

__all__ = ["warm_up"]


def warm_up() -> str:
    """Import what the work needs, and score a frame: the compiled code is then loaded.

    Returns
    -------
    str
        What became of the frame: a polyp, for that takes every step.
    """
    import av  # noqa: F401
    import cv2
    import numpy as np
    import pyarrow  # noqa: F401

    from capsieve.detectors import load_detector

    # A bright ball on ground that is neither too smooth nor too rough.
    rows, cols = np.mgrid[-128:128, -128:128]
    ball = 70 + 140 * np.exp(-(rows**2 + cols**2) / (2 * 14**2))
    grain = cv2.GaussianBlur(np.random.default_rng(0).normal(0, 40, (256, 256)), (0, 0), 1.5)
    frame = np.clip(ball + grain, 0, 255).astype(np.uint8)
    return load_detector("paper").score(np.stack([frame] * 3, axis=-1)).reason
