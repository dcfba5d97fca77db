"""Input of find_field_of_view: types, sizes and errors."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from capsieve import FieldOfView, FrameError, find_field_of_view


@pytest.fixture(scope="module")
def frames(workshop: Any) -> np.ndarray:
    """Six frames of a disc of radius 70 in a grey surround."""
    scene = workshop.scene(
        size=(160, 180), centre=(80.0, 90.0), half=(70.0, 70.0), surround=(60, 60, 60), frames=6
    )
    return workshop.make(scene)


def is_the_disc(seen: FieldOfView) -> bool:
    near = max(abs(seen.row - 80), abs(seen.col - 90), abs(seen.radius - 70)) < 1.0
    return near and seen.shape == "circle"


@pytest.mark.parametrize(
    "convert",
    [
        lambda a: a,
        list,
        iter,
        lambda a: (frame for frame in a),
        lambda a: a.astype(np.uint16) * 257,
        lambda a: a.astype(np.uint16) * 4,
        lambda a: a / 255.0,
        lambda a: a.astype(np.float32),
        lambda a: a.astype(np.int32),
        lambda a: a[..., 0],
        lambda a: a[..., :1],
        lambda a: np.concatenate([a, np.full_like(a[..., :1], 255)], axis=-1),
        lambda a: a[:, ::-1][:, ::-1],
        lambda a: np.concatenate([a] * 20),
    ],
)
def test_every_kind_of_frame_is_accepted(frames: np.ndarray, convert: Any) -> None:
    assert is_the_disc(find_field_of_view(convert(frames)))


def test_large_frames_take_little_memory() -> None:
    rows, cols = np.ogrid[:3000, :4000]
    noise = np.random.default_rng(0).integers(60, 200, (3000, 4000)).astype(np.uint8)
    frame = noise * (np.hypot(rows - 1400, cols - 2100) < 1300)
    tracemalloc.start()
    seen = find_field_of_view([frame])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * frame.size
    assert max(abs(seen.row - 1400), abs(seen.col - 2100), abs(seen.radius - 1300)) < 2


def test_the_same_frames_give_the_same_answer(frames: np.ndarray) -> None:
    assert find_field_of_view(frames) == find_field_of_view(frames.copy())


def test_frames_are_not_changed(frames: np.ndarray) -> None:
    before = frames.copy()
    find_field_of_view(frames)
    np.testing.assert_array_equal(frames, before)


def test_mirrored_frames_give_the_mirrored_circle(frames: np.ndarray) -> None:
    seen, mirrored = find_field_of_view(frames), find_field_of_view(frames[:, :, ::-1])
    assert mirrored.col == pytest.approx(179 - seen.col, abs=0.2)
    assert mirrored.radius == pytest.approx(seen.radius, abs=0.2)


@pytest.mark.parametrize("level", [0, 90, 255])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_constant_frames_give_confidence_0(level: int, dtype: type) -> None:
    seen = find_field_of_view(np.full((4, 120, 200, 3), level, dtype))
    assert seen == FieldOfView("full", 59.5, 99.5, 60.0, 0.0)


def test_noise_in_black_frames_is_not_a_field_of_view() -> None:
    grain = np.random.default_rng(0).integers(0, 4, (8, 120, 120, 3), dtype=np.uint8)
    seen = find_field_of_view(grain)
    assert (seen.row, seen.col, seen.radius) == pytest.approx((59.5, 59.5, 60), abs=1)
    assert seen.confidence < 0.2


@pytest.mark.parametrize(
    "bad",
    [
        [],
        iter(()),
        [np.zeros((60, 60)), np.zeros((60, 61))],
        [np.zeros((60, 60)), np.zeros((60, 60, 3))],
        [np.full((60, 60), np.nan)],
        [np.full((60, 60), np.inf, np.float32)],
        [np.zeros((60, 60, 2))],
        [np.zeros(60)],
        [np.zeros((8, 60))],
        [np.full((60, 60), "a")],
        [np.zeros((60, 60), complex)],
        [np.full((60, 60), 1e300)],
        [[[1, 2], [3]]],
        None,
        5,
        np.zeros((60, 60, 3), np.uint8),
        np.zeros((60, 60), np.uint8),
    ],
)
def test_anything_but_frames_of_one_size_is_refused(bad: Any) -> None:
    with pytest.raises(FrameError):
        find_field_of_view(bad)


def test_an_error_names_the_frame(frames: np.ndarray) -> None:
    with pytest.raises(FrameError, match="frame 2"):
        find_field_of_view([*frames[:2], frames[0, :100]])


@pytest.mark.parametrize("size", [(16, 1200), (1200, 16), (17, 23)])
def test_narrow_and_tiny_frames_are_accepted(size: tuple[int, int]) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (2, *size), dtype=np.uint8)
    assert find_field_of_view(noise).radius <= min(size) / 2
