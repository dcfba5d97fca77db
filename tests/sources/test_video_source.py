"""Every stored picture is a frame, the same in segments as in one go, and damage is reported."""

import hashlib
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from time import sleep
from typing import Any
from unittest.mock import Mock

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources import video_segments
from capsieve.sources.base import Place, SourceFrame, Survey, open_source
from capsieve.sources.video_container import video_streams
from capsieve.sources.video_source import ToRGB, VideoSource
from support.videos import KINDS, VideoKind, make_video, steady, write_video

pytestmark = pytest.mark.usefixtures("short_segments")

Sample = Callable[[str], Path]
RATE = 25


def video(path: Path, stream: int = 0) -> VideoSource:
    return VideoSource(Place("video", str(path), stream=stream))


def read(path: Path, stream: int = 0) -> tuple[Survey, list[SourceFrame]]:
    source = video(path, stream)
    survey = source.survey()
    frames = [frame for segment in survey.segments for frame in source.frames(segment)]
    expected = [frame for segment in survey.segments for frame in source.expected(segment)]
    assert [frame.time for frame in frames] == [frame.time for frame in expected]
    assert {frame.packet for frame in frames} == {frame.packet for frame in expected}
    assert len({frame.packet for frame in frames}) == len(frames)
    return survey, frames


def sequential(path: Path, stream: int = 0) -> list[tuple[float | None, NDArray[np.uint8]]]:
    with av.open(str(path)) as container:
        container.streams.video[stream].codec_context.thread_count = 1
        return [
            (frame.time, frame.to_ndarray(format="rgb24").astype(np.uint8))
            for frame in container.decode(container.streams.video[stream])
        ]


def assert_same(frames: Sequence[SourceFrame], others: Sequence[NDArray[Any] | None]) -> None:
    assert len(frames) == len(others)
    for frame, other in zip(frames, others, strict=True):
        assert frame.problem == ""
        assert frame.pixels is not None
        assert frame.pixels.flags.c_contiguous
        np.testing.assert_array_equal(frame.pixels, other)


# Intact videos


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_segments_give_the_frames_of_a_sequential_decode(kind: str, sample: Sample) -> None:
    survey, frames = read(sample(kind))
    expected = sequential(sample(kind))
    assert_same(frames, [pixels for _, pixels in expected])
    assert [segment.frames for segment in survey.segments if segment.frames < 10] == []
    if survey.description["order"] not in ("groups", "decoder"):
        assert len(survey.segments) > 3
        assert [frame.time for frame in frames] == [time for time, _ in expected]


def test_times_ascend_if_only_the_decoder_knows_the_order(sample: Sample) -> None:
    times = [frame.time for frame in read(sample("avi-h264-b"))[1]]
    np.testing.assert_allclose(np.diff(np.array(times, float)), 1 / 25)


def test_a_segment_does_not_depend_on_earlier_reading(sample: Sample) -> None:
    source = video(sample("mp4-h264-open"))
    segments = source.survey().segments
    backwards = [list(source.frames(segment)) for segment in reversed(segments)]
    frames = [frame for part in reversed(backwards) for frame in part]
    assert_same(read(sample("mp4-h264-open"))[1], [frame.pixels for frame in frames])


def test_surveys_agree(sample: Sample) -> None:
    assert video(sample("mp4-h264")).survey() == video(sample("mp4-h264")).survey()


def test_changing_frame_rates_keep_their_times(tmp_path: Path) -> None:
    times = [0.0, 0.25, 0.5, 0.5 + 1 / 30, 0.6, 3.0, *(10 + n / 35 for n in range(30)), 100.5]
    survey, frames = read(make_video(tmp_path, "mp4-h264", times=times))
    np.testing.assert_allclose(np.array([f.time for f in frames], float), times, atol=1e-4)
    assert survey.problems == ()


def test_two_streams_are_two_heads(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mkv-h264", streams=2)
    assert video_streams(path) == (0, 1)
    for stream in (0, 1):
        survey, frames = read(path, stream)
        assert_same(frames, [pixels for _, pixels in sequential(path, stream)])
        assert survey.problems == ()


def test_a_survey_describes_the_file(sample: Sample) -> None:
    path = sample("mp4-h264")
    survey = open_source(Place("video", str(path))).survey()
    content = path.read_bytes()
    assert (survey.sha256, survey.size) == (hashlib.sha256(content).hexdigest(), len(content))
    assert survey.declared == sum(segment.frames for segment in survey.segments) == 60
    assert survey.packets is not None
    assert len(survey.packets) == 60
    expected = {"codec": "h264", "rows": 64, "cols": 96, "time_base": "1/90000", "order": "time"}
    assert expected.items() <= survey.description.items()


def test_the_stamp_changes_with_the_file(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    before = video(path).stamp()
    assert video(path).stamp() == before
    path.write_bytes(path.read_bytes() + b"x")
    assert video(path).stamp() != before
    with pytest.raises(FileError, match="cannot read"):
        video(tmp_path / "missing.mp4").stamp()


@pytest.mark.parametrize("kind", ["mp4-h264", "avi-mjpeg", "mpeg-mpeg2"])
def test_a_file_that_changed_is_refused(kind: str, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    source = video(path)
    segment = source.survey().segments[2]
    assert list(source.frames(segment))
    content = bytearray(path.read_bytes())
    quarter = len(content) // 4
    content[quarter : 3 * quarter] = b"\x55" * (2 * quarter)
    path.write_bytes(content)
    with pytest.raises(FileError, match="has changed"):
        list(source.frames(segment))


@pytest.mark.parametrize("kind", ["mp4-h264-open", "avi-mjpeg", "raw-h264"])
@pytest.mark.parametrize("count", [1, 4, 20])
def test_samples_are_frames_spread_over_the_video(kind: str, count: int, sample: Sample) -> None:
    source = video(sample(kind))
    samples = source.samples(source.survey(), count)
    frames = {pixels.tobytes(): n for n, (_, pixels) in enumerate(sequential(sample(kind)))}
    numbers = [frames[pixels.tobytes()] for pixels in samples]
    assert len(numbers) == count
    assert numbers == sorted(set(numbers))
    assert count == 1 or (numbers[0] < 20 and numbers[-1] > 40)


def test_pictures_that_cannot_be_converted_keep_their_number(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("no such conversion")

    monkeypatch.setattr("av.video.reformatter.VideoReformatter", lambda: Mock(reformat=fail))
    survey, frames = read(sample("avi-mjpeg"))
    assert len(frames) == 60
    assert all(frame.pixels is None and "RGB" in frame.problem for frame in frames)
    assert video(sample("avi-mjpeg")).samples(survey, 5) == []


def test_threads_do_not_disturb_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video_segments, "LEAST_FRAMES", 50)
    source = video(make_video(tmp_path, "mp4-h264", times=steady(240)))
    segments = source.survey().segments

    def decode(task: int) -> list[tuple[int | None, str, str]]:
        rows = list[tuple[int | None, str, str]]()
        for frame in source.frames(segments[task % len(segments)]):
            # Frames that are kept would keep alive what the decoders share.
            content = b"" if frame.pixels is None else frame.pixels.tobytes()
            rows.append((frame.packet, frame.problem, hashlib.sha256(content).hexdigest()))
            sleep(0.0005 * (task % 4))  # so that the others end at different places
        return rows

    alone = [decode(task) for task in range(len(segments))]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(decode, range(4 * len(segments))))
    assert len(segments) == 4
    assert together == alone * 4
    assert not any(problem for rows in alone for _, problem, _ in rows)


# Damage


def spoil(path: Path, start: float, length: int, *, zeros: bool = False) -> None:
    content = bytearray(path.read_bytes())
    first = round(len(content) * start)
    content[first : first + length] = bytes(length) if zeros else random.Random(1).randbytes(length)
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["mp4-h264-faststart", "avi-mjpeg", "avi-mpeg4", "mkv-h264"])
def test_the_rest_of_a_truncated_file_is_read(kind: str, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    whole = {frame.packet: frame.pixels for frame in read(path)[1]}
    content = path.read_bytes()
    path.write_bytes(content[: round(len(content) * 0.7)])
    frames = read(path)[1]
    assert 5 < len(frames) < 60
    assert_same(frames[:-4], [whole[frame.packet] for frame in frames[:-4]])


@pytest.mark.parametrize("kind", ["mp4-h264", "mp4-h264-open", "ts-h264", "ts-mpeg2"])
@pytest.mark.parametrize("start", [0.5, 0.6])
def test_damaged_frames_are_reported(kind: str, start: float, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    whole = {frame.time: frame.pixels for frame in read(path)[1]}
    spoil(path, start, 150)
    frames = read(path)[1]
    assert any(frame.problem for frame in frames)
    assert sum(frame.pixels is not None for frame in frames) > 20
    sound = [frame for frame in frames if not frame.problem]
    assert_same(sound, [whole[frame.time] for frame in sound])


def test_frames_that_cannot_be_decoded_keep_their_number(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mp4-h264")
    whole = read(path)[1]
    spoil(path, 0.5, 150)
    survey, frames = read(path)
    assert [(f.packet, f.time) for f in frames] == [(f.packet, f.time) for f in whole]
    assert survey.problems == ()
    lost = [frame for frame in frames if frame.pixels is None]
    assert lost
    assert all(frame.problem and frame.time is not None for frame in lost)


@pytest.mark.parametrize("length", [300, 30_000])
@pytest.mark.parametrize("zeros", [True, False])
def test_damaged_jpegs_are_reported(length: int, zeros: bool, tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg", rows=256, cols=256)
    whole = {frame.pixels.tobytes() for frame in read(path)[1] if frame.pixels is not None}
    assert len(whole) == 60
    spoil(path, 0.5, length, zeros=zeros)
    frames = read(path)[1]
    sound = {f.pixels.tobytes() for f in frames if f.pixels is not None and not f.problem}
    assert sound <= whole
    assert len(sound) == len(frames) - 1
    assert any(frame.problem for frame in frames)


def test_a_jpeg_without_its_end_may_be_damaged(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    content = path.read_bytes()
    end = content.index(b"\xff\xd9", len(content) // 2)
    path.write_bytes(content[:end] + bytes(2) + content[end + 2 :])
    frames = read(path)[1]
    assert len(frames) == 60
    (problem,) = (frame.problem for frame in frames if frame.problem)
    assert "lack the start or the end" in problem


def test_the_rest_of_a_damaged_jpeg_is_shown(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg", rows=256, cols=256)
    whole = read(path)[1]
    spoil(path, 0.5, 300)
    ((number, damaged),) = (
        (number, frame.pixels) for number, frame in enumerate(read(path)[1]) if frame.problem
    )
    original = whole[number].pixels
    assert damaged is not None
    assert original is not None
    np.testing.assert_array_equal(damaged[:16], original[:16])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["mp4-h264", "avi-mpeg4-b", "mpeg-mpeg2", "mkv-h264-open"])
def test_random_damage_never_ends_reading(kind: str, seed: int, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    # Not the index of an MP4, which is last, nor the headers of others, which are first.
    spoil(path, random.Random(seed).uniform(0.3, 0.7), 40 * (seed + 1))
    assert any(frame.pixels is not None for frame in read(path)[1])


# Packets that do not contain one picture each, and pictures that are not shown

VOP = b"\0\0\1\xb6"
# A predicted picture, no further second, 5 bits of time, not coded, and stuffing.
NOT_CODED = VOP + int("0101000001001111", 2).to_bytes(2, "big")
PACKED = b"\0\0\1\xb2DivX503b1393p"


def packets(path: Path) -> list[tuple[bytes, bool]]:
    with av.open(str(path)) as container:
        return [(bytes(p), p.is_keyframe) for p in container.demux(video=0) if p.size]


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


def test_pictures_that_are_not_coded_are_not_frames(tmp_path: Path) -> None:
    original = make_video(tmp_path, "avi-mpeg4")
    content = packets(original)
    content.insert(25, (NOT_CODED, False))
    survey, frames = read(rewrite(original, "b.avi", content, range(61)))
    assert_same(frames, [pixels for _, pixels in sequential(original)])
    assert (survey.declared, survey.problems) == (60, ())
    assert survey.description["hidden_frames"] == 1


def test_empty_packets_of_avi_are_neither_frames_nor_missing(tmp_path: Path) -> None:
    original = make_video(tmp_path, "avi-mpeg4")
    times = [number if number < 20 else number + 5 for number in range(60)]
    survey, frames = read(rewrite(original, "b.avi", packets(original), times))
    assert_same(frames, [pixels for _, pixels in sequential(original)])
    assert [frame.time for frame in frames] == [time / RATE for time in times]
    assert (survey.declared, survey.problems) == (60, ())


def test_packed_pictures_are_in_order(tmp_path: Path) -> None:
    original = make_video(tmp_path, VideoKind("a.avi", "mpeg4", b_frames=1, rate=RATE))
    content, packed = packets(original), list[tuple[bytes, bool]]()
    while content:
        data, key = content.pop(0)
        if content and content[0][0][content[0][0].index(VOP) + 4] >> 6 == 2:  # shown before it
            packed += [(data + content.pop(0)[0], key), (NOT_CODED, False)]
        else:
            packed.append((data, key))
    packed[0] = (PACKED + packed[0][0], True)
    survey, frames = read(rewrite(original, "b.avi", packed, range(len(packed))))
    assert_same(frames, [pixels for _, pixels in sequential(original)])
    times = [frame.time for frame in frames]
    np.testing.assert_allclose(np.diff(np.array(times, float)), 1 / RATE)
    assert survey.problems == ()


def test_frames_hidden_by_an_edit_list_are_not_frames(tmp_path: Path) -> None:
    original = make_video(tmp_path, VideoKind("a.mp4", "mpeg4", rate=RATE))
    path = tmp_path / "b.mp4"
    with av.open(str(original)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.pts is not None and packet.dts is not None and packet.time_base:
                shift = round(5 / RATE / packet.time_base)
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                packet.stream = stream
                target.mux(packet)
    survey, frames = read(path)
    assert_same(frames, [pixels for _, pixels in sequential(original)][5:])
    assert frames[0].time == 0
    assert (survey.declared, survey.problems) == (55, ())
    assert survey.description["hidden_frames"] == 5
    assert "5 frames" in survey.description["warning"]


# Colour

RED_AND_BLUE = {"601": (0.299, 0.114), "709": (0.2126, 0.0722)}
SLOPE = np.tile(np.linspace(60, 200, 96).astype(np.uint8), (64, 1))
BLUE, RED = 100, 165
UNSPECIFIED = 2


def formula(
    luma: NDArray[np.uint8], blue: int, red: int, matrix: str, *, full: bool
) -> NDArray[np.float64]:
    """Return R'G'B' from Y'CbCr in 0..255, as in ITU-R BT.601 and BT.709."""
    k_red, k_blue = RED_AND_BLUE[matrix]
    y = luma.astype(float) if full else (luma - 16.0) * 255 / 219
    scale = 1.0 if full else 255 / 224
    cb, cr = (blue - 128) * scale, (red - 128) * scale
    r, b = y + 2 * (1 - k_red) * cr, y + 2 * (1 - k_blue) * cb
    g = (y - k_red * r - k_blue * b) / (1 - k_red - k_blue)
    return np.clip(np.stack((r, g, b), axis=-1), 0, 255)


def flat_colour(pixels: str, matrix_tag: int, range_tag: int) -> av.VideoFrame:
    """Return a frame with a luma gradient and a constant colour."""
    frame = av.VideoFrame(96, 64, pixels)
    planes = [SLOPE, np.full((32, 48), BLUE, np.uint8), np.full((32, 48), RED, np.uint8)]
    for plane, values in zip(frame.planes, planes, strict=True):
        padded = np.zeros((values.shape[0], plane.line_size), np.uint8)
        padded[:, : values.shape[1]] = values
        plane.update(padded.tobytes())
    frame.colorspace, frame.color_range = matrix_tag, range_tag
    return frame


@pytest.mark.parametrize(
    ("pixels", "matrix_tag", "range_tag", "matrix", "full"),
    [
        ("yuv420p", UNSPECIFIED, 0, "601", False),
        ("yuv420p", UNSPECIFIED, 2, "601", True),
        ("yuv420p", 1, 0, "709", False),
        ("yuv420p", 1, 2, "709", True),
        ("yuv420p", 5, 1, "601", False),
        ("yuv420p", 6, 1, "601", False),
        ("yuvj420p", UNSPECIFIED, 0, "601", True),
    ],
)
def test_colours_are_converted_by_the_tags(
    pixels: str, matrix_tag: int, range_tag: int, matrix: str, full: bool
) -> None:
    values = ToRGB()(flat_colour(pixels, matrix_tag, range_tag))
    assert values is not None
    assert values.dtype == np.uint8
    # libswscale errs by up to three; matrices and ranges differ by much more.
    np.testing.assert_allclose(values, formula(SLOPE, BLUE, RED, matrix, full=full), atol=3)


@pytest.mark.parametrize(
    ("matrix_tag", "range_tag", "words", "matrix"),
    [
        (1, 1, "BT.709 (tagged), limited range (tagged)", "709"),
        (6, 1, "BT.601 (tagged), limited range (tagged)", "601"),
        (UNSPECIFIED, 0, "BT.601 (assumed), limited range (assumed)", "601"),
    ],
)
def test_the_description_names_the_colour_conversion(
    matrix_tag: int, range_tag: int, words: str, matrix: str, tmp_path: Path
) -> None:
    kind = VideoKind("a.mp4", "libx264", {"crf": "1"})
    pictures = [flat_colour("yuv420p", matrix_tag, range_tag) for _ in range(3)]
    survey, frames = read(write_video(tmp_path / kind.name, kind, [pictures], [0, 0.2, 0.4]))
    assert survey.description["colour"] == words
    pixels = frames[0].pixels
    assert pixels is not None
    np.testing.assert_allclose(pixels, formula(SLOPE, BLUE, RED, matrix, full=False), atol=4)


def test_one_converter_accepts_frames_of_any_size() -> None:
    rgb = ToRGB()
    for rows, cols in ((64, 96), (32, 48), (64, 96)):
        pixels = np.full((rows, cols, 3), 90, np.uint8)
        frame = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format="yuv420p")
        converted = rgb(frame)
        assert converted is not None
        assert converted.shape == (rows, cols, 3)
