"""Small exams with a polyp on some frames, and the tables of screened exams."""

from pathlib import Path

import av
import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image

from capsieve.store.schema import TABLES
from support.polyp_frames import polyp_frame
from support.videos import KINDS, write_video

__all__ = ["exam_frame", "read_frames", "table_bytes", "write_exam_images", "write_exam_video"]

_SIZE = 96
_TABLES = tuple(f"{name}.parquet" for name in TABLES)

_POLYP = cv2.resize(polyp_frame(), (_SIZE, _SIZE), interpolation=cv2.INTER_AREA)


def exam_frame(number: int) -> NDArray[np.uint8]:
    """Return a frame: of every 20, six show a rotated polyp, four are smooth, ten are noise."""
    place = number % 20
    if place < 6:
        turn = cv2.getRotationMatrix2D((_SIZE / 2, _SIZE / 2), 11.0 * number, 1.0)
        turned = cv2.warpAffine(_POLYP, turn, (_SIZE, _SIZE), borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(turned, np.uint8)
    if place < 10:
        return np.full((_SIZE, _SIZE, 3), 60 + number % 100, np.uint8)
    return np.random.default_rng(number).integers(0, 255, (_SIZE, _SIZE, 3), np.uint8)


def write_exam_video(path: Path, frames: int, *, streams: int = 1) -> Path:
    """Write an exam as H.264 in MP4, with a variable frame rate."""
    times = np.cumsum([0.25 if number % 100 < 50 else 0.03 for number in range(frames)]).tolist()
    images = [
        [
            av.VideoFrame.from_ndarray(exam_frame(n + 7 * s), "rgb24").reformat(format="yuv420p")
            for n in range(frames)
        ]
        for s in range(streams)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_video(path, KINDS["mp4-h264"], images, times)


def write_exam_images(folder: Path, frames: int) -> Path:
    """Write an exam as a folder of PNG files."""
    folder.mkdir(parents=True)
    for number in range(frames):
        Image.fromarray(exam_frame(number)).save(folder / f"frame{number}.png")
    return folder


def read_frames(folder: Path) -> pa.Table:
    """Return the table of frames of a screened exam."""
    return pq.read_table(folder / "frames.parquet")


def table_bytes(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all tables."""
    return {name: (folder / name).read_bytes() for name in _TABLES}
