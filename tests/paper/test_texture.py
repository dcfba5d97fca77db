"""Cartoon + texture against the golden files, and the energy against its transcription."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import FrameError
from capsieve.paper.disc import disc
from capsieve.paper.texture import cartoon_texture, texture_energy
from reference import energy as literal_energy
from reference import texture as literal
from sample_frames import GOLDEN

IMAGES = sorted(path.stem.removeprefix("cartoon_texture_") for path in GOLDEN.glob("cartoon_*"))


def noise(shape, seed=0, low=0.0, high=255.0):
    return np.random.default_rng(seed).uniform(low, high, shape)


@pytest.mark.parametrize("name", IMAGES)
def test_the_split_agrees_with_the_original_implementation(name):
    with np.load(GOLDEN / f"cartoon_texture_{name}.npz") as golden:
        split = cartoon_texture(golden["input"])
        np.testing.assert_allclose(split.lowpass, golden["lowpass"], atol=5e-4)
        np.testing.assert_allclose(split.cartoon, golden["cartoon"], atol=5e-4)
        np.testing.assert_allclose(split.texture, golden["texture"], atol=5e-4)


@pytest.mark.parametrize("shape", [(61, 61), (48, 64), (37, 90), (90, 37), (101, 55)])
@pytest.mark.parametrize(("sigma", "iterations"), [(5.0, 5), (2.0, 3), (1.5, 0), (0.0, 5)])
def test_the_split_agrees_with_the_literal_transcription(shape, sigma, iterations):
    frame = noise(shape, seed=sum(shape))
    split = cartoon_texture(frame, sigma=sigma, iterations=iterations)
    expected = literal.cartoon_texture(frame, sigma=sigma, iterations=iterations)
    for found, wanted in zip(split, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=5e-4)


@given(level=st.floats(0, 255))
def test_a_constant_has_exactly_no_texture(level):
    assert not cartoon_texture(np.full((40, 40), level)).texture.any()


def test_below_one_grey_level_there_is_no_texture():
    assert not cartoon_texture(noise((64, 64)) / 2000.0).texture.any()


def test_cartoon_and_texture_add_up():
    frame = noise((64, 80))
    split = cartoon_texture(frame)
    np.testing.assert_allclose(split.cartoon + split.texture, frame, atol=1e-4)


@pytest.mark.parametrize("shape", [(9, 64), (64, 9), (15, 15)])
def test_a_frame_smaller_than_the_kernel_is_refused(shape):
    with pytest.raises(FrameError, match="too small"):
        cartoon_texture(np.zeros(shape))


@pytest.mark.parametrize("shape", [(256, 256), (200, 256), (101, 131), (64, 64)])
@pytest.mark.parametrize("power", [0.8, 0.3, 2.0])
def test_the_energy_agrees_with_the_literal_transcription(shape, power):
    rows, cols = shape
    frame = noise(shape, high=90.0).astype(np.float32)
    circle = disc(rows, cols, 0.45 * cols)
    found, largest = texture_energy(frame, circle, power=power)
    texture = literal.cartoon_texture(frame.astype(float))[2]
    expected = literal_energy.energy(texture, circle.mask, sigma=11.0, power=power)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert largest == found.max()


@given(factor=st.floats(0.5, 2.0))
def test_the_energy_scales_with_the_power(factor):
    # Where every G|Df| stays above the guard of one grey level.
    frame, circle = noise((96, 96), low=50.0, high=110.0).astype(np.float32), disc(96, 96, 43.2)
    _, once = texture_energy(frame, circle)
    _, scaled = texture_energy(np.float32(factor) * frame, circle)
    assert scaled == pytest.approx(factor**0.8 * once, rel=1e-4)


@pytest.mark.parametrize("turn", [np.fliplr, np.flipud, np.rot90, np.transpose])
def test_mirrors_and_turns_about_a_pixel_leave_the_energy_alone(turn):
    frame = noise((95, 95)).astype(np.float32)
    circle = disc(95, 95, 42.0, (47, 47))
    _, expected = texture_energy(frame, circle)
    _, found = texture_energy(np.ascontiguousarray(turn(frame)), circle)
    assert found == pytest.approx(expected, rel=1e-5)


def test_what_lies_outside_the_mask_counts_for_nothing_in_the_maximum():
    frame, circle = np.full((96, 96), 80.0, np.float32), disc(96, 96, 20.0)
    far = circle.distance > 20.0 + 11 + 2 * 10 + 6 * 10
    frame[far] += np.random.default_rng(0).uniform(-80, 80, far.sum()).astype(np.float32)
    assert texture_energy(frame, circle)[1] == 0.0
