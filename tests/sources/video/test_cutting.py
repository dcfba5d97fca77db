"""Cutting: every picture belongs to one segment, and only clean key frames part segments."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.sources.source import Segment
from capsieve.sources.video.cutting import cut_into_segments
from capsieve.sources.video.packet_index import NO_STAMP, PacketIndex


def index(pts: list[int], keys: list[int], hidden: list[int] | None = None) -> PacketIndex:
    count = len(pts)
    places = np.arange(count)
    return PacketIndex(
        pts=np.array(pts, np.int64),
        dts=np.arange(count, dtype=np.int64),
        size=np.full(count, 10, np.int64),
        check=np.arange(count, dtype=np.uint32),
        place=places.astype(np.int64),
        key=np.isin(places, keys),
        hidden=np.isin(places, hidden or []),
        packed=False,
        problems=(),
    )


def cut(packets: PacketIndex, least: int = 1, *, true: bool = True) -> tuple[Segment, ...]:
    return cut_into_segments(packets, time_base=Fraction(1, 25), least=least, stamps_are_true=true)


def owned(segment: Segment) -> list[int]:
    return [segment.span["first"] + place for place in segment.span["owned"]]


@given(
    groups=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=8),
    least=st.integers(1, 12),
)
def test_every_packet_belongs_to_one_segment(groups: list[tuple[int, int]], least: int) -> None:
    # Each group: a key frame, its leading pictures, and others after it.
    pts, keys, time = list[int](), list[int](), 0
    for leading, following in groups:
        keys.append(len(pts))
        pts += [time + leading, *range(time, time + leading)]
        pts += range(time + leading + 1, time + leading + 1 + following)
        time += leading + following + 1
    segments = cut(index(pts, keys), least)
    stamps = [pts[place] for segment in segments for place in owned(segment)]
    assert stamps == sorted(pts)
    assert all(segment.frames >= min(least, 1) for segment in segments)


def test_leading_pictures_belong_to_the_segment_before() -> None:
    first, second = cut(index([0, 1, 2, 5, 3, 4, 6], [0, 3]), 3)
    assert owned(first) == [0, 1, 2, 4, 5]
    assert len(first.span["stamps"]) == 6  # the key frame is fed for the sake of its leading ones
    assert owned(second) == [3, 6]
    assert second.span["first"] == 3


def test_a_key_frame_that_does_not_part_the_times_is_no_cut() -> None:
    assert len(cut(index([0, 9, 2, 3, 4, 5], [0, 3]))) == 1  # 9 is shown after the key frame
    assert len(cut(index([0, 1, 4, 5, 3, 6], [0, 2]))) == 1  # 3 leads, but comes too late


@pytest.mark.parametrize("stamp", [NO_STAMP, 1])
def test_missing_and_repeated_stamps_leave_one_segment(stamp: int) -> None:
    (segment,) = cut(index([0, 1, stamp, 3, 4, 5], [0, 3]))
    assert segment.span["order"] == "decoder"
    assert segment.frames == 6


def test_where_every_packet_is_a_key_frame_stamps_do_not_matter() -> None:
    segments = cut(index([5, NO_STAMP, 5, 0], [0, 1, 2, 3]), 2)
    assert [owned(segment) for segment in segments] == [[0, 1], [2, 3]]


def test_hidden_packets_are_fed_but_are_no_frames() -> None:
    (segment,) = cut(index([0, 1, 2, 3], [0], hidden=[0, 1]))
    assert owned(segment) == [2, 3]
    assert len(segment.span["stamps"]) == 4


def test_no_packets_are_no_segments() -> None:
    assert cut(index([], [])) == ()
