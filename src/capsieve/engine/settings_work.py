"""The work on one segment under many settings: every wanted frame is decoded once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.segment_work import View
from capsieve.errors import FrameError
from capsieve.paper.many_settings import analyze_each
from capsieve.parameters import Parameters
from capsieve.sources.source import Place, Segment, open_source

__all__ = ["SettingsTask", "SegmentScores", "score_segment"]


@dataclass(frozen=True, slots=True)
class SettingsTask:
    """All that a worker needs to know.

    Attributes
    ----------
    exam
        The exam's name.
    place, segment
        What to decode.
    wanted
        Places of the frames in the segment that are analysed, growing.
    settings
        What they are analysed with.
    views
        The head's fields of view.
    """

    exam: str
    place: Place
    segment: Segment
    wanted: tuple[int, ...]
    settings: tuple[Parameters, ...]
    views: tuple[View, ...]

    def __str__(self) -> str:
        """How messages name it."""
        return f"segment {self.segment.number} of head {self.place.head} of {self.exam}"


@dataclass(frozen=True, slots=True, eq=False)
class SegmentScores:
    """What became of the wanted frames of a segment.

    Attributes
    ----------
    scores
        Wanted frames x settings; NaN where a frame was not scored.
    problems
        Why a frame was not scored, by its place in the segment.
    """

    scores: NDArray[np.float32]
    problems: dict[int, str]


def score_segment(task: SettingsTask) -> SegmentScores:
    """Score the wanted frames of a segment under every setting.

    Raises
    ------
    FileError
        The source is not what was surveyed.
    """
    views = {(view.rows, view.cols): view.field for view in task.views}
    rows = {place: row for row, place in enumerate(task.wanted)}
    scores = np.full((len(rows), len(task.settings)), np.nan, np.float32)
    problems = dict.fromkeys(task.wanted, "undecodable: the source ends before it")
    for place, frame in enumerate(open_source(task.place).frames(task.segment)):
        if place in rows:
            del problems[place]
            if frame.pixels is None:
                problems[place] = f"undecodable: {frame.problem}"
            else:
                field = views.get((frame.pixels.shape[0], frame.pixels.shape[1]))
                try:
                    results = analyze_each(frame.pixels, task.settings, field)
                except FrameError as error:
                    problems[place] = f"cannot be analysed: {error}"
                else:
                    scores[rows[place]] = [result.score for result in results]
        if place >= task.wanted[-1]:
            break
    return SegmentScores(scores, problems)
