"""RGB against the formulas of BT.601 and BT.709, for tagged and untagged streams."""

from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.sources.source import Place
from capsieve.sources.video import Video
from capsieve.sources.video.colour import RGB
from support.videos import VideoKind, write_video

RED_AND_BLUE = {"601": (0.299, 0.114), "709": (0.2126, 0.0722)}


def formula(
    luma: NDArray[np.uint8], blue: int, red: int, matrix: str, *, full: bool
) -> NDArray[np.float64]:
    """ITU-R BT.601 and BT.709: R'G'B' from Y'CbCr, in 0..255."""
    k_red, k_blue = RED_AND_BLUE[matrix]
    y = luma.astype(float) if full else (luma - 16.0) * 255 / 219
    scale = 1.0 if full else 255 / 224
    cb, cr = (blue - 128) * scale, (red - 128) * scale
    r, b = y + 2 * (1 - k_red) * cr, y + 2 * (1 - k_blue) * cb
    g = (y - k_red * r - k_blue * b) / (1 - k_red - k_blue)
    return np.clip(np.stack((r, g, b), axis=-1), 0, 255)


def flat_colour(pixels: str, matrix_tag: int, range_tag: int) -> av.VideoFrame:
    """A frame whose luma is a slope and whose colour is flat."""
    frame = av.VideoFrame(96, 64, pixels)
    planes = [SLOPE, np.full((32, 48), BLUE, np.uint8), np.full((32, 48), RED, np.uint8)]
    for plane, values in zip(frame.planes, planes, strict=True):
        padded = np.zeros((values.shape[0], plane.line_size), np.uint8)
        padded[:, : values.shape[1]] = values
        plane.update(padded.tobytes())
    frame.colorspace, frame.color_range = matrix_tag, range_tag
    return frame


SLOPE = np.tile(np.linspace(60, 200, 96).astype(np.uint8), (64, 1))
BLUE, RED = 100, 165
UNSPECIFIED = 2


@pytest.mark.parametrize(
    ("pixels", "matrix_tag", "range_tag", "matrix", "full"),
    [
        ("yuv420p", UNSPECIFIED, 0, "601", False),
        ("yuv420p", UNSPECIFIED, 1, "601", False),
        ("yuv420p", UNSPECIFIED, 2, "601", True),
        ("yuv420p", 1, 0, "709", False),
        ("yuv420p", 1, 1, "709", False),
        ("yuv420p", 1, 2, "709", True),
        ("yuv420p", 5, 1, "601", False),
        ("yuv420p", 6, 1, "601", False),
        ("yuvj420p", UNSPECIFIED, 0, "601", True),
        ("yuvj420p", UNSPECIFIED, 2, "601", True),
    ],
)
def test_colour_goes_by_the_tags(
    pixels: str, matrix_tag: int, range_tag: int, matrix: str, full: bool
) -> None:
    values = RGB()(flat_colour(pixels, matrix_tag, range_tag))
    assert values.dtype == np.uint8
    # libswscale's fast way rounds by up to three; matrices and ranges differ by far more.
    np.testing.assert_allclose(values, formula(SLOPE, BLUE, RED, matrix, full=full), atol=3)


@pytest.mark.parametrize(
    ("matrix_tag", "range_tag", "words", "matrix"),
    [
        (1, 1, "BT.709, limited range, tagged", "709"),
        (6, 1, "BT.601, limited range, tagged", "601"),
        (UNSPECIFIED, 0, "BT.601, limited range, assumed", "601"),
    ],
)
def test_the_description_says_what_was_done(
    matrix_tag: int, range_tag: int, words: str, matrix: str, tmp_path: Path
) -> None:
    kind = VideoKind("a.mp4", "libx264", {"crf": "1"})
    pictures = [flat_colour("yuv420p", matrix_tag, range_tag) for _ in range(3)]
    path = write_video(tmp_path / kind.name, kind, [pictures], [0, 0.2, 0.4])
    source = Video(Place("video", str(path)))
    survey = source.survey()
    assert survey.description["colour"] == words
    (frame, *_) = source.frames(survey.segments[0])
    assert frame.pixels is not None
    np.testing.assert_allclose(frame.pixels, formula(SLOPE, BLUE, RED, matrix, full=False), atol=4)


def test_one_converter_takes_frames_of_any_size() -> None:
    rgb = RGB()
    for rows, cols in ((64, 96), (32, 48), (64, 96)):
        frame = av.VideoFrame.from_ndarray(
            np.full((rows, cols, 3), 90, np.uint8), format="rgb24"
        ).reformat(format="yuv420p")
        assert rgb(frame).shape == (rows, cols, 3)
