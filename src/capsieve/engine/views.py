"""The field of view of each head of an exam."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from numpy.typing import NDArray

from capsieve.engine.segment_work import View
from capsieve.errors import FrameError
from capsieve.field_of_view import find_field_of_view
from capsieve.frames import FieldOfView
from capsieve.sources.source import Source, Survey
from capsieve.store.record import ViewRecord

__all__ = ["SAMPLES", "FieldChoice", "find_views", "view_records"]

SAMPLES = 30
"""Frames of a head on which its field of view is searched."""

FieldChoice = FieldOfView | Literal["auto", "whole"]
"""Search it on the exam's frames, take a stated one, or take frames whole."""


def find_views(source: Source, survey: Survey, choice: FieldChoice) -> tuple[View, ...]:
    """Return the fields of view of a head, one for each size of frame; the usual size first."""
    frames = source.samples(survey, SAMPLES)
    by_size: dict[tuple[int, int], list[NDArray[Any]]] = defaultdict(list)
    for frame in frames:
        by_size[frame.shape[0], frame.shape[1]].append(frame)
    usual_first = sorted(by_size.items(), key=lambda item: -len(item[1]))
    return tuple(View(*size, _chosen(some, choice)) for size, some in usual_first)


def view_records(head: int, views: Sequence[View], choice: FieldChoice) -> list[ViewRecord]:
    """Return what the exam's record says of them."""
    return [
        ViewRecord(
            head=head,
            rows=view.rows,
            cols=view.cols,
            shape=view.field.shape,
            row=view.field.row,
            col=view.field.col,
            radius=view.field.radius,
            confidence=view.field.confidence,
            found_by="search" if choice == "auto" else "choice",
        )
        for view in views
    ]


def _chosen(frames: list[NDArray[Any]], choice: FieldChoice) -> FieldOfView:
    if isinstance(choice, FieldOfView):
        return choice
    if choice == "auto":
        # Grey and colour may be mixed in a folder of images; the finder wants one kind.
        kinds = {frame.ndim for frame in frames}
        with suppress(FrameError):  # too small: one odd image does not stop the exam
            return find_field_of_view([f for f in frames if f.ndim == max(kinds)])
    rows, cols = frames[0].shape[:2]
    return FieldOfView("full", (rows - 1) / 2, (cols - 1) / 2, min(rows, cols) / 2, 0.0)
