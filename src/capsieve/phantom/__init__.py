"""Synthetic exams whose truth is known, for tests, documentation and demonstrations.

Modules in reading order: noise, colon, polyps, motion, camera, textures, light and spoilers are the
parts; scene puts them together at one time; plan places the frames of exams and studies; render
makes one frame; write makes a study on disk.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from capsieve.phantom.plan import ExamPlan, StudyPlan, plan_exam, plan_study
    from capsieve.phantom.render import PhantomFrame, render_frame
    from capsieve.phantom.write import write_study

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

__getattr__, _, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "plan": ["ExamPlan", "StudyPlan", "plan_exam", "plan_study"],
        "render": ["PhantomFrame", "render_frame"],
        "write": ["write_study"],
    },
)


def __dir__() -> list[str]:
    return list(__all__)


def polyp_frame() -> "NDArray[np.uint8]":
    """Return a synthetic frame with a polyp: 256 x 256 x 3, RGB."""
    from importlib.resources import files

    import cv2
    import numpy as np

    stored = (files(__name__) / "polyp_frame.png").read_bytes()
    image = cv2.imdecode(np.frombuffer(stored, np.uint8), cv2.IMREAD_COLOR_RGB)
    assert image is not None
    return np.asarray(image, np.uint8)
