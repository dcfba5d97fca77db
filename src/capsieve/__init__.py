"""capsieve sieves capsule-endoscopy exams for polyps.

Research software, not a medical device. Nothing heavy is imported until a name is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capsieve import phantom
    from capsieve._version import __version__
    from capsieve.detector import Detector
    from capsieve.detectors import load_detector
    from capsieve.engine.evaluating import evaluate
    from capsieve.engine.progress import Progress
    from capsieve.engine.screening import ScreenedExam, screen
    from capsieve.errors import (
        CapsieveError,
        FileError,
        FrameError,
        LeakError,
        MissingExtraError,
        OccupiedError,
        ParameterError,
        WorkerError,
    )
    from capsieve.field_of_view import find_field_of_view
    from capsieve.frames import FieldOfView, Frame, Placement
    from capsieve.paper.detector import analyze, explain
    from capsieve.parameters import Parameters
    from capsieve.results import Explanation, Feature, FrameResult
    from capsieve.statistics.evaluation import Evaluation
    from capsieve.statistics.metric import Metric

__all__ = [
    "CapsieveError",
    "Detector",
    "Evaluation",
    "Explanation",
    "Feature",
    "FieldOfView",
    "FileError",
    "Frame",
    "FrameError",
    "FrameResult",
    "LeakError",
    "Metric",
    "MissingExtraError",
    "OccupiedError",
    "ParameterError",
    "Parameters",
    "Placement",
    "Progress",
    "ScreenedExam",
    "WorkerError",
    "__version__",
    "analyze",
    "evaluate",
    "explain",
    "find_field_of_view",
    "load_detector",
    "phantom",
    "screen",
]

_HOMES = {
    "CapsieveError": "capsieve.errors",
    "Detector": "capsieve.detector",
    "Evaluation": "capsieve.statistics.evaluation",
    "Explanation": "capsieve.results",
    "Feature": "capsieve.results",
    "FieldOfView": "capsieve.frames",
    "FileError": "capsieve.errors",
    "Frame": "capsieve.frames",
    "FrameError": "capsieve.errors",
    "FrameResult": "capsieve.results",
    "LeakError": "capsieve.errors",
    "Metric": "capsieve.statistics.metric",
    "MissingExtraError": "capsieve.errors",
    "OccupiedError": "capsieve.errors",
    "ParameterError": "capsieve.errors",
    "Parameters": "capsieve.parameters",
    "Placement": "capsieve.frames",
    "Progress": "capsieve.engine.progress",
    "ScreenedExam": "capsieve.engine.screening",
    "WorkerError": "capsieve.errors",
    "__version__": "capsieve._version",
    "analyze": "capsieve.paper.detector",
    "evaluate": "capsieve.engine.evaluating",
    "explain": "capsieve.paper.detector",
    "find_field_of_view": "capsieve.field_of_view",
    "load_detector": "capsieve.detectors",
    "screen": "capsieve.engine.screening",
}


def __getattr__(name: str) -> object:
    if name == "phantom":
        return import_module("capsieve.phantom")
    if name not in _HOMES:
        raise AttributeError(f"module 'capsieve' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
