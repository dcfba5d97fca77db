"""Small synthetic videos, made by PyAV."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.video.stream import VideoStream
from numpy.typing import NDArray

__all__ = ["KINDS", "VideoKind", "make_audio", "make_video", "picture", "steady", "write_video"]

_TICKS = Fraction(1, 90_000)
_ROWS, _COLS = 64, 96
_X264 = "scenecut=0:keyint=10:min-keyint=10:b-adapt=0:threads=1"


@dataclass(frozen=True)
class VideoKind:
    """A container and how to fill it.

    Attributes
    ----------
    name
        Name of the file.
    codec, options, b_frames
        The encoder and what it is told.
    container
        FFmpeg's name of the container; None: by the file's name.
    rate
        Frames per second where the container has a constant rate; else None.
    pixels
        The pixel format.
    container_options
        What the container's writer is told.
    """

    name: str
    codec: str
    options: dict[str, str] = field(default_factory=dict)
    b_frames: int = 0
    container: str | None = None
    rate: int | None = None
    pixels: str = "yuv420p"
    container_options: dict[str, str] = field(default_factory=dict)


def _x264(more: str) -> dict[str, str]:
    return {"preset": "veryfast", "x264-params": f"{_X264}:{more}"}


KINDS = {
    "mp4-h264": VideoKind("a.mp4", "libx264", _x264("bframes=3"), 3),
    "mp4-h264-open": VideoKind("a.mp4", "libx264", _x264("bframes=3:open-gop=1"), 3),
    "mp4-h264-faststart": VideoKind(
        "a.mp4", "libx264", _x264("bframes=3"), 3, container_options={"movflags": "faststart"}
    ),
    "mp4-mpeg4": VideoKind("a.mp4", "mpeg4", b_frames=2, rate=25),
    "mkv-h264": VideoKind("a.mkv", "libx264", _x264("bframes=3"), 3),
    "mkv-h264-open": VideoKind("a.mkv", "libx264", _x264("bframes=2:open-gop=1"), 2),
    "avi-mpeg4": VideoKind("a.avi", "mpeg4", rate=25),
    "avi-mpeg4-b": VideoKind("a.avi", "mpeg4", b_frames=2, rate=25),
    "avi-mjpeg": VideoKind("a.avi", "mjpeg", rate=25, pixels="yuvj420p"),
    "mpeg-mpeg2": VideoKind("a.mpg", "mpeg2video", b_frames=2, container="mpeg", rate=25),
    "ts-h264": VideoKind("a.ts", "libx264", _x264("bframes=3:open-gop=1"), 3, "mpegts"),
    "ts-mpeg2": VideoKind("a.ts", "mpeg2video", b_frames=2, container="mpegts", rate=25),
    "raw-mjpeg": VideoKind("a.mjpeg", "mjpeg", container="mjpeg", rate=25, pixels="yuvj420p"),
    # Without presentation times, or with wrong ones: only the decoder knows the order.
    "raw-h264": VideoKind("a.h264", "libx264", _x264("bframes=3"), 3, "h264"),
    "avi-h264-b": VideoKind("a.avi", "libx264", _x264("bframes=2"), 2, rate=25),
}


def picture(number: int, *, rows: int = _ROWS, cols: int = _COLS) -> NDArray[np.uint8]:
    """Return an RGB picture with slopes and a square, all of which move with the number."""
    row, col = np.mgrid[:rows, :cols]
    values = np.stack((row * 2 + number * 3, col * 2 + number * 5, row + col + number * 7), axis=-1)
    top, left = number * 5 % (rows - 16), number * 9 % (cols - 16)
    values[top : top + 16, left : left + 16] = 255 - 3 * (number % 60)
    return (values % 256).astype(np.uint8)


def steady(count: int, rate: float = 25) -> list[float]:
    """Return the times of frames at a constant rate."""
    return [number / rate for number in range(count)]


def write_video(
    path: Path,
    kind: VideoKind,
    frames: Sequence[Sequence[av.VideoFrame]],
    times: Sequence[float],
) -> Path:
    """Write a video with one stream for each sequence of frames."""
    ticks = Fraction(1, kind.rate) if kind.rate else _TICKS
    with av.open(
        str(path), "w", format=kind.container, options=kind.container_options
    ) as container:
        streams = []
        for pictures in frames:
            stream = container.add_stream(kind.codec, rate=kind.rate or 5)
            assert isinstance(stream, VideoStream)
            stream.width, stream.height = pictures[0].width, pictures[0].height
            stream.pix_fmt = pictures[0].format.name
            stream.options = dict[str, object](kind.options)
            context = stream.codec_context
            context.thread_count = 1
            context.time_base = ticks
            context.gop_size = 10
            context.max_b_frames = kind.b_frames
            context.colorspace = pictures[0].colorspace
            context.color_range = pictures[0].color_range
            streams.append(stream)
        for number, time in enumerate(times):
            for stream, pictures in zip(streams, frames, strict=True):
                frame = pictures[number]
                frame.pts, frame.time_base = round(time / ticks), ticks
                container.mux(stream.encode(frame))
        for stream in streams:
            container.mux(stream.encode(None))
    return path


def make_video(
    folder: Path,
    kind: str | VideoKind,
    *,
    times: Sequence[float] | None = None,
    streams: int = 1,
    rows: int = _ROWS,
    cols: int = _COLS,
) -> Path:
    """Write a video of moving pictures and return its path.

    Parameters
    ----------
    folder
        Where to put it.
    kind
        The name of one of :data:`KINDS`, or another one.
    times
        The time of each frame in seconds; 60 at 25 a second where not given.
    streams
        How many streams; their pictures differ.
    rows, cols
        Size of the pictures.
    """
    kind = KINDS[kind] if isinstance(kind, str) else kind
    times = steady(60) if times is None else times
    frames = [
        [
            av.VideoFrame.from_ndarray(
                picture(number + 100 * stream, rows=rows, cols=cols), format="rgb24"
            ).reformat(format=kind.pixels)
            for number in range(len(times))
        ]
        for stream in range(streams)
    ]
    return write_video(folder / kind.name, kind, frames, times)


def make_audio(path: Path) -> Path:
    """Write a file with sound and no picture."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000, layout="mono")
        assert isinstance(stream, AudioStream)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        sound.sample_rate = 8000
        container.mux(stream.encode(sound))
        container.mux(stream.encode(None))
    return path
