from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.training.augmentation import (
    Augmentation,
    add_noise,
    augment,
    blur,
    compress,
    fall_off,
    recolour,
    turn,
    view_mask,
)

NO_SHIFT = np.zeros(2)
NO_MIXING = np.zeros((3, 3))
STILL = Augmentation(
    zoom=(1.0, 1.0), shift=0.0, gamma=0.0, gain=0.0, channel_gain=0.0, saturation=(1.0, 1.0),
    mixing_chance=0.0, blur_chance=0.0, noise_chance=0.0, fall_off_chance=0.0, quality_chance=0.0,
)  # fmt: skip


def picture(size: int = 64) -> NDArray[np.uint8]:
    """Return something smooth without a symmetry, bright everywhere."""
    rows, cols = np.mgrid[:size, :size] / size
    channels = [60 + 150 * rows * cols, 200 - 120 * rows, 80 + 100 * np.sin(3 * cols) ** 2]
    return np.stack(channels, -1).astype(np.uint8)


def recoloured(crop: NDArray[np.uint8], **changed: object) -> NDArray[np.uint8]:
    same: dict[str, object] = {
        "gamma": 1.0, "gains": np.ones(3), "saturation": 1.0, "mixing": NO_MIXING,
    }  # fmt: skip
    return recolour(crop, **(same | changed))  # pyright: ignore[reportArgumentType]


def test_the_same_state_gives_the_same_version() -> None:
    first, second, other = (augment(picture(), np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("size", [64, 160])
def test_versions_keep_shape_and_type_and_leave_the_frame_alone(size: int) -> None:
    crop = picture(size)
    for seed in range(20):
        version = augment(crop, np.random.default_rng(seed))
        assert version.shape == crop.shape
        assert version.dtype == np.uint8
    assert np.array_equal(crop, picture(size))


@pytest.mark.parametrize("circle", [True, False])
def test_versions_are_black_outside_of_the_view(circle: bool) -> None:
    ranges = Augmentation(view=(0.9, 0.9), circle_chance=float(circle))
    outside = view_mask(64, 0.9, circle=circle) == 0
    for seed in range(20):
        version = augment(picture(), np.random.default_rng(seed), ranges=ranges)
        assert not version[outside].any()
        assert version[~outside].any()


def test_without_changes_versions_are_turned_alone() -> None:
    # A picture of rings about the centre is the same from all sides.
    rows, cols = np.mgrid[:64, :64] - 31.5
    rings = np.repeat((120 + 80 * np.cos(np.hypot(rows, cols) / 6))[..., None], 3, axis=2)
    crop = rings.astype(np.uint8)
    inside = view_mask(64, 0.88, circle=True) > 0
    for seed in range(5):
        version = augment(crop, np.random.default_rng(seed), ranges=STILL)
        apart = np.abs(version[inside].astype(int) - crop[inside])
        assert apart.max() <= 4


def test_neither_turned_nor_recoloured_is_the_identity() -> None:
    crop = picture()
    still = turn(crop, angle=0.0, zoom=1.0, shift=NO_SHIFT, mirrored=False)
    assert np.array_equal(still, crop)
    assert np.array_equal(recoloured(crop), crop)
    assert np.array_equal(fall_off(crop, 0.0, centre=NO_SHIFT), crop)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_quarter_turns_move_pixels_and_change_none(quarters: int) -> None:
    crop = picture()
    found = turn(crop, angle=90.0 * quarters, zoom=1.0, shift=NO_SHIFT, mirrored=False)
    assert np.array_equal(found, np.rot90(crop, quarters))


def test_mirroring_swaps_left_and_right() -> None:
    found = turn(picture(), angle=0.0, zoom=1.0, shift=NO_SHIFT, mirrored=True)
    assert np.array_equal(found, picture()[:, ::-1])


def test_shifts_are_rows_then_columns_in_sides() -> None:
    crop = picture()
    found = turn(crop, angle=0.0, zoom=1.0, shift=np.array([2 / 64, 5 / 64]), mirrored=False)
    assert np.array_equal(found[2:, 5:], crop[:-2, :-5])
    assert not found[:2].any()
    assert not found[:, :5].any()


def test_zoom_keeps_the_centre_and_enlarges() -> None:
    rows, cols = np.mgrid[:65, :65] - 32
    disc = np.repeat((np.hypot(rows, cols) < 10)[..., None] * np.uint8(255), 3, axis=2)
    found = turn(disc, angle=30.0, zoom=2.0, shift=NO_SHIFT, mirrored=False)
    ratio = np.count_nonzero(found[..., 0] > 127) / np.count_nonzero(disc[..., 0])
    assert ratio == pytest.approx(4, rel=0.05)


def test_gamma_and_gains_follow_their_formula() -> None:
    crop = picture()
    gains = np.array([0.5, 1.0, 1.6])
    found = recoloured(crop, gamma=0.7, gains=gains)
    expected = np.clip(gains * 255 * (crop / 255.0) ** 0.7, 0, 255)
    np.testing.assert_allclose(found, expected, atol=0.51)


def test_no_saturation_is_gray() -> None:
    found = recoloured(picture(), saturation=0.0)
    assert np.array_equal(found[..., 0], found[..., 1])
    np.testing.assert_allclose(found[..., 2], picture().mean(2), atol=0.51)


def test_mixing_takes_from_other_channels() -> None:
    mixing = np.zeros((3, 3))
    mixing[0, 1] = 0.1
    crop = picture()
    found = recoloured(crop, mixing=mixing)
    assert np.array_equal(found[..., 1:], crop[..., 1:])
    np.testing.assert_allclose(found[..., 0], crop[..., 0] + 0.1 * crop[..., 1], atol=0.51)


def test_noise_has_the_deviation_asked_for() -> None:
    flat = np.full((160, 160, 3), 120, np.uint8)
    noise = add_noise(flat, 6.0, np.random.default_rng(0)).astype(float) - 120
    assert noise.std() == pytest.approx(6, rel=0.02)
    assert noise.mean() == pytest.approx(0, abs=0.1)


def test_light_falls_off_by_its_change_half_a_side_away() -> None:
    flat = np.full((65, 65, 3), 200, np.uint8)
    found = fall_off(flat, -0.3, centre=NO_SHIFT)
    assert found[32, 32].tolist() == [200] * 3
    assert found[32, 64].tolist() == [140] * 3
    assert found[0, 32].tolist() == [140] * 3


def test_light_never_becomes_negative() -> None:
    flat = np.full((64, 64, 3), 200, np.uint8)
    assert not fall_off(flat, -3.0, centre=NO_SHIFT)[0, 0].any()


def test_blur_and_compression_keep_a_flat_frame_and_smooth_an_edge() -> None:
    flat = np.full((64, 64, 3), 90, np.uint8)
    assert np.array_equal(blur(flat, 1.0), flat)
    assert np.abs(compress(flat, 60).astype(int) - 90).max() <= 1
    edge = np.where(np.arange(64) < 32, 40, 200).astype(np.uint8)
    crop = np.broadcast_to(edge[None, :, None], (64, 64, 3)).copy()
    steps = np.abs(np.diff(blur(crop, 1.0)[..., 0].astype(int), axis=1))
    assert steps.max() < 100


def test_compression_keeps_the_order_of_channels() -> None:
    crop = np.zeros((64, 64, 3), np.uint8)
    crop[..., 0] = 200
    means = compress(crop, 90).mean((0, 1))
    np.testing.assert_allclose(means, [200, 0, 0], atol=4)


def test_lower_quality_is_further_from_the_frame() -> None:
    crop = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    apart = [np.abs(compress(crop, q).astype(int) - crop).mean() for q in (95, 60, 20)]
    assert apart == sorted(apart)
    assert apart[0] < apart[2]


def test_masks_have_the_area_of_their_shape() -> None:
    circle = np.count_nonzero(view_mask(400, 0.9, circle=True)) / 400**2
    assert circle == pytest.approx(np.pi * 0.9**2 / 4, rel=0.01)
    cut = np.count_nonzero(view_mask(400, 0.9, circle=False)) / 400**2
    corner = 0.9 * (2 - 1.62)  # the leg of each of the four triangles that are cut off
    assert cut == pytest.approx(0.9**2 - 4 * (corner**2 / 2) / 4, rel=0.01)


def test_views_differ_in_shape_and_size() -> None:
    white = np.full((64, 64, 3), 200, np.uint8)
    ranges = replace(STILL, zoom=(2.0, 2.0))
    areas = {
        np.count_nonzero(augment(white, np.random.default_rng(seed), ranges=ranges))
        for seed in range(40)
    }
    assert len(areas) > 10
