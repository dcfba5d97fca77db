"""Truncated files and lost frames are reported, intact files are not."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import pytest
from av.video.stream import VideoStream

from capsieve.sources.base import Place, Survey
from capsieve.sources.video_source import VideoSource
from support.videos import KINDS, VideoKind, make_video, picture, steady

pytestmark = pytest.mark.usefixtures("short_segments")

Sample = Callable[[str], Path]
M2TS = VideoKind(
    "a.mts",
    "libx264",
    KINDS["ts-h264"].options,
    3,
    "mpegts",
    container_options={"mpegts_m2ts_mode": "1"},
)
WMV = VideoKind("a.wmv", "wmv2", rate=25)
FRAGMENTED = VideoKind(
    "f.mp4",
    "libx264",
    KINDS["mp4-h264"].options,
    3,
    container_options={"movflags": "frag_keyframe+empty_moov"},
)


def survey(path: Path) -> Survey:
    return VideoSource(Place("video", str(path))).survey()


def frames(found: Survey) -> int:
    return sum(segment.frames for segment in found.segments)


def text(found: Survey) -> str:
    return "; ".join(problem.what for problem in found.problems)


def is_damaged(path: Path) -> bool:
    """Return whether decoding shows damage."""
    source = VideoSource(Place("video", str(path)))
    return any(f.problem for segment in source.survey().segments for f in source.frames(segment))


def cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: round(len(content) * share)])


def spoil(path: Path, start: float, length: int, *, zeros: bool = False) -> None:
    content = bytearray(path.read_bytes())
    first = round(len(content) * start)
    content[first : first + length] = bytes(length) if zeros else random.Random(1).randbytes(length)
    path.write_bytes(content)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_intact_files_have_no_problem(kind: str, sample: Sample) -> None:
    found = survey(sample(kind))
    assert "warning" not in found.description
    assert found.problems == ()
    assert "warning" not in found.description


def test_what_only_resembles_damage_is_no_problem(tmp_path: Path) -> None:
    # A transport stream with packets of 192 bytes, in which sync bytes are 188 bytes apart.
    path = make_video(tmp_path, M2TS, rows=128, cols=128)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 192 * 192
    for place in range(middle + 100, middle + 900, 188):
        content[place] = 0x47
    path.write_bytes(content)
    assert survey(path).problems == ()
    # Bytes after the end of a program stream.
    path = make_video(tmp_path, "mpeg-mpeg2")
    path.write_bytes(path.read_bytes() + b"\0\0\1\xb9" + bytes(5000))
    assert survey(path).problems == ()
    # Boxes of other specifications.
    path = make_video(tmp_path, FRAGMENTED)
    path.write_bytes(path.read_bytes() + b"\0\0\0\x10abcd01234567")
    assert survey(path).problems == ()


@pytest.mark.parametrize("share", [0.4, 0.8])
@pytest.mark.parametrize(
    "kind",
    [
        "mp4-h264-faststart",
        "avi-mjpeg",
        "avi-mpeg4",
        "mkv-h264",
        "ts-h264",
        M2TS,
        "mpeg-mpeg2",
        WMV,
        FRAGMENTED,
    ],
)
def test_truncated_files_are_reported(kind: str | VideoKind, share: float, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind, rows=128, cols=128)
    assert survey(path).problems == ()
    cut(path, share)
    found = survey(path)
    assert 0 < frames(found) < 60
    assert "cut off" in text(found)


def write_with_pause(path: Path, **options: str) -> None:
    """Write 600 frames at 5 frames/s with a pause of 60 s after frame 75."""
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream("libx264", rate=5)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        stream.options = {"preset": "ultrafast"}
        stream.codec_context.gop_size = 25
        stream.codec_context.time_base = Fraction(1, 1000)
        for number in range(600):
            pixels = picture(number, rows=64, cols=64)
            frame = av.VideoFrame.from_ndarray(pixels, "rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = number * 200 + 60_000 * (number > 75), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def test_a_truncated_matroska_file_with_a_long_pause_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    write_with_pause(path)
    assert survey(path).problems == ()
    cut(path, 0.25)
    found = survey(path)
    assert 75 < frames(found) < 250
    assert "cut off" in text(found)
    assert found.problems[-1].time is not None


def test_a_matroska_file_of_unknown_length_gets_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    write_with_pause(path, live="1")
    found = survey(path)
    assert found.problems == ()
    assert "does not declare its length" in found.description["warning"]
    assert frames(found) == 600
    path.write_bytes(path.read_bytes()[:-50])
    assert "cut off" in text(survey(path))


@pytest.mark.parametrize("kind", ["mp4-h264-faststart", "mkv-h264"])
def test_the_time_of_a_truncation_is_that_of_the_last_frame(kind: str, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind, times=steady(60, 5))
    cut(path, 0.5)
    source = VideoSource(Place("video", str(path)))
    found = source.survey()
    times = [frame.time for segment in found.segments for frame in source.expected(segment)]
    assert found.problems[-1].time == pytest.approx(times[-1])


@pytest.mark.parametrize("declared", [50, 70])
def test_a_wrong_number_of_frames_is_not_trusted(declared: int, tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    content = bytearray(path.read_bytes())
    for position in (content.index(b"avih") + 24, content.index(b"strh") + 40):
        assert content[position : position + 4] == (60).to_bytes(4, "little")
        content[position : position + 4] = declared.to_bytes(4, "little")
    path.write_bytes(content)
    found = survey(path)
    assert (found.declared, frames(found)) == (declared, 60)
    message = text(found) if declared > 60 else found.description["warning"]
    assert f"declares {declared} frames and contains 60" in message


def test_a_repeated_entry_of_the_index_of_avi_is_no_repeated_frame(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    content = bytearray(path.read_bytes())
    entry = content.index(b"idx1") + 8 + 16 * 20
    content[entry : entry + 16] = content[entry - 16 : entry]
    path.write_bytes(content)
    found = survey(path)
    assert frames(found) == 59
    assert "declares 60 frames and contains 59" in text(found)


def test_the_time_of_a_loss_is_omitted_if_it_is_unknown(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg", times=steady(240))
    spoil(path, 0.5, 120_000, zeros=True)
    (problem,) = survey(path).problems
    assert "declares 240 frames" in problem.what
    assert problem.time is None


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("length", [10, 200, 1500, 6000])
@pytest.mark.parametrize(
    "kind", ["mkv-h264", "mkv-h264-open", "ts-h264", M2TS, "ts-mpeg2", "mpeg-mpeg2"]
)
def test_lost_frames_are_reported(
    kind: str | VideoKind, length: int, zeros: bool, tmp_path: Path
) -> None:
    path = make_video(tmp_path, kind, rows=128, cols=128)
    original = path.read_bytes()
    for start in (0.3, 0.45, 0.5, 0.62, 0.77):
        spoil(path, start, length, zeros=zeros)
        found = survey(path)
        assert found.problems or frames(found) == 60 or is_damaged(path)
        path.write_bytes(original)


@pytest.mark.parametrize("kind", ["mkv-h264", "ts-h264", "ts-mpeg2", "mpeg-mpeg2"])
@pytest.mark.parametrize("length", [188, 1000, 5 * 188])
def test_removed_bytes_are_reported(kind: str, length: int, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind, rows=128, cols=128)
    content = path.read_bytes()
    for start in range(len(content) // 3, 2 * len(content) // 3, len(content) // 20):
        path.write_bytes(content[:start] + content[start + length :])
        found = survey(path)
        assert found.problems or frames(found) == 60 or is_damaged(path)


def test_a_loss_in_the_middle_has_its_time(tmp_path: Path) -> None:
    path = make_video(tmp_path, "ts-h264", rows=128, cols=128)
    spoil(path, 0.5, 600)
    problem = survey(path).problems[0]
    assert "damaged here" in problem.what
    assert problem.time == pytest.approx(1.2, abs=0.6)


@pytest.mark.parametrize("share", [0.8, 0.5])
def test_a_zeroed_end_of_asf_is_reported(tmp_path: Path, share: float) -> None:
    path = make_video(tmp_path, WMV, rows=128, cols=128)
    spoil(path, share, round(path.stat().st_size * (1 - share)), zeros=True)
    found = survey(path)
    assert 0 < frames(found) < 60
    assert "damaged here" in text(found)


def test_lost_frames_of_asf_are_reported(tmp_path: Path) -> None:
    path = make_video(tmp_path, WMV, rows=128, cols=128, streams=2)
    original = path.read_bytes()
    assert survey(path).problems == ()
    for start in range(1500, len(original), 777):
        path.write_bytes(original[:start] + bytes(100) + original[start + 100 :])
        found = survey(path)
        assert found.problems or frames(found) == 60 or is_damaged(path)


def boxes(content: bytes, kind: bytes) -> list[tuple[int, int]]:
    """Return start and end of the top-level boxes of a kind."""
    found, start = [], 0
    while start < len(content):
        end = start + int.from_bytes(content[start : start + 4])
        if content[start + 4 : start + 8] == kind:
            found.append((start, end))
        start = end
    return found


@pytest.mark.parametrize("flags", ["frag_keyframe+empty_moov", "frag_keyframe"])
def test_missing_fragments_are_reported(tmp_path: Path, flags: str) -> None:
    path = make_video(tmp_path, replace(FRAGMENTED, container_options={"movflags": flags}))
    content = path.read_bytes()
    intact = survey(path)
    assert (intact.problems, intact.declared) == ((), None)
    assert "warning" not in intact.description
    fragments, media = boxes(content, b"moof"), boxes(content, b"mdat")
    # A cut after any fragment, also after the frames before the first one.
    for _, end in media[:-1]:
        path.write_bytes(content[:end])
        assert "may be incomplete" in survey(path).description["warning"]
    # One fragment less.
    path.write_bytes(content[: fragments[1][0]] + content[fragments[2][0] :])
    assert "fragments of the video are missing" in text(survey(path))


def test_a_fragment_without_its_frames_is_reported(tmp_path: Path) -> None:
    path = make_video(tmp_path, FRAGMENTED)
    content = path.read_bytes()
    start, _ = boxes(content, b"moof")[2]
    at = content.index(b"traf", start)
    path.write_bytes(content[:at] + b"free" + content[at + 4 :])
    found = survey(path)
    assert frames(found) < 60
    assert "belong to no frame" in text(found)
