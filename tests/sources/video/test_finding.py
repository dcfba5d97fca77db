"""Finding a segment again: by seeking, by counting, with packets kept or read twice."""

from collections.abc import Callable
from pathlib import Path

import pytest

from capsieve.errors import FileError
from capsieve.sources.source import Place
from capsieve.sources.video import Video, finding
from capsieve.sources.video.finding import segment_packets
from support.videos import make_video

Sample = Callable[[str], Path]


def contents(path: Path) -> list[list[bytes]]:
    survey = Video(Place("video", str(path))).survey(least=10)
    found: list[list[bytes]] = []
    for segment in survey.segments:
        with segment_packets(str(path), 0, segment) as (_, packets):
            found.append([bytes(packet) for packet in packets])
    return found


@pytest.mark.parametrize("kind", ["mp4-h264-open", "avi-mjpeg", "mpeg-mpeg2", "ts-h264"])
def test_every_way_finds_the_same_packets(
    kind: str, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    sought = contents(sample(kind))
    assert len(sought) > 2
    monkeypatch.setattr(finding, "_STEPS_BACK", ())
    assert contents(sample(kind)) == sought
    monkeypatch.setattr(finding, "_MOST_KEPT", 0)
    assert contents(sample(kind)) == sought


def test_a_change_after_the_check_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(finding, "_MOST_KEPT", 0)
    path = make_video(tmp_path, "avi-mjpeg", rows=256, cols=256)
    (segment,) = Video(Place("video", str(path))).survey().segments
    with segment_packets(str(path), 0, segment) as (_, packets):
        next(packets)
        content = bytearray(path.read_bytes())
        assert len(content) > 100_000  # more than is read ahead
        content[-30_000:-20_000] = bytes(10_000)
        path.write_bytes(content)
        with pytest.raises(FileError, match="changed while it was being read"):
            list(packets)
