"""Synthetic exams with known truth, for tests, docs, demonstrations and everybody without data.

Nothing heavy is imported until a name is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capsieve.phantom.exam import PhantomFrame, render_frame
    from capsieve.phantom.plan import ExamPlan, plan_exam
    from capsieve.phantom.still import polyp_frame
    from capsieve.phantom.study import StudyPlan, plan_study
    from capsieve.phantom.writing import write_study

__all__ = [
    "ExamPlan",
    "PhantomFrame",
    "StudyPlan",
    "plan_exam",
    "plan_study",
    "polyp_frame",
    "render_frame",
    "write_study",
]

_HOMES = {
    "ExamPlan": "plan",
    "PhantomFrame": "exam",
    "StudyPlan": "study",
    "plan_exam": "plan",
    "plan_study": "study",
    "polyp_frame": "still",
    "render_frame": "exam",
    "write_study": "writing",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'capsieve.phantom' has no attribute {name!r}")
    value = getattr(import_module(f"capsieve.phantom.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
