"""A simple detector that is not the paper's: the score is the brightness."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from capsieve import FieldOfView
from capsieve.detector import ReferenceRange
from capsieve.frames import FrameLike, Placement
from capsieve.results import Evidence, FrameResult, Spot

__all__ = ["NAMES", "AbortingDetector", "FakeDetector"]

NAMES = ("brightness", "contrast")


@dataclass(frozen=True)
class FakeDetector:
    """Score the mean brightness and locate the brightest pixel."""

    score_threshold: float = 0.4

    name = "learned"
    value_names = NAMES

    @property
    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "score": "probability"}

    @property
    def reference(self) -> ReferenceRange:
        return ReferenceRange("frames of anything", {"brightness": (0.0, 255.0)})

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        gray = np.asarray(frame, np.float64).mean(axis=2)
        score = float(gray.mean() / 255)
        row, col = np.unravel_index(int(gray.argmax()), gray.shape)
        rows, cols = gray.shape
        return FrameResult(
            label="polyp" if score >= self.score_threshold else "normal",
            reason="polyp" if score >= self.score_threshold else "score-low",
            score=score,
            texture_max=float("nan"),
            radius_max=0,
            features=(),
            placement=Placement(rows, cols, 1.0, 1.0, 0.0, 0.0),
            values=(float(gray.mean()), float(gray.std())),
            found=Spot(float(row), float(col), rows / 6),
        )

    def evidence(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> Evidence:
        return Evidence(map=np.asarray(frame, np.float32).mean(axis=2))


class AbortingDetector(FakeDetector):
    """A detector that ends its process, as a fault in a C library does."""

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        os.write(2, b"first line\nassertion failed\n")
        os.abort()
