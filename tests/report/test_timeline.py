import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capsieve.report.exam_tables import HeadFrames, event_list, head_frames
from capsieve.report.timeline import timeline
from capsieve.report.timeline_scale import (
    bins_of,
    frame_ticks,
    positions,
    scale_of,
    score_ticks,
    time_ticks,
)
from capsieve.store.exam import Exam
from support.screened_exam import write_exam


def a_head(time: Any, **changes: Any) -> HeadFrames:
    time = np.asarray(time, dtype=np.float64)
    none = np.zeros(time.size, dtype=bool)
    values: dict[str, Any] = {
        "head": 0,
        "frame": np.arange(time.size),
        "time": time,
        "score": np.zeros(time.size),
        "undecodable": none,
        "flagged": none,
        "smooth": none,
        "busy": none,
        "colour": np.full((time.size, 3), 100, dtype=np.float32),
    }
    return HeadFrames(**(values | changes))


def test_time_counts_from_the_earliest_frame_of_all_heads() -> None:
    scale = scale_of([a_head([12.0, 13, 14]), a_head([11.5, 13, 15])])
    assert (scale.timed, scale.zero, scale.end) == (True, 11.5, 3.5)
    assert positions(a_head([12.0, 13, 14]), scale).tolist() == [0.5, 1.5, 2.5]


def test_single_unknown_times_lie_between_their_neighbours() -> None:
    head = a_head([0.0, np.nan, 4, 6])
    assert positions(head, scale_of([head])).tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    ("times", "note"),
    [
        ([np.nan] * 4, ""),
        ([0.0, np.nan, np.nan, np.nan], ""),
        ([5.0, 5, 5, 5], ""),
        ([0.0, 1, 0.5, 2], "backwards"),
        ([0.0, 1, 90_000, 90_001], "jump"),
    ],
)
def test_times_that_make_no_sense_give_way_to_frame_numbers(times: list[float], note: str) -> None:
    scale = scale_of([a_head(times)])
    assert not scale.timed
    assert note in scale.note
    assert (scale.start, scale.end) == (0, 4)


def test_bins_keep_the_highest_score_and_lose_no_frame() -> None:
    rng = np.random.default_rng(0)
    head = a_head(np.arange(1000) / 4, score=rng.uniform(0, 50, 1000), smooth=np.arange(1000) < 250)
    bins = bins_of(head, scale_of([head]), columns=20)
    assert bins.frames.sum() == 1000
    assert bins.score.max() == head.score.max()
    # The last frame lies on the end of the axis and so in the last column.
    assert bins.smooth[:5].tolist() == [1] * 5
    assert bins.smooth[6:].max() == 0


def test_short_gaps_are_bridged_and_long_ones_stay_empty() -> None:
    head = a_head([0.0, 1, 2, 3, 40, 41, 42, 43])
    bins = bins_of(head, scale_of([head]), columns=430)
    assert (bins.frames[:30] > 0).all()
    assert (bins.frames[35:395] == 0).all()
    assert np.isnan(bins.colour[100]).all()


def test_undecodable_stretches_are_marked() -> None:
    broken = np.zeros(100, dtype=bool)
    assert 'class="broken"' not in timeline([a_head(np.arange(100.0))], [])
    broken[40:50] = True
    assert timeline([a_head(np.arange(100.0), undecodable=broken)], []).count('class="broken"') == 1


def test_reasons_are_shaded_apart() -> None:
    head = a_head(np.arange(100.0), busy=np.arange(100) < 30)
    drawing = timeline([head], [])
    assert 'class="busy most"' in drawing
    assert "smooth" not in drawing


def test_rejected_frames_are_shaded_where_they_lie() -> None:
    late = a_head(np.arange(100.0), smooth=np.arange(100) >= 50)
    (shade,) = re.findall(r'class="smooth most" d="M([\d.]+) ', timeline([late], []))
    assert float(shade) > 500
    some = a_head(np.arange(1000.0) / 10, smooth=np.arange(1000) % 2 == 0)
    assert 'class="smooth many"' in timeline([some], [])


def test_every_event_has_a_mark_and_the_best_ones_their_rank(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    write_exam(folder, frames=3000, heads=2, events=120)
    drawing = timeline(
        head_frames(Exam(folder).columns()),
        event_list(Exam(folder).columns(table="events")),
        threshold=37,
    )
    links = [int(rank) for rank in re.findall(r'href="#event-(\d+)"', drawing)]
    ranks = {int(rank) for rank in re.findall(r'class="rank-text"[^>]*>(\d+)<', drawing)}
    assert sorted(links) == list(range(1, 241))
    assert {1, 2} <= ranks
    assert len(ranks) < 240


def test_the_threshold_is_drawn_only_where_there_is_one() -> None:
    head = a_head(np.arange(100.0))
    assert "flagged from 37" in timeline([head], [], threshold=37)
    assert "threshold" not in timeline([head], [])
    assert "flagged from 0.99997<" in timeline([head], [], threshold=0.99997)


def test_no_frames_no_drawing() -> None:
    assert timeline([], []) == ""
    assert timeline([a_head([])], []) == ""


def test_no_coordinate_is_undefined() -> None:
    head = a_head([np.nan] * 3, score=np.full(3, np.nan), colour=np.full((3, 3), np.nan))
    for drawing in (timeline([head], []), timeline([a_head([1.0])], [])):
        assert not re.search(r"[ MVH\"-](nan|inf)", drawing)


@pytest.mark.parametrize("end", [0.4, 3.0, 59.0, 600.0, 36_000.0, 400_000.0])
def test_time_ticks_are_few_and_all_different(end: float) -> None:
    ticks = time_ticks(end, most=9)
    assert 2 <= len(ticks) <= 10
    assert len({text for _, text in ticks}) == len(ticks)
    assert ticks[-1][0] <= end


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 7), (0, 52_345), (100, 160)])
def test_frame_ticks_are_whole_and_inside(start: float, end: float) -> None:
    ticks = frame_ticks(start, end, most=9)
    assert 1 <= len(ticks) <= 10
    assert all(start <= value <= end and value == int(value) for value, _ in ticks)


def test_score_ticks_are_round() -> None:
    assert [text for _, text in score_ticks(0, 86.4, most=4)] == ["0", "50"]
    assert [text for _, text in score_ticks(0, 1.08, most=4)] == ["0", "0.5", "1"]
