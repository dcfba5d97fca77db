"""A long video: a short clip of a turning polyp, shown over and over."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from support.polyp_frames import polyp_frame
from support.videos import KINDS, write_video

__all__ = ["CLIP", "FRAMES", "SIZE", "looped"]

FRAMES = 50_000
SIZE = 576
CLIP = 120
_RATE = 25


@cache
def _base_frame() -> NDArray[np.uint8]:
    whole = cv2.resize(polyp_frame(), (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    return np.asarray(whole, np.uint8)


def _clip_frame(number: int) -> NDArray[np.uint8]:
    turn = cv2.getRotationMatrix2D((SIZE / 2, SIZE / 2), 1.5 * number, 1.0 + 0.002 * number)
    turned = cv2.warpAffine(_base_frame(), turn, (SIZE, SIZE), borderMode=cv2.BORDER_REFLECT)
    noise = np.random.default_rng(number).normal(0, 3, (SIZE, SIZE, 1))
    return np.clip(turned + noise, 0, 255).astype(np.uint8)


def looped(folder: Path, *, apart: int, frames: int) -> Path:
    """Write a video of a clip that is shown over and over, with key frames `apart`."""
    more = f"scenecut=0:keyint={apart}:min-keyint={apart}:bframes=2:b-adapt=0:threads=1"
    kind = replace(KINDS["mp4-h264"], options={"preset": "veryfast", "x264-params": more})
    pictures = [
        av.VideoFrame.from_ndarray(_clip_frame(n), "rgb24").reformat(format="yuv420p")
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
