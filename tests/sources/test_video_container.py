"""Files that are not videos, or that could do harm, are refused; streams are described."""

from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition
from PIL import Image

from capsieve.errors import FileError
from capsieve.sources.base import Place
from capsieve.sources.video_container import is_video_name, video_streams
from capsieve.sources.video_source import VideoSource
from support.videos import make_audio, make_video, picture


def refused(path: Path) -> str:
    """Return the message of the refusal, which must come from both ways of opening a file."""
    with pytest.raises(FileError) as listing:
        video_streams(path)
    with pytest.raises(FileError) as reading:
        VideoSource(Place("video", str(path))).survey()
    for error in (listing, reading):
        message = str(error.value)
        assert message.startswith(f"cannot read {path}: ")
        assert "; " in message
        assert "\n" not in message
    return str(reading.value)


def test_a_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    path.write_text("not a video\n" * 100)
    assert "not a video" in refused(path)


def test_a_playlist_is_refused(tmp_path: Path) -> None:
    segment = make_video(tmp_path, "ts-h264")
    path = tmp_path / "x.mp4"
    path.write_text(
        f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{segment.name}\n"
        "#EXT-X-ENDLIST\n"
    )
    assert "not a video" in refused(path)
    assert "not a video" in refused(path.rename(tmp_path / "x.m3u8"))


def test_a_list_of_files_is_refused(tmp_path: Path) -> None:
    make_video(tmp_path, "mp4-h264")
    path = tmp_path / "x.ffconcat"
    path.write_text("ffconcat version 1.0\nfile a.mp4\n")
    assert "not a video" in refused(path)


def test_a_name_is_never_taken_for_a_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_video(tmp_path, "mp4-h264")
    monkeypatch.chdir(tmp_path)
    path.rename("concat:a.mp4|b.mp4")
    assert video_streams("concat:a.mp4|b.mp4") == (0,)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").touch()
    assert "empty" in refused(tmp_path / "x.mp4")


def test_sound_without_video_is_refused(tmp_path: Path) -> None:
    assert "no video in it" in refused(make_audio(tmp_path / "x.mp4"))


def test_a_single_image_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(path, format="JPEG")
    assert "not a video" in refused(path)


def test_a_video_without_frames_is_refused(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mp4-h264-faststart")
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b"mdat") + 4])
    with pytest.raises(FileError, match="contains no frame"):
        VideoSource(Place("video", str(path))).survey()


def test_an_mp4_without_its_index_is_reported_as_cut_off(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mp4-h264")
    path.write_bytes(path.read_bytes()[:-2000])
    assert "cut off" in refused(path)
    path.write_bytes(b"\0\0\0\1mdat" + b"\xff" * 99)  # declares more bytes than files can have
    assert "cut off" in refused(path)


def test_a_stream_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mp4-h264")
    with pytest.raises(FileError, match="stream 3"):
        VideoSource(Place("video", str(path), stream=3)).survey()


START_OF_FRAME = bytes.fromhex("ffc0001108")


def test_frames_with_too_long_a_side_are_refused(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg", times=[0.0], rows=32, cols=16_400)
    with pytest.raises(FileError, match="16400 x 32 pixels"):
        VideoSource(Place("video", str(path))).survey()


@pytest.mark.parametrize("side", [5_000, 16_000])
def test_single_pictures_that_are_too_large_are_not_decoded(side: int, tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    content = bytearray(path.read_bytes())
    places = [place for place in range(len(content)) if content.startswith(START_OF_FRAME, place)]
    place = places[40] + len(START_OF_FRAME)
    content[place : place + 4] = side.to_bytes(2, "big") * 2
    path.write_bytes(content)
    source = VideoSource(Place("video", str(path)))
    frames = [frame for segment in source.survey().segments for frame in source.frames(segment)]
    assert [number for number, frame in enumerate(frames) if frame.pixels is None] == [40]
    assert "decoder" in frames[40].problem


def test_cover_art_is_not_a_video_stream(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=25)
        cover = container.add_stream("mjpeg", rate=25)
        cover.disposition = Disposition.attached_pic
        for stream, pixels in ((video, "yuv420p"), (cover, "yuvj420p")):
            stream.width, stream.height, stream.pix_fmt = 64, 64, pixels
        for number in range(3):
            frame = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8))
            frame.pts = number
            container.mux(video.encode(frame.reformat(format="yuv420p")))
            if number == 0:
                container.mux(cover.encode(frame.reformat(format="yuvj420p")))
                container.mux(cover.encode(None))
        container.mux(video.encode(None))
    assert video_streams(path) == (0,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.MP4", True), ("b.avi", True), ("c.mpeg", True), ("d.png", False), ("mp4", False)],
)
def test_videos_are_recognised_by_their_endings(name: str, expected: bool) -> None:
    assert is_video_name(name) is expected


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("ending", ["mjpeg", "MJPG"])
def test_a_file_of_jpeg_images_is_a_video(tmp_path: Path, ending: str, count: int) -> None:
    # FFmpeg takes a file that begins with a JPEG header (JFIF) for a single image.
    path = tmp_path / f"a.{ending}"
    with path.open("wb") as file:
        for number in range(count):
            Image.fromarray(picture(number, rows=256, cols=256)).save(file, "JPEG")
    source = VideoSource(Place("video", str(path)))
    found = source.survey()
    assert sum(segment.frames for segment in found.segments) == count
    frames = [frame for segment in found.segments for frame in source.frames(segment)]
    assert all(frame.pixels is not None and not frame.problem for frame in frames)


def test_the_ending_of_motion_jpeg_does_not_decide_on_the_container(tmp_path: Path) -> None:
    path = make_video(tmp_path, "avi-mjpeg").rename(tmp_path / "a.mjpeg")
    assert video_streams(path) == (0,)
