"""Video: whatever is stored comes out, the same in segments as in one go."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.source import Place, SourceFrame, Survey, open_source
from capsieve.sources.video import Video, video_streams
from support.videos import KINDS, make_video, steady

Sample = Callable[[str], Path]

# The order of pictures is known beforehand, so that the stream can be cut.
CUTTABLE = sorted(KINDS.keys() - {"raw-h264", "avi-h264-b"})


def video(path: Path, stream: int = 0) -> Video:
    return Video(Place("video", str(path), stream=stream))


def all_frames(source: Video, survey: Survey) -> list[SourceFrame]:
    return [frame for segment in survey.segments for frame in source.frames(segment)]


def sequential(path: Path, stream: int = 0) -> list[tuple[int | None, NDArray[np.uint8]]]:
    with av.open(str(path)) as container:
        context = container.streams.video[stream].codec_context
        context.thread_count = 1
        return [
            (frame.pts, frame.to_ndarray(format="rgb24").astype(np.uint8))
            for frame in container.decode(container.streams.video[stream])
        ]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_segments_give_the_pictures_of_a_sequential_decode(kind: str, sample: Sample) -> None:
    source = video(sample(kind))
    frames = all_frames(source, source.survey(least=10))
    straight = sequential(sample(kind))
    assert len(frames) == len(straight) == 60
    for frame, (_, pixels) in zip(frames, straight, strict=True):
        assert frame.problem == ""
        assert frame.pixels is not None
        assert frame.pixels.flags.c_contiguous
        np.testing.assert_array_equal(frame.pixels, pixels)


@pytest.mark.parametrize("kind", CUTTABLE)
def test_segments_give_the_time_stamps_of_a_sequential_decode(kind: str, sample: Sample) -> None:
    source = video(sample(kind))
    survey = source.survey(least=10)
    assert len(survey.segments) > 3
    stamps = [frame.pts for frame in all_frames(source, survey)]
    assert stamps == [stamp for stamp, _ in sequential(sample(kind))]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_expected_is_what_comes(kind: str, sample: Sample) -> None:
    source = video(sample(kind))
    for segment in source.survey(least=10).segments:
        expected, frames = list(source.expected(segment)), list(source.frames(segment))
        assert [(f.pts, f.time) for f in expected] == [(f.pts, f.time) for f in frames]
        assert len(frames) == segment.frames
        assert all(frame.pixels is None and not frame.problem for frame in expected)


def test_times_ascend_where_only_the_decoder_knows_the_order(sample: Sample) -> None:
    source = video(sample("avi-h264-b"))
    times = [frame.time for frame in all_frames(source, source.survey(least=10))]
    np.testing.assert_allclose(np.diff(np.array(times, float)), 1 / 25)


def test_a_segment_does_not_depend_on_what_was_read_before(sample: Sample) -> None:
    survey = video(sample("mp4-h264-open")).survey(least=10)
    backwards = video(sample("mp4-h264-open"))
    last_first = [list(backwards.frames(segment)) for segment in reversed(survey.segments)]
    in_order = [list(video(sample("mp4-h264-open")).frames(s)) for s in survey.segments]
    for one, other in zip(reversed(last_first), in_order, strict=True):
        assert [frame.pts for frame in one] == [frame.pts for frame in other]
        for a, b in zip(one, other, strict=True):
            assert a.pixels is not None
            np.testing.assert_array_equal(a.pixels, b.pixels)


def test_surveys_agree(sample: Sample) -> None:
    assert video(sample("mp4-h264")).survey() == video(sample("mp4-h264")).survey()


def test_changing_frame_rates_keep_their_times(tmp_path: Path) -> None:
    times = [0.0, 0.25, 0.5, 0.5 + 1 / 30, 0.6, 3.0, *(10 + n / 35 for n in range(30)), 100.5]
    source = video(make_video(tmp_path, "mp4-h264", times=times))
    survey = source.survey(least=10)
    found = [frame.time for frame in all_frames(source, survey)]
    np.testing.assert_allclose(np.array(found, float), times, atol=1e-4)
    assert survey.problems == ()


def test_two_streams_are_two_heads(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mkv-h264", streams=2)
    assert video_streams(path) == (0, 1)
    for stream in (0, 1):
        source = video(path, stream)
        frames = all_frames(source, source.survey(least=10))
        for frame, (stamp, pixels) in zip(frames, sequential(path, stream), strict=True):
            assert frame.pts == stamp
            assert frame.pixels is not None
            np.testing.assert_array_equal(frame.pixels, pixels)


def test_a_survey_tells_what_was_read(sample: Sample) -> None:
    path = sample("mp4-h264")
    survey = video(path).survey()
    content = path.read_bytes()
    assert survey.sha256 == hashlib.sha256(content).hexdigest()
    assert survey.size == len(content)
    assert survey.declared == 60
    assert survey.problems == ()
    assert sum(segment.frames for segment in survey.segments) == 60
    expected = {"codec": "h264", "rows": 64, "cols": 96, "time_base": "1/90000"}
    assert expected.items() <= survey.description.items()
    assert survey.description["colour"] == "BT.601, limited range, assumed"


@pytest.mark.parametrize("kind", ["mp4-h264", "avi-mjpeg", "mpeg-mpeg2"])
def test_a_file_that_changed_is_refused(kind: str, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    source = video(path)
    segment = source.survey(least=10).segments[2]
    frames = list(source.frames(segment))
    make_video(tmp_path, kind, times=steady(59))
    content = bytearray(path.read_bytes())
    content[len(content) // 4 : len(content) * 3 // 4] = b"\x55" * (
        len(content) * 3 // 4 - len(content) // 4
    )
    path.write_bytes(content)
    assert frames
    with pytest.raises(FileError, match="changed while it was being read"):
        list(source.frames(segment))


def test_frames_are_found_by_their_time_stamps(sample: Sample) -> None:
    for kind in ("mp4-h264-open", "mpeg-mpeg2", "avi-h264-b"):
        source = video(sample(kind))
        for frame in all_frames(source, source.survey())[::7]:
            assert frame.pts is not None
            found = video(sample(kind)).frame_at(frame.pts)
            assert (found.pts, found.time) == (frame.pts, frame.time)
            assert found.pixels is not None
            np.testing.assert_array_equal(found.pixels, frame.pixels)


def test_a_time_stamp_that_is_not_there_is_an_error(sample: Sample) -> None:
    with pytest.raises(FileError, match="no frame with the time stamp 12345"):
        video(sample("mp4-h264")).frame_at(12345)


@pytest.mark.parametrize("kind", ["mp4-h264-open", "avi-mjpeg", "raw-h264"])
@pytest.mark.parametrize("count", [1, 4, 20])
def test_samples_are_frames_spread_over_the_video(kind: str, count: int, sample: Sample) -> None:
    source = video(sample(kind))
    survey = source.survey(least=10)
    samples = source.samples(survey, count)
    assert len(samples) == count
    pictures = {
        pixels.tobytes(): number for number, (_, pixels) in enumerate(sequential(sample(kind)))
    }
    numbers = [pictures[pixels.tobytes()] for pixels in samples]
    assert numbers == sorted(set(numbers))
    assert count == 1 or (numbers[0] < 20 and numbers[-1] > 40)


def test_samples_are_the_same_each_time(sample: Sample) -> None:
    source = video(sample("mkv-h264"))
    survey = source.survey()
    for one, other in zip(source.samples(survey, 9), source.samples(survey, 9), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_kind_video_opens_as_a_video(sample: Sample) -> None:
    assert isinstance(open_source(Place("video", str(sample("mp4-h264")))), Video)


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    source = video(make_video(tmp_path, "mp4-h264", times=steady(240)))
    segments = source.survey(least=50).segments

    def decode(task: int) -> list[tuple[int | None, str, str]]:
        rows = list[tuple[int | None, str, str]]()
        for frame in source.frames(segments[task % len(segments)]):
            # Pixels that are kept would keep alive what the decoders share.
            content = b"" if frame.pixels is None else frame.pixels.tobytes()
            rows.append((frame.pts, frame.problem, hashlib.sha256(content).hexdigest()))
            sleep(0.0005 * (task % 4))  # others end meanwhile, at another place each
        return rows

    alone = [decode(task) for task in range(len(segments))]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(decode, range(4 * len(segments))))
    assert len(segments) == 4
    assert together == alone * 4
    assert not any(problem for rows in alone for _, problem, _ in rows)
