"""Segments: every picture belongs to one, cuts are at clean key frames, packets are found again."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import FileError
from capsieve.sources import video_segments
from capsieve.sources.base import NO_STAMP, PacketTable, Place, Segment
from capsieve.sources.video_segments import cut_into_segments, segment_packets
from capsieve.sources.video_source import VideoSource
from support.videos import VideoKind, make_video

Sample = Callable[[str], Path]


def table(pts: list[int], keys: list[int], hidden: list[int] | None = None) -> PacketTable:
    numbers = np.arange(len(pts))
    return PacketTable(
        pts=np.array(pts, np.int64),
        dts=numbers.astype(np.int64),
        size=np.full(len(pts), 10, np.int64),
        crc32=numbers.astype(np.uint32),
        key=np.isin(numbers, keys),
        hidden=np.isin(numbers, hidden or []),
    )


def cut(packets: PacketTable, least: int = 1, order: str = "time") -> tuple[Segment, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(video_segments, "LEAST_FRAMES", least)
        return cut_into_segments(packets, {"order": order, "time_base": "1/25"})


def owned(segment: Segment) -> list[int]:
    return [segment.span.first.number + number for number in segment.span.owned]


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
    segments = cut(table(pts, keys), least)
    stamps = [pts[number] for segment in segments for number in owned(segment)]
    assert stamps == sorted(pts)


def test_leading_pictures_belong_to_the_previous_segment() -> None:
    first, second = cut(table([0, 1, 2, 5, 3, 4, 6], [0, 3]), 3)
    assert owned(first) == [0, 1, 2, 4, 5]
    assert len(first.span.stamps) == 6  # with the key frame, which the leading pictures need
    assert owned(second) == [3, 6]


def test_key_frames_that_do_not_separate_the_times_are_not_cuts() -> None:
    assert len(cut(table([0, 9, 2, 3, 4, 5], [0, 3]))) == 1  # 9 is shown after the key frame
    assert len(cut(table([0, 1, 4, 5, 3, 6], [0, 2]))) == 1  # 3 leads, but does not follow at once


def test_a_stream_without_key_frames_is_one_segment() -> None:
    (segment,) = cut(table([0, 2, 1, 3], []))
    assert owned(segment) == [0, 2, 1, 3]


def test_unknown_order_gives_one_segment() -> None:
    (segment,) = cut(table([0, 1, NO_STAMP, 3, 4, 5], [0, 3]), order="decoder")
    assert segment.frames == 6


def test_a_stream_of_key_frames_is_cut_without_time_stamps() -> None:
    segments = cut(table([5, NO_STAMP, 5, 0], [0, 1, 2, 3]), 2, "packets")
    assert [owned(segment) for segment in segments] == [[0, 1], [2, 3]]


def test_hidden_packets_are_decoded_but_are_not_frames() -> None:
    (segment,) = cut(table([0, 1, 2, 3], [0], hidden=[0, 1]))
    assert owned(segment) == [2, 3]
    assert len(segment.span.stamps) == 4


def test_no_packets_give_no_segments() -> None:
    assert cut(table([], [])) == ()


def test_a_packet_table_survives_arrow() -> None:
    packets = table([5, NO_STAMP, 3], [0, 2], [1])
    arrow = packets.to_arrow()
    assert arrow["pts"].to_pylist() == [5, None, 3]
    again = PacketTable.from_arrow(arrow)
    for name in ("pts", "dts", "size", "crc32", "key", "hidden"):
        np.testing.assert_array_equal(getattr(again, name), getattr(packets, name))


def contents(path: Path) -> list[list[bytes]]:
    place = Place("video", str(path))
    found: list[list[bytes]] = []
    for segment in VideoSource(place).survey().segments:
        with segment_packets(place, segment) as (_, packets):
            found.append([bytes(packet) for packet in packets])
    return found


@pytest.mark.parametrize("kind", ["mp4-h264-open", "avi-mjpeg", "mpeg-mpeg2", "ts-h264"])
@pytest.mark.usefixtures("short_segments")
def test_seeking_and_counting_find_the_same_packets(
    kind: str, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    sought = contents(sample(kind))
    assert len(sought) > 2
    monkeypatch.setattr(video_segments, "SEEK_STEPS", (None,))
    assert contents(sample(kind)) == sought
    monkeypatch.setattr(video_segments, "_MOST_KEPT", 0)
    assert contents(sample(kind)) == sought


def test_a_change_after_the_check_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(video_segments, "_MOST_KEPT", 0)
    path = make_video(tmp_path, "avi-mjpeg", rows=256, cols=256)
    place = Place("video", str(path))
    (segment,) = VideoSource(place).survey().segments
    with segment_packets(place, segment) as (_, packets):
        next(packets)
        content = bytearray(path.read_bytes())
        assert len(content) > 100_000  # more than FFmpeg reads ahead
        content[-30_000:-20_000] = bytes(10_000)
        path.write_bytes(content)
        with pytest.raises(FileError, match="has changed"):
            list(packets)


@pytest.mark.parametrize("name", ["a.h264", "a.avi"])
def test_h264_without_time_stamps_is_cut_where_decoding_starts_anew(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # x264 marks the key pictures of open groups in the same way, but pictures after them may be
    # shown before them.
    for group, count in (("open-gop=0", 6), ("open-gop=1", 1)):
        coding = {"preset": "veryfast", "x264-params": f"keyint=10:scenecut=0:bframes=3:{group}"}
        container = name.removeprefix("a.")
        kind = VideoKind(name, "libx264", coding, 3, container, rate=25)
        source = VideoSource(Place("video", str(make_video(tmp_path, kind))))
        monkeypatch.setattr(video_segments, "LEAST_FRAMES", 1000)
        (whole,) = source.survey().segments
        expected = [frame.pixels for frame in source.frames(whole)]
        monkeypatch.setattr(video_segments, "LEAST_FRAMES", 10)
        segments = source.survey().segments
        assert len(segments) == count
        frames = [frame for segment in segments for frame in source.frames(segment)]
        assert len(frames) == 60
        for frame, pixels in zip(frames, expected, strict=True):
            assert not frame.problem
            np.testing.assert_array_equal(frame.pixels, pixels)
