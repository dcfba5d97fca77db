"""The calibration of a threshold, until it is part of the public API."""

from pathlib import Path
from typing import Any

from capsieve.calibration.target import Target
from capsieve.engine import calibrating

__all__ = ["calibrate"]


def calibrate(results: Path, labels: Path, out: Path | None = None, **options: Any) -> Any:
    """Choose a threshold and return the calibration.

    Parameters
    ----------
    results, labels, out
        Screened exams, their labels, and the folder for the files of the calibration.
    options
        One of `specificity`, `sensitivity` (of 1) and `frames` (per exam) is the target; a
        specificity of 0.9 by default. The rest is passed on.
    """
    kinds = ("specificity", "sensitivity", "frames")
    targets = [Target(kind, options.pop(kind)) for kind in kinds if kind in options]
    (target,) = targets or [None]
    return calibrating.calibrate(results, labels, out, target=target, rounds=100, **options)
