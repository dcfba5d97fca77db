"""An exam of 50,000 frames, made by looping a short clip: figures, and memory that stays flat."""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.phantom import polyp_frame
from capsieve.review.frames import ExamFrames, timeline_bytes
from sample_videos import KINDS, write_video

FRAMES = 50_000
SIZE = 576
CLIP = 120
_RATE = 25


@cache
def base_frame() -> NDArray[np.uint8]:
    whole = cv2.resize(polyp_frame(), (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    return np.asarray(whole, np.uint8)


def clip_frame(number: int) -> NDArray[np.uint8]:
    turn = cv2.getRotationMatrix2D((SIZE / 2, SIZE / 2), 1.5 * number, 1.0 + 0.002 * number)
    turned = cv2.warpAffine(base_frame(), turn, (SIZE, SIZE), borderMode=cv2.BORDER_REFLECT)
    noise = np.random.default_rng(number).normal(0, 3, (SIZE, SIZE, 1))
    return np.clip(turned + noise, 0, 255).astype(np.uint8)


def looped(folder: Path, *, apart: int, frames: int) -> Path:
    """Write a video of a clip that is shown over and over, with key frames `apart`."""
    more = f"scenecut=0:keyint={apart}:min-keyint={apart}:bframes=2:b-adapt=0:threads=1"
    kind = replace(KINDS["mp4-h264"], options={"preset": "veryfast", "x264-params": more})
    pictures = [
        av.VideoFrame.from_ndarray(clip_frame(n), "rgb24").reformat(format="yuv420p")
        for n in range(CLIP)
    ]
    clip = write_video(folder / "clip.mp4", kind, [pictures], [n / _RATE for n in range(CLIP)])
    path = folder / "long.mp4"
    with av.open(str(clip)) as read, av.open(str(path), "w") as written:
        stream = read.streams.video[0]
        copy = written.add_stream_from_template(stream)
        packets = [
            (bytes(packet), packet.pts, packet.dts, packet.is_keyframe)
            for packet in read.demux(stream)
            if packet.size and packet.pts is not None and packet.dts is not None
        ]
        base = stream.time_base or Fraction(1, 90_000)
        length = round(CLIP / _RATE / base)
        for turn in range(frames // CLIP):
            for content, pts, dts, key in packets:
                packet = av.Packet(content)
                packet.pts, packet.dts = pts + turn * length, dts + turn * length
                packet.time_base, packet.is_keyframe, packet.stream = base, key, copy
                written.mux(packet)
    return path


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


@pytest.mark.soak
@pytest.mark.parametrize(("apart", "frames"), [(60, FRAMES), (120, 2_400)])
def test_a_long_exam_is_read_in_any_order(
    apart: int, frames: int, tmp_path: Path, make_looped_exam
) -> None:
    path = looped(tmp_path, apart=apart, frames=frames)
    folder = tmp_path / "exam"
    count = make_looped_exam(folder, path, tmp_path / "clip.mp4")
    assert count == frames // CLIP * CLIP
    figures = {"index and proxy": timed(ExamFrames(folder).prepare)}
    opened = ExamFrames(folder)

    def again() -> None:
        nonlocal opened
        opened = ExamFrames(folder)
        opened.prepare()
        opened.frame(0, 0)

    figures["open, and show the first frame"] = timed(again)
    figures["timeline"] = timed(lambda: timeline_bytes(folder, head=0))
    places = np.random.default_rng(0).integers(0, count, 100).tolist()
    jumps = [timed(lambda n=n: opened.encoded(0, n)) for n in places]
    figures["jump, median"], figures["jump, 95 %"] = np.quantile(jumps, (0.5, 0.95)).tolist()
    middle = count // 2
    for name, step in (("forward", 1), ("backward", -1)):
        run = opened.numbers(0, middle + 600 * step, 300, step)
        figures[f"{name}, frames per second"] = 300_000 / timed(lambda r=run: opened.pack(0, r))
    for name, value in figures.items():
        print(f"{apart} apart, {count} frames: {name}: {value:.1f}")
    caches = opened._caches
    for number in range(min(count, 10_000)):
        opened.frame(0, number)
        assert caches.groups.bytes <= caches.groups.limit
        assert len(caches.groups) <= 1 + caches.groups.limit // (apart * SIZE * SIZE)
