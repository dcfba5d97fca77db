"""Packets that do not hold one picture each, and pictures that are not shown."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import Place, SourceFrame, Survey
from capsieve.sources.video import Video
from support.videos import VideoKind, make_video

VOP = b"\0\0\1\xb6"
# A predicted picture, at no other second, 5 bits of time, not coded, and filled up.
NOT_CODED = VOP + int("0101000001001111", 2).to_bytes(2, "big")
PACKED = b"\0\0\1\xb2DivX503b1393p"
RATE = 25


def read(path: Path) -> tuple[Survey, list[SourceFrame]]:
    source = Video(Place("video", str(path)))
    survey = source.survey(least=10)
    frames = [frame for segment in survey.segments for frame in source.frames(segment)]
    expected = [f.pts for segment in survey.segments for f in source.expected(segment)]
    assert [frame.pts for frame in frames] == expected
    return survey, frames


def packets(path: Path) -> list[tuple[bytes, bool]]:
    with av.open(str(path)) as container:
        return [(bytes(p), p.is_keyframe) for p in container.demux(video=0) if p.size]


def pictures(path: Path) -> list[NDArray[np.uint8]]:
    with av.open(str(path)) as container:
        decoded = container.decode(video=0)
        return [frame.to_ndarray(format="rgb24").astype(np.uint8) for frame in decoded]


def rewrite(
    original: Path, name: str, content: Sequence[tuple[bytes, bool]], times: Sequence[int]
) -> Path:
    """Write other packets at other times into a file like the original."""
    path = original.with_name(name)
    with av.open(str(original)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for (data, key), time in zip(content, times, strict=True):
            packet = av.Packet(data)
            packet.pts = packet.dts = time
            packet.is_keyframe, packet.stream = key, stream
            packet.time_base = Fraction(1, RATE)
            target.mux(packet)
    return path


def same(frames: Sequence[SourceFrame], others: Sequence[NDArray[np.uint8]]) -> None:
    assert len(frames) == len(others)
    for frame, other in zip(frames, others, strict=True):
        assert frame.problem == ""
        assert frame.pixels is not None
        np.testing.assert_array_equal(frame.pixels, other)


def test_moments_without_change_are_no_frames(tmp_path: Path) -> None:
    original = make_video(tmp_path, "avi-mpeg4")
    content = packets(original)
    content.insert(25, (NOT_CODED, False))
    path = rewrite(original, "b.avi", content, range(61))
    survey, frames = read(path)
    same(frames, pictures(original))
    assert survey.declared == 60
    assert survey.problems == ()
    assert survey.description["hidden_frames"] == 1


def test_empty_packets_of_avi_are_neither_frames_nor_missed(tmp_path: Path) -> None:
    original = make_video(tmp_path, "avi-mpeg4")
    times = [number if number < 20 else number + 5 for number in range(60)]
    path = rewrite(original, "b.avi", packets(original), times)
    survey, frames = read(path)
    same(frames, pictures(original))
    assert [frame.time for frame in frames] == [time / RATE for time in times]
    assert survey.declared == 60
    assert survey.problems == ()


def test_packed_pictures_come_in_their_order(tmp_path: Path) -> None:
    kind = VideoKind("a.avi", "mpeg4", b_frames=1, rate=RATE)
    original = make_video(tmp_path, kind)
    content, packed = packets(original), list[tuple[bytes, bool]]()
    while content:
        data, key = content.pop(0)
        if content and content[0][0][content[0][0].index(VOP) + 4] >> 6 == 2:  # shown before it
            packed += [(data + content.pop(0)[0], key), (NOT_CODED, False)]
        else:
            packed.append((data, key))
    packed[0] = (PACKED + packed[0][0], True)
    path = rewrite(original, "b.avi", packed, range(len(packed)))
    survey, frames = read(path)
    same(frames, pictures(original))
    times = [frame.time for frame in frames]
    np.testing.assert_allclose(np.diff(np.array(times, float)), 1 / RATE)
    assert survey.problems == ()


def test_what_an_edit_list_hides_is_no_frame(tmp_path: Path) -> None:
    original = make_video(tmp_path, VideoKind("a.mp4", "mpeg4", rate=RATE))
    path = tmp_path / "b.mp4"
    with av.open(str(original)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.pts is not None and packet.dts is not None and packet.time_base:
                earlier = round(5 / RATE / packet.time_base)
                packet.pts, packet.dts, packet.stream = (
                    packet.pts - earlier,
                    packet.dts - earlier,
                    stream,
                )
                target.mux(packet)
    survey, frames = read(path)
    same(frames, pictures(original)[5:])
    assert frames[0].time == 0
    assert survey.declared == 55
    assert survey.problems == ()
    assert survey.description["hidden_frames"] == 5
