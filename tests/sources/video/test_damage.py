"""Damaged and cut-off videos: what can be decoded comes, the rest has rows."""

import random
from pathlib import Path

import numpy as np
import pytest

from capsieve.sources.source import Place, SourceFrame, Survey
from capsieve.sources.video import Video
from sample_videos import make_video


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


def spoil(path: Path, start: float, length: int) -> None:
    content = bytearray(path.read_bytes())
    first = round(len(content) * start)
    content[first : first + length] = random.Random(1).randbytes(length)
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
