"""Texture compared with golden files, energy with its transcription, pre-selection."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import FrameError
from capsieve.paper.filters import spectrum
from capsieve.paper.mask import circular_mask
from capsieve.paper.texture import preselection, texture, texture_energy
from reference import energy as literal_energy
from reference import texture as literal
from sample_frames import GOLDEN

IMAGES = sorted(path.stem.removeprefix("cartoon_texture_") for path in GOLDEN.glob("cartoon_*"))


def noise(shape, seed=0, low=0.0, high=255.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def texture_of(frame, sigma=5.0, iterations=5, mask=None):
    frame = np.asarray(frame, np.float32)
    mask = mask or circular_mask(*frame.shape, math.inf)
    return texture(frame, spectrum(frame), sigma, iterations, mask)


def energy_of(frame, mask, sigma=11.0, power=0.8):
    return texture_energy(texture_of(frame, mask=mask), mask, sigma, power, 1.0)


@pytest.mark.parametrize("name", IMAGES)
def test_texture_equals_the_original_implementation(name):
    with np.load(GOLDEN / f"cartoon_texture_{name}.npz") as golden:
        found = texture_of(golden["input"])
        np.testing.assert_allclose(found, golden["texture"], atol=5e-4)


@pytest.mark.parametrize("shape", [(61, 61), (48, 64), (37, 90), (90, 37), (101, 55)])
@pytest.mark.parametrize(("sigma", "iterations"), [(5.0, 5), (2.0, 3), (1.5, 0), (0.0, 5)])
def test_texture_equals_the_literal_transcription(shape, sigma, iterations):
    frame = noise(shape, seed=sum(shape))
    expected = literal.cartoon_texture(frame.astype(float), sigma=sigma, iterations=iterations)
    np.testing.assert_allclose(texture_of(frame, sigma, iterations), expected[2], atol=5e-4)


@given(level=st.floats(0, 255))
def test_constant_has_exactly_no_texture(level):
    assert not texture_of(np.full((40, 40), level)).any()


def test_there_is_no_texture_below_one_grey_level():
    assert not texture_of(noise((64, 64)) / 2000).any()


def test_texture_inside_a_mask_does_not_depend_on_the_mask_and_is_zero_outside():
    frame, mask = noise((64, 80)), circular_mask(64, 80, 25.0)
    found = texture_of(frame, mask=mask)
    np.testing.assert_array_equal(found, np.where(mask.inside, texture_of(frame), 0))


@pytest.mark.parametrize("shape", [(9, 64), (64, 9)])
def test_frame_smaller_than_the_kernel_is_rejected(shape):
    with pytest.raises(FrameError):
        texture_of(np.zeros(shape))


@pytest.mark.parametrize("shape", [(256, 256), (200, 256), (101, 131), (64, 64)])
@pytest.mark.parametrize("power", [0.8, 0.3, 2.0])
def test_energy_equals_the_literal_transcription(shape, power):
    rows, cols = shape
    frame = noise(shape, high=90.0)
    mask = circular_mask(rows, cols, 0.45 * cols)
    found, largest = energy_of(frame, mask, power=power)
    expected_texture = literal.cartoon_texture(frame.astype(float))[2]
    expected = literal_energy.energy(expected_texture, mask.inside, sigma=11.0, power=power)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert largest == found.max()


@given(factor=st.floats(0.5, 2.0))
def test_energy_scales_with_the_power(factor):
    # G|Df| is above one grey level everywhere.
    frame, mask = noise((96, 96), low=50.0, high=110.0), circular_mask(96, 96, 43.2)
    _, once = energy_of(frame, mask)
    _, scaled = energy_of(np.float32(factor) * frame, mask)
    assert scaled == pytest.approx(factor**0.8 * once, rel=1e-4)


@pytest.mark.parametrize("turn", [np.fliplr, np.flipud, np.rot90, np.transpose])
def test_maximum_is_invariant_under_mirrors_and_rotations_about_a_pixel(turn):
    frame, mask = noise((95, 95)), circular_mask(95, 95, 42.0, (47, 47))
    _, expected = energy_of(frame, mask)
    _, found = energy_of(np.ascontiguousarray(turn(frame)), mask)
    assert found == pytest.approx(expected, rel=1e-5)


def test_texture_far_outside_the_mask_does_not_count():
    frame, mask = np.full((96, 96), 80.0, np.float32), circular_mask(96, 96, 20.0)
    far = mask.distance > 20 + 11 + 2 * 10 + 6 * 10
    frame[far] += noise(far.sum(), low=-80.0, high=80.0)
    assert energy_of(frame, mask)[1] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(
    ("texture_max", "expected"),
    [
        (0.0, "texture-low"),
        (2.999999, "texture-low"),
        (3.0, None),
        (8.0, None),
        (8.000001, "texture-high"),
    ],
)
def test_bounds_of_preselection_are_inclusive(texture_max, expected):
    assert preselection(texture_max, 3.0, 8.0) == expected
