"""A frame is exactly the one that was screened, in any order of reading, or it is refused."""

import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frames import pixel_hash
from capsieve.sources.base import PacketTable, Place, SourceFrame, open_source
from capsieve.sources.reader import FrameReader
from support.stored_images import image_bytes, write_files, write_zip
from support.videos import KINDS, VideoKind, make_video, steady

Sample = Callable[[str], Path]
SMALL = 30_000  # bytes; about three pictures


def screened(place: Place, **options: Any) -> tuple[FrameReader, list[SourceFrame]]:
    """Return a reader and the frames as screening decodes them."""
    source = open_source(place)
    survey = source.survey()
    frames = [frame for segment in survey.segments for frame in source.frames(segment)]
    hashes = [None if f.pixels is None else pixel_hash(f.pixels) for f in frames]
    columns = {
        "file": pa.array([frame.file for frame in frames], pa.string()),
        "packet": pa.array([frame.packet for frame in frames], pa.int64()),
        "pixel_hash": pa.array(hashes, pa.string()),
    }
    options |= {"packets": survey.packets, "description": survey.description}
    return source.reader(pa.table(columns), **options), frames


def video(path: Path, **options: Any) -> tuple[FrameReader, list[SourceFrame]]:
    return screened(Place("video", str(path)), **options)


def assert_reads(reader: FrameReader, frames: list[SourceFrame], numbers: list[int]) -> None:
    for number in numbers:
        expected: NDArray[Any] | None = frames[number].pixels
        if expected is None:
            with pytest.raises(FileError, match=f"frame {number} of .* could not be decoded"):
                reader.pixels(number)
        else:
            np.testing.assert_array_equal(reader.pixels(number), expected)


def orders(count: int, seed: int = 0) -> dict[str, list[int]]:
    numbers = list(range(count))
    shuffled = random.Random(seed).sample(numbers, count)
    return {"forward": numbers, "backward": numbers[::-1], "random": shuffled}


# Videos


def write_stamps(original: Path, name: str, change: Callable[[int, int], int]) -> Path:
    """Copy the packets of a video, with other time stamps: change(number, stamp)."""
    path = original.with_name(name)
    with av.open(str(original)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for number, packet in enumerate(p for p in source.demux(video=0) if p.size):
            assert packet.pts is not None
            packet.pts = packet.dts = change(number, packet.pts)
            packet.stream = stream
            target.mux(packet)
    return path


OTHERS = {
    "mov-h264": VideoKind("a.mov", "libx264", KINDS["mp4-h264"].options, 3),
    "mov-mjpeg": VideoKind("a.mov", "mjpeg", rate=25, pixels="yuvj420p"),
    "mp4-fragmented": VideoKind(
        "a.mp4",
        "libx264",
        KINDS["mp4-h264"].options,
        3,
        container_options={"movflags": "frag_keyframe+empty_moov"},
    ),
    "avi-h264": VideoKind(
        "a.avi", "libx264", {"x264-params": "keyint=10:min-keyint=10:scenecut=0:bframes=0"}, rate=25
    ),
    "m2v": VideoKind("a.m2v", "mpeg2video", b_frames=2, container="mpeg2video", rate=25),
}


@pytest.mark.parametrize("cache_bytes", [256_000_000, SMALL, 1])
@pytest.mark.parametrize("kind", sorted(KINDS | OTHERS))
def test_frames_of_videos_are_read_in_any_order(
    kind: str, cache_bytes: int, tmp_path: Path
) -> None:
    path = make_video(tmp_path, (KINDS | OTHERS)[kind])
    for numbers in orders(60).values():
        reader, frames = video(path, cache_bytes=cache_bytes)
        with reader:
            assert_reads(reader, frames, numbers if cache_bytes > SMALL else numbers[:20])


def test_frames_with_equal_time_stamps_are_distinguished(tmp_path: Path) -> None:
    original = make_video(tmp_path, VideoKind("a.mkv", "mpeg4", rate=25))
    path = write_stamps(original, "b.mkv", lambda number, stamp: stamp - 40 * (number % 7 == 3))
    reader, frames = video(path)
    times = [frame.time for frame in frames]
    assert len(set(times)) < len(times) == 60
    assert len({frame.pixels.tobytes() for frame in frames if frame.pixels is not None}) == 60
    with reader:
        assert_reads(reader, frames, orders(60)["random"])


@pytest.mark.parametrize("kind", ["mp4-h264", "mp4-h264-open", "avi-mjpeg", "mkv-h264", "ts-mpeg2"])
def test_damaged_videos_never_give_another_frame(kind: str, tmp_path: Path) -> None:
    path = make_video(tmp_path, kind)
    original = path.read_bytes()
    for seed in range(8):
        chance = random.Random(seed)
        content = bytearray(original)
        for _ in range(seed + 1):
            content[chance.randrange(len(content) // 4, 3 * len(content) // 4)] ^= 1 << seed
        path.write_bytes(content)
        reader, frames = video(path)
        with reader:
            assert_reads(reader, frames, orders(len(frames), seed)["random"])


def test_frames_of_many_segments_are_read_despite_damage(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mp4-h264-open", times=steady(720))
    content = bytearray(path.read_bytes())
    for place in range(len(content) // 5, 4 * len(content) // 5, len(content) // 40):
        content[place] ^= 0x55
    path.write_bytes(content)
    reader, frames = video(path)
    assert any(frame.problem for frame in frames)
    with reader:
        assert_reads(reader, frames, orders(720)["random"][:200])


def test_two_streams_are_distinguished(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mkv-h264", streams=2)
    for stream in (0, 1):
        reader, frames = screened(Place("video", str(path), stream, stream))
        with reader:
            assert_reads(reader, frames, [40, 3, 59])


def test_a_key_frame_is_at_or_before_the_frame(sample: Sample) -> None:
    reader, frames = video(sample("mp4-h264-open"))
    keys = [reader.key_frame(number) for number in range(60)]
    assert len(set(keys)) == 6
    assert all(key <= number for number, key in enumerate(keys))
    assert [reader.key_frame(key) for key in keys] == keys
    assert keys == sorted(keys)
    with reader:
        assert_reads(reader, frames, keys)


@pytest.mark.parametrize("packet", [None, 0, 7])
def test_a_frame_without_its_packet_is_refused(packet: int | None, sample: Sample) -> None:
    frames = pa.table(
        {
            "file": pa.array([None], pa.string()),
            "packet": pa.array([packet], pa.int64()),
            "pixel_hash": ["0" * 32],
        }
    )
    none = PacketTable(*(np.zeros(0, np.int64) for _ in range(6)))  # pyright: ignore
    place = Place("video", str(sample("mp4-h264")))
    with open_source(place).reader(frames, packets=none, description={}) as reader:
        assert reader.key_frame(0) == 0
        with pytest.raises(FileError, match="is not the one that was screened"):
            reader.pixels(0)


def test_stored_order_is_that_of_the_packets(sample: Sample) -> None:
    reader, frames = video(sample("mp4-h264"))
    ordered = reader.in_stored_order([9, 3, 7, 40, 1])
    assert sorted(ordered) == [1, 3, 7, 9, 40]
    packets = [frames[number].packet or 0 for number in ordered]
    assert packets == sorted(packets)


def test_threads_may_share_a_reader(sample: Sample) -> None:
    reader, frames = video(sample("mkv-h264-open"), cache_bytes=SMALL)
    with reader, ThreadPoolExecutor(4) as pool:
        numbers = orders(60)["random"]
        found = list(pool.map(reader.pixels, numbers))
    for number, pixels in zip(numbers, found, strict=True):
        np.testing.assert_array_equal(pixels, frames[number].pixels)


def test_a_caller_may_change_the_pixels(sample: Sample) -> None:
    reader, frames = video(sample("avi-mjpeg"))
    with reader:
        reader.pixels(3)[:] = 0
        assert_reads(reader, frames, [3])


def test_videos_have_no_stored_file(sample: Sample) -> None:
    reader, _ = video(sample("avi-mjpeg"))
    assert reader.stored_file(3) is None


@pytest.mark.parametrize("change", [{"rows": 80}, {"times": steady(10)}, {"times": steady(70, 7)}])
@pytest.mark.parametrize("kind", ["mp4-h264", "raw-h264"])
def test_another_video_is_refused(kind: str, change: dict[str, Any], tmp_path: Path) -> None:
    reader, _ = video(make_video(tmp_path, kind, times=steady(60)))
    if "times" in change:  # other pictures at the same numbers
        change = change | {"rows": 80}
    make_video(tmp_path, kind, **change)
    with reader, pytest.raises(FileError, match=r"frame 50 of .* has changed.*--overwrite"):
        reader.pixels(50)


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    path = make_video(tmp_path, "mp4-h264")
    reader, _ = video(path)
    path.unlink()
    with pytest.raises(FileError, match="no such file"):
        reader.pixels(1)


@pytest.mark.parametrize("frame", [-1, 60, 10**9])
def test_a_wrong_number_names_the_valid_ones(frame: int, sample: Sample) -> None:
    reader, _ = video(sample("mp4-h264"))
    with pytest.raises(FileError, match=f"no frame {frame}; frames are numbered 0 to 59"):
        reader.pixels(frame)


# Images


def images(folder: Path, kind: str, **changes: bytes | None) -> Place:
    files: dict[str, bytes | None] = {f"f{n}": image_bytes(40 * n) for n in range(4)}
    files = files | {"f4": b"no image"} | changes
    content = {f"{name}.png": data for name, data in files.items() if data is not None}
    if kind == "zip":
        return Place("zip", str(write_zip(folder / "exam.zip", content)))
    for old in (folder / "exam").glob("*"):
        old.unlink()
    return Place("folder", str(write_files(folder / "exam", content)))


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_frames_of_images_are_read_in_any_order(kind: str, tmp_path: Path) -> None:
    place = images(tmp_path, kind)
    reader, frames = screened(place)
    with reader:
        assert_reads(reader, frames, [3, 0, 2, 4, 1])
        assert reader.stored_file(2) == image_bytes(80)
        assert reader.key_frame(3) == 3
        assert reader.in_stored_order([3, 1, 2]) == [1, 2, 3]


@pytest.mark.parametrize("content", [image_bytes(7), b"no image", None])
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_changed_images_are_refused_and_others_are_not(
    kind: str, content: bytes | None, tmp_path: Path
) -> None:
    place = images(tmp_path, kind)
    reader, frames = screened(place)
    images(tmp_path, kind, f1=content)
    with reader:
        for method in (reader.pixels, reader.stored_file):
            with pytest.raises(FileError, match=r"frame 1 of .* has changed|f1\.png"):
                method(1)
        assert_reads(reader, frames, [0, 2])


def test_reading_continues_after_the_file_was_missing(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / "video.mp4"
    shutil.copy(sample("mp4-h264"), path)
    reader, frames = video(path, cache_bytes=0)
    away = path.rename(tmp_path / "away.mp4")
    away.rename(path)
    for number in (len(frames) - 2, 3):  # in the middle of two runs of decoding
        assert_reads(reader, frames, [number])
        path.rename(away)
        with pytest.raises(FileError, match=r"video\.mp4"):
            reader.pixels(0)  # opens the file again
        away.rename(path)
        assert_reads(reader, frames, [number + 1])


@pytest.mark.parametrize("kind", ["mp4-h264", "mkv-h264", "avi-mpeg4-b", "avi-h264-b", "ts-h264"])
def test_a_reader_survives_whatever_happens_to_its_file_and_recovers(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "share").mkdir()
    path = make_video(tmp_path / "share", kind)
    content = path.read_bytes()
    other = make_video(tmp_path, KINDS[kind], rows=48, cols=48).read_bytes()
    reader, frames = video(path, cache_bytes=SMALL)
    numbers = random.Random(3).sample(range(len(frames)), 12)

    def read(*, recovered: bool = False) -> None:
        for number in numbers:
            try:
                np.testing.assert_array_equal(reader.pixels(number), frames[number].pixels)
            except FileError:
                assert not recovered

    def store(data: bytes) -> None:
        new = path.with_name("new")
        new.write_bytes(data)
        new.replace(path)

    with reader:
        read(recovered=True)
        for damage in (other, b"", content[: len(content) // 2], bytes(len(content)), b"text" * 99):
            store(damage)
            read()
            store(content)
            read(recovered=True)
            path.write_bytes(damage)  # in the open file
            read()
            path.write_bytes(content)
            read(recovered=True)
        path.parent.rename(tmp_path / "unmounted")
        read()
        (tmp_path / "unmounted").rename(path.parent)
        read(recovered=True)
        path.unlink()
        path.mkdir()
        read()
        path.rmdir()
        path.write_bytes(content)
        read(recovered=True)
