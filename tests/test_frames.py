from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import capsieve
from capsieve import FieldOfView, FrameError
from capsieve.frames import checked_pixels, pixel_hash

RAMP = np.arange(12, dtype=np.uint8).reshape(3, 4)


def test_uint8_is_returned_unchanged() -> None:
    pixels = checked_pixels(RAMP)
    assert pixels.dtype == np.uint8
    assert np.shares_memory(pixels, RAMP)
    np.testing.assert_array_equal(pixels, RAMP)


@pytest.mark.parametrize("value_range", [(0, 255), (0.0, 255.0), [0, 255], np.array([0, 255])])
def test_the_whole_range_of_uint8_may_be_stated(value_range: Any) -> None:
    assert checked_pixels(RAMP, value_range=value_range).dtype == np.uint8


@pytest.mark.parametrize("channels", [3, 4])
def test_colour_keeps_three_channels(channels: int) -> None:
    colour = np.arange(3 * 4 * channels, dtype=np.uint8).reshape(3, 4, channels)
    pixels = checked_pixels(colour)
    np.testing.assert_array_equal(pixels, colour[:, :, :3])
    assert pixels.flags.c_contiguous


def test_a_single_channel_is_grey() -> None:
    np.testing.assert_array_equal(checked_pixels(RAMP[:, :, np.newaxis]), RAMP)


def test_nested_lists_are_pixels_too() -> None:
    pixels = checked_pixels([[0, 1], [2, 4]], value_range=(0, 4))
    np.testing.assert_array_equal(pixels, np.array([[0, 63.75], [127.5, 255]], np.float32))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("view", ["transposed", "flipped", "strided"])
def test_the_result_is_contiguous(view: str, dtype: type[np.generic]) -> None:
    pixels = np.arange(48).reshape(6, 8).astype(dtype)
    pixels = {"transposed": pixels.T, "flipped": pixels[::-1], "strided": pixels[::2, ::2]}[view]
    checked = checked_pixels(pixels, value_range=(0, 255))
    assert checked.flags.c_contiguous
    np.testing.assert_array_equal(checked, pixels)


@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
def test_uint16_runs_to_65535_in_either_byte_order(dtype: str) -> None:
    pixels = checked_pixels(np.array([[0, 257, 65535]], dtype))
    assert pixels.dtype == np.float32
    np.testing.assert_array_equal(pixels, np.array([[0, 1, 255]], np.float32))


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">f4", ">i2"]
)
def test_every_kind_of_number_is_scaled_to_0_255(dtype: str) -> None:
    pixels = checked_pixels(np.array([[10, 60, 110]], dtype), value_range=(10, 110))
    assert pixels.dtype == np.float32
    assert pixels.dtype.isnative
    np.testing.assert_array_equal(pixels, np.array([[0, 127.5, 255]], np.float32))


@given(
    hnp.arrays(np.float64, (3, 4), elements=st.floats(0, 1)),
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
)
def test_scaling_maps_black_to_0_and_white_to_255(
    shares: np.ndarray[Any, Any], low: float, width: float
) -> None:
    high = low + width
    values = np.clip(low + shares * width, low, high)
    values[0, 0], values[0, 1] = low, high
    pixels = checked_pixels(values, value_range=(low, high))
    assert pixels[0, 0] == 0
    assert pixels[0, 1] == 255
    expected = (values - low) / (high - low) * 255
    np.testing.assert_allclose(pixels, expected, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u4", "u8", "f2", "f4", "f8"])
def test_other_types_need_the_values_of_black_and_white(dtype: str) -> None:
    with pytest.raises(FrameError, match="value_range"):
        checked_pixels(np.zeros((3, 4), dtype))


@pytest.mark.parametrize(
    ("pixels", "kind"),
    [
        (np.zeros((3, 4), np.bool_), "bool"),
        (np.zeros((3, 4), np.complex64), "complex64"),
        (np.zeros((3, 4), "datetime64[s]"), r"datetime64\[s\]"),
        (np.full((3, 4), "a"), "str"),
        (np.full((3, 4), None), "object"),
        ("frame.png", "str"),
        (None, "NoneType"),
        ({}, "dict"),
    ],
)
def test_other_types_than_numbers_are_refused(pixels: Any, kind: str) -> None:
    with pytest.raises(FrameError, match=kind):
        checked_pixels(pixels, value_range=(0, 1))


def test_ragged_rows_are_refused() -> None:
    with pytest.raises(FrameError):
        checked_pixels([[1, 2], [3]])


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((), "single number"),
        ((5,), "5"),
        ((6, 5, 2), "6 x 5 x 2"),
        ((6, 5, 5), "6 x 5 x 5"),
        ((3, 5, 5), "3 x 5 x 5; .*channels"),
        ((1, 5, 5), "1 x 5 x 5; .*channels"),
        ((6, 5, 0), "6 x 5 x 0"),
        ((2, 4, 5, 3), "2 x 4 x 5 x 3; .*one frame"),
        ((2, 2, 4, 5, 3), "2 x 2 x 4 x 5 x 3"),
    ],
)
def test_other_shapes_are_refused(shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(FrameError, match=words):
        checked_pixels(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (0, 4, 3), (4, 0, 4)])
def test_an_empty_frame_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(FrameError, match="empty"):
        checked_pixels(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("shape", [(16385, 1), (1, 16385), (1, 16385, 3)])
def test_a_too_large_frame_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(FrameError, match="16384"):
        checked_pixels(np.zeros(shape, np.uint8))


def test_the_largest_side_is_allowed() -> None:
    assert checked_pixels(np.zeros((16384, 1), np.uint8)).shape == (16384, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_values_that_are_not_finite_are_refused(value: float, dtype: type[np.floating]) -> None:
    pixels = np.zeros((3, 4, 3), dtype)
    pixels[1, 2, 0] = value
    with pytest.raises(FrameError, match="NaN"):
        checked_pixels(pixels, value_range=(0, 1))


def test_alpha_is_ignored() -> None:
    pixels = np.zeros((3, 4, 4))
    pixels[:, :, 3] = np.nan
    assert checked_pixels(pixels, value_range=(0, 1)).shape == (3, 4, 3)


@pytest.mark.parametrize("outside", [-0.25, 1.25])
def test_values_outside_the_stated_range_are_refused(outside: float) -> None:
    pixels = np.full((3, 4), 0.5)
    pixels[0, 0] = outside
    with pytest.raises(FrameError, match=rf"{outside:g}.*0 to 1"):
        checked_pixels(pixels, value_range=(0, 1))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_narrower_range_holds_for_unsigned_types_too(dtype: type[np.generic]) -> None:
    pixels = np.array([[16, 235]]).astype(dtype)
    np.testing.assert_array_equal(checked_pixels(pixels, value_range=(16, 235)), [[0, 255]])
    with pytest.raises(FrameError, match="17 to 235"):
        checked_pixels(pixels, value_range=(17, 235))


@pytest.mark.parametrize(
    "value_range",
    [
        (1, 0),
        (1, 1),
        (0, np.inf),
        (-np.inf, 0),
        (0, np.nan),
        (-1e308, 1e308),
        (0, 10**400),
        (0,),
        (0, 1, 2),
        ("black", "white"),
        5,
    ],
)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_range_is_two_finite_numbers_in_order(
    value_range: Sequence[float], dtype: type[np.generic]
) -> None:
    with pytest.raises(FrameError, match="value_range"):
        checked_pixels(np.zeros((3, 4), dtype), value_range=value_range)  # pyright: ignore[reportArgumentType]


def test_the_input_is_not_changed() -> None:
    pixels = np.linspace(0, 1, 12).reshape(3, 4)
    before = pixels.copy()
    checked_pixels(pixels, value_range=(0, 1))
    np.testing.assert_array_equal(pixels, before)


@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
def test_8_bit_values_in_a_16_bit_frame_give_a_warning(dtype: str) -> None:
    eight = np.tile(np.arange(256, dtype=np.uint8), (200, 1))
    with pytest.warns(UserWarning, match=r"value_range=\(0, 255\)"):
        dark = capsieve.analyze(eight.astype(dtype))
    stated = capsieve.analyze(eight.astype(dtype), value_range=(0, 255))
    assert dark.reason == "texture-low"
    assert stated.texture_max == pytest.approx(capsieve.analyze(eight).texture_max)


@pytest.mark.parametrize("level", [0, 256, 65535])
def test_black_and_true_16_bit_frames_give_no_warning(level: int) -> None:
    checked_pixels(np.full((3, 4), level, np.uint16))


def test_masked_pixels_are_refused() -> None:
    with pytest.raises(FrameError):
        checked_pixels(np.ma.masked_equal(RAMP, 3))


def test_the_frame_hash_depends_on_the_values_and_not_on_the_memory_layout() -> None:
    assert pixel_hash(RAMP) == pixel_hash(np.asfortranarray(RAMP))
    assert pixel_hash(RAMP) != pixel_hash(RAMP[::-1])


def test_a_placement_maps_positions_and_lengths_to_the_source() -> None:
    placement = capsieve.Placement(3, 4, 2.0, 1.5, 10.0, 20.0)
    assert placement.to_source(2, 4) == (14.0, 26.0)
    assert placement.length_to_source(4) == 6.0


def test_a_field_of_view_is_frozen() -> None:
    field = FieldOfView("circle", 1.0, 2.0, 3.0, 0.5)
    with pytest.raises(FrozenInstanceError):
        field.row = 2.0  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    "values",
    [
        ("oval", 1.0, 1.0, 1.0, 0.5),
        ("circle", np.nan, 1.0, 1.0, 0.5),
        ("circle", 1.0, np.inf, 1.0, 0.5),
        ("circle", 1.0, 1.0, 0.0, 0.5),
        ("circle", 1.0, 1.0, -3.0, 0.5),
        ("circle", 1.0, 1.0, 1.0, 1.1),
        ("circle", 1.0, 1.0, 1.0, -0.1),
        ("circle", "a", 1.0, 1.0, 0.1),
    ],
)
def test_an_impossible_field_of_view_is_refused(values: Any) -> None:
    with pytest.raises(FrameError):
        FieldOfView(*values)


def test_numpy_scalars_of_a_field_of_view_become_floats() -> None:
    numbers: list[Any] = [np.float32(1), np.float64(2), np.int64(3), 1]
    field = FieldOfView("circle", *numbers)
    assert all(type(v) is float for v in (field.row, field.col, field.radius, field.confidence))
