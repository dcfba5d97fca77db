"""Damage of FFV1 frames is recognised by their checksums."""

import random
from pathlib import Path

import av
import pytest

from capsieve.sources.base import Place, SourceFrame
from capsieve.sources.ffv1_checks import is_damaged_ffv1
from capsieve.sources.video_source import VideoSource
from support.videos import VideoKind, make_video, steady

FRAMES = 20
CHECKED = {"level": "3", "slices": "4"}
KINDS = {
    "version 3": CHECKED,
    "without checksums": CHECKED | {"slicecrc": "0"},
    "version 1": {"level": "1"},
    "version 4": {"level": "4", "strict": "-2"},
}


def write(folder: Path, options: dict[str, str]) -> tuple[Path, list[bytes], bytes]:
    """Write a video; return its path, packets and description of the coding."""
    kind = VideoKind("a.mkv", "ffv1", options, rate=25)
    path = make_video(folder, kind, times=steady(FRAMES))
    with av.open(str(path)) as container:
        packets = [bytes(packet) for packet in container.demux() if packet.size]
        return path, packets, container.streams.video[0].codec_context.extradata or b""


def read(path: Path) -> list[SourceFrame]:
    source = VideoSource(Place("video", str(path)))
    return [frame for segment in source.survey().segments for frame in source.frames(segment)]


@pytest.mark.parametrize("kind", KINDS)
def test_intact_frames_have_no_problem(tmp_path: Path, kind: str) -> None:
    path, packets, extradata = write(tmp_path, KINDS[kind])
    assert not any(is_damaged_ffv1(packet, extradata) for packet in packets)
    assert [frame.problem for frame in read(path)] == [""] * FRAMES


def test_any_flipped_bit_of_a_frame_is_reported(tmp_path: Path) -> None:
    path, packets, extradata = write(tmp_path, CHECKED)
    content = path.read_bytes()
    random_numbers = random.Random(1)
    for number in (0, 7, 19):
        packet = changed = bytearray(packets[number])
        for place in random_numbers.sample(range(len(packet)), 20):
            changed = bytearray(packet)
            changed[place] ^= 1 << random_numbers.randrange(8)
            assert is_damaged_ffv1(bytes(changed), extradata)
        path.write_bytes(content.replace(packet, changed))
        frames = read(path)
        assert "damaged" in frames[number].problem
        assert not any(frame.problem for frame in frames[: max(number - 1, 0)])


def test_cut_and_empty_frames_are_damaged(tmp_path: Path) -> None:
    _, (packet, *_), extradata = write(tmp_path, CHECKED)
    assert is_damaged_ffv1(packet[:-1], extradata)
    assert is_damaged_ffv1(packet[:-40] + bytes(40), extradata)
    assert is_damaged_ffv1(b"", extradata)
