"""Damaged and cut-off videos: what can be decoded comes, the rest has rows."""

import random
from pathlib import Path

import numpy as np
import pytest

from capsieve.sources.source import Place, SourceFrame, Survey
from capsieve.sources.video import Video
from support.videos import make_video, steady


def read(path: Path) -> tuple[Survey, list[SourceFrame]]:
    source = Video(Place("video", str(path)))
    survey = source.survey(least=10)
    frames = [frame for segment in survey.segments for frame in source.frames(segment)]
    expected = [f.pts for segment in survey.segments for f in source.expected(segment)]
    assert [frame.pts for frame in frames] == expected
    return survey, frames


def cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: round(len(content) * share)])


def spoil(path: Path, start: float, length: int, *, zeros: bool = False) -> None:
    content = bytearray(path.read_bytes())
    first = round(len(content) * start)
    content[first : first + length] = bytes(length) if zeros else random.Random(1).randbytes(length)
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["mp4-h264-faststart", "avi-mjpeg", "avi-mpeg4", "mkv-h264"])
def test_what_was_cut_off_is_missed(kind: str, tmp_path: Path) -> None:
    times = [number * 0.2 for number in range(60)] if kind in ("mkv-h264",) else None
    path = make_video(tmp_path, kind, times=times)
    whole = {frame.pts: frame.pixels for frame in read(path)[1]}
    cut(path, 0.7)
    survey, frames = read(path)
    assert 5 < len(frames) < 60
    assert any("cut off" in problem.what for problem in survey.problems)
    for frame in frames[:-4]:
        assert frame.pixels is not None
        np.testing.assert_array_equal(frame.pixels, whole[frame.pts])


def test_a_wrong_count_is_not_believed(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    content = path.read_bytes()
    frames_in_main_header = content.index(b"avih") + 8 + 16
    length_of_stream = content.index(b"strh") + 8 + 32
    changed = bytearray(content)
    for place in (frames_in_main_header, length_of_stream):
        assert changed[place : place + 4] == (60).to_bytes(4, "little")
        changed[place : place + 4] = (70).to_bytes(4, "little")
    path.write_bytes(changed)
    survey, frames = read(path)
    assert survey.declared == 70
    assert len(frames) == 60
    assert "declares 70 frames and holds 60" in survey.problems[0].what


@pytest.mark.parametrize("kind", ["mp4-h264", "mp4-h264-open", "ts-h264", "ts-mpeg2"])
def test_no_damaged_picture_passes_for_a_sound_one(kind: str, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    whole = {frame.pts: frame.pixels for frame in read(path)[1]}
    spoil(path, 0.5, 150)
    _, frames = read(path)
    assert any(frame.problem for frame in frames)
    assert sum(frame.pixels is not None for frame in frames) > 20
    for frame in frames:
        if not frame.problem:
            assert frame.pixels is not None
            np.testing.assert_array_equal(frame.pixels, whole[frame.pts])


@pytest.mark.parametrize("length", [300, 30_000])
@pytest.mark.parametrize("zeros", [True, False])
def test_no_damaged_jpeg_passes_for_a_sound_one(length: int, zeros: bool, tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg", rows=256, cols=256)
    whole = {frame.pixels.tobytes() for frame in read(path)[1] if frame.pixels is not None}
    assert len(whole) == 60
    spoil(path, 0.5, length, zeros=zeros)
    _, frames = read(path)
    sound = {f.pixels.tobytes() for f in frames if f.pixels is not None and not f.problem}
    assert sound <= whole
    assert len(sound) == len(frames) - 1
    assert any(frame.problem for frame in frames)


def test_a_jpeg_without_its_end_may_be_damaged(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    content = path.read_bytes()
    end = content.index(b"\xff\xd9", len(content) // 2)
    path.write_bytes(content[:end] + bytes(2) + content[end + 2 :])
    _, frames = read(path)
    assert len(frames) == 60
    (problem,) = {frame.problem for frame in frames} - {""}
    assert "lack the beginning or the end" in problem
    assert sum(frame.problem != "" for frame in frames) == 1


def test_what_is_left_of_a_damaged_jpeg_is_shown(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg", rows=256, cols=256)
    whole = read(path)[1]
    spoil(path, 0.5, 300)
    (place,) = (n for n, frame in enumerate(read(path)[1]) if frame.problem)
    damaged, original = read(path)[1][place].pixels, whole[place].pixels
    assert damaged is not None
    assert original is not None
    np.testing.assert_array_equal(damaged[:16], original[:16])


def test_the_place_of_a_loss_is_left_open_where_it_is_unknown(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg", times=steady(240))
    spoil(path, 0.5, 120_000, zeros=True)
    (problem,) = read(path)[0].problems
    assert "declares 240 frames" in problem.what
    assert problem.time is None


@pytest.mark.parametrize("kind", ["mp4-h264-faststart", "mkv-h264"])
def test_the_place_of_a_loss_is_the_end_where_times_are_stored(kind: str, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind, times=steady(60, 5))
    cut(path, 0.5)
    survey, frames = read(path)
    assert survey.problems[-1].time == pytest.approx(frames[-1].time)
    assert "cut off" in survey.problems[-1].what


def test_a_picture_that_cannot_be_decoded_keeps_its_row(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mp4-h264")
    whole = read(path)[1]
    spoil(path, 0.5, 150)
    survey, frames = read(path)
    assert [frame.pts for frame in frames] == [frame.pts for frame in whole]
    assert survey.problems == ()
    lost = [frame for frame in frames if frame.pixels is None]
    assert lost
    assert all(frame.problem and frame.time is not None for frame in lost)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["mp4-h264", "avi-mpeg4-b", "mpeg-mpeg2", "mkv-h264-open"])
def test_random_damage_never_ends_the_reading(kind: str, seed: int, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    # The index of an MP4 comes last, the headers of others first: both are spared.
    spoil(path, random.Random(seed).uniform(0.3, 0.7), 40 * (seed + 1))
    _, frames = read(path)
    assert any(frame.pixels is not None for frame in frames)


def test_lost_bytes_of_matroska_are_a_problem(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mkv-h264", rows=256, cols=256)
    spoil(path, 0.4, 6000)
    survey, frames = read(path)
    assert len(frames) < 60
    assert any("frames in them are lost" in problem.what for problem in survey.problems)


def test_a_gap_in_the_times_of_mpeg2_is_a_problem(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mpeg-mpeg2")
    spoil(path, 0.5, 400)
    survey, frames = read(path)
    assert len(frames) < 60
    assert any("frames are missing" in problem.what for problem in survey.problems)
