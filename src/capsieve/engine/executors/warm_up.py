"""What a worker does before its first task: load, or compile, the kernels of an analysis."""

__all__ = ["warm_up"]


def warm_up() -> str:
    """Import the libraries of the work and score a frame, so that all kernels are ready.

    Returns
    -------
    str
        The reason of the result: "polyp", because only such a frame takes every step.
    """
    import av  # noqa: F401
    import cv2
    import numpy as np
    import pyarrow  # noqa: F401

    from capsieve.compiling import mark_compiled
    from capsieve.detectors import load_detector
    from capsieve.frames import FieldOfView

    # A bright ball on ground that is neither too smooth nor too rough.
    rows, cols = np.mgrid[-128:128, -128:128]
    ball = 70 + 140 * np.exp(-(rows**2 + cols**2) / (2 * 14**2))
    grain = cv2.GaussianBlur(np.random.default_rng(0).normal(0, 40, (256, 256)), (0, 0), 1.5)
    frame = np.stack([np.clip(ball + grain, 0, 255).astype(np.uint8)] * 3, axis=-1)
    detector = load_detector("paper")
    reason = detector.score(frame).reason
    frame.flags.writeable = False  # numba compiles code of its own for these
    detector.score(frame, FieldOfView("circle", 130.0, 120.0, 110.5))
    mark_compiled("analysis")
    return reason
