"""Features on artificial frames with known properties, and their invariances."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

import capsieve
from capsieve.errors import FrameError
from capsieve.frames import FieldOfView
from capsieve.learned.features import DESCRIPTIONS, NAMES, frame_features
from support.polyp_frames import polyp_frame

SIZE = 256
FIELD = FieldOfView("circle", 127.5, 127.5, 127.5)
MUCOSA = np.array([170.0, 110.0, 80.0])


def measured(frame: NDArray[np.uint8], field: FieldOfView | None = FIELD) -> dict[str, float]:
    """Return the features of a frame by name."""
    return dict(zip(NAMES, frame_features(frame, field).values.tolist(), strict=True))


def away(row: float, col: float) -> NDArray[np.float64]:
    """Return the distance of each pixel from a place."""
    rows, cols = np.indices((SIZE, SIZE))
    return np.hypot(rows - row, cols - col)


def coloured(light: NDArray[np.float64], *, seed: int = 0, grain: float = 1.0) -> NDArray[np.uint8]:
    """Return mucosa under some light, with a little noise."""
    noise = np.random.default_rng(seed).normal(0.0, grain, (SIZE, SIZE, 1))
    pixels = light[:, :, None] * MUCOSA + noise
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


def disc_frame(
    radius: float, contrast: float, row: float = 110.0, col: float = 140.0
) -> NDArray[np.uint8]:
    """Return even mucosa with a disc that is brighter by log contrast."""
    return coloured(np.where(away(row, col) <= radius, np.exp(contrast), 1.0))


def waves_frame(length: float) -> NDArray[np.uint8]:
    """Return mucosa under waves of that many pixels in both directions."""
    rows, cols = np.indices((SIZE, SIZE))
    turn = 2 * np.pi / length
    return coloured(1 + 0.15 * np.sin(turn * rows) + 0.15 * np.sin(turn * cols))


def test_the_bump_is_at_the_disc() -> None:
    # The mask has 0.45 of the width as its radius.
    found = measured(disc_frame(20, 0.3, row=127.0, col=127.0 + 57.6))
    assert found["bump.distance-middle"] == pytest.approx(0.5, abs=0.06)


def test_the_bump_has_the_contrast_of_the_disc() -> None:
    weak, strong = (measured(disc_frame(20, contrast)) for contrast in (0.2, 0.4))
    assert strong["bump.contrast-middle"] == pytest.approx(0.4, abs=0.1)
    assert 0 < weak["bump.contrast-middle"] < strong["bump.contrast-middle"]


def test_a_bump_is_a_dome_and_a_fold_is_not() -> None:
    bump = measured(coloured(1 + 0.5 * np.exp(-(away(127, 127) ** 2) / (2 * 18.0**2))))
    across = (np.arange(SIZE) - 127.0)[:, None] + np.zeros((1, SIZE))
    fold = measured(coloured(1 + 0.5 * np.exp(-(across**2) / (2 * 18.0**2))))
    for scale in ("fine", "coarse"):
        assert bump[f"dome.radius-{scale}"] > 4 * fold[f"dome.radius-{scale}"]
        assert bump[f"dome.shape-{scale}"] > 0.8


def test_the_share_of_red_is_that_of_the_red_region() -> None:
    frame = coloured(np.ones((SIZE, SIZE)), grain=0.0).astype(np.float64)
    frame[away(127, 127) <= 0.3 * 115.2] *= [1.0, 0.7, 0.7]
    found = measured(np.rint(frame).astype(np.uint8))
    assert found["colour.red-share"] == pytest.approx(0.09, abs=0.01)
    assert found["colour.green-share"] == 0.0


def test_a_wave_is_in_its_band() -> None:
    bands = ("4", "8", "16", "32")
    for band, length in zip(bands, (256 / 6, 256 / 12, 256 / 24, 256 / 48), strict=True):
        found = measured(waves_frame(length))
        assert max(bands, key=lambda each: found[f"sharpness.band-{each}"]) == band


def test_blur_reduces_fine_contrast() -> None:
    sharp = polyp_frame(seed=1, size=SIZE)
    soft = np.asarray(cv2.GaussianBlur(sharp, (0, 0), 3.0), np.uint8)
    before, after = measured(sharp), measured(soft)
    for name in ("band-16", "band-32", "slope", "laplacian", "detail"):
        assert after[f"sharpness.{name}"] < before[f"sharpness.{name}"] - 0.1, name


def test_bubbles_are_counted() -> None:
    light = np.ones((SIZE, SIZE))
    places = [(row, col) for row in range(67, 190, 20) for col in range(67, 190, 20)]
    for place in places:
        light += 0.35 * np.exp(-0.5 * (away(*place) / 4.0) ** 2)
    assert np.expm1(measured(coloured(light))["spots.bubbles"]) == pytest.approx(len(places), abs=1)


def test_highlights_are_counted() -> None:
    frame = disc_frame(28, 0.2)
    plain = measured(frame)
    for place in ((110, 140), (100, 130), (180, 90)):
        frame[away(*place) <= 4] = 255
    found = measured(frame)
    assert plain["spots.highlight-share"] == 0.0
    assert np.expm1(found["spots.highlight-count"]) == pytest.approx(3)
    assert found["spots.highlight-share"] == pytest.approx(3 * 16 / 115.2**2, rel=0.4)


def test_the_lumen_is_found() -> None:
    light = np.where(away(127, 127 + 46.0) <= 36, 0.2, 1.0)
    found = measured(coloured(light))
    assert found["spots.lumen"] < -0.9
    assert found["spots.lumen-distance"] == pytest.approx(0.4, abs=0.1)
    assert found["spots.dark-share"] == pytest.approx((36 / 115.2) ** 2, abs=0.02)


_RNG = np.random.default_rng(1)
ODD_FRAMES = {
    "black": np.zeros((224, 224, 3), np.uint8),
    "white": np.full((224, 224, 3), 255, np.uint8),
    "noise": _RNG.integers(0, 256, (224, 224, 3), dtype=np.uint8),
    "tiny": _RNG.integers(0, 256, (24, 24, 3), dtype=np.uint8),
    "gray": _RNG.integers(0, 256, (100, 130), dtype=np.uint8),
    "flat": _RNG.integers(0, 256, (36, 256, 3), dtype=np.uint8),
    "tall": _RNG.integers(0, 256, (301, 151, 3), dtype=np.uint8),
    "one pixel": np.pad(np.full((1, 1, 3), 255, np.uint8), ((111, 112), (111, 112), (0, 0))),
    "red alone": np.full((224, 224, 3), (200, 0, 0), np.uint8),
}


@pytest.mark.parametrize("name", ODD_FRAMES)
def test_values_are_finite_and_the_result_is_that_of_analyze(name: str) -> None:
    found = frame_features(ODD_FRAMES[name])
    assert found.values.shape == (len(DESCRIPTIONS),)
    assert found.values.dtype == np.float32
    assert np.isfinite(found.values).all()
    assert found.result == capsieve.analyze(ODD_FRAMES[name])


@pytest.mark.parametrize("seed", range(3))
def test_the_result_is_that_of_analyze(seed: int) -> None:
    frame = polyp_frame(seed=seed, size=300)
    field = FieldOfView("circle", 149.0, 150.0, 147.0)
    found = frame_features(frame, field)
    result = capsieve.analyze(frame, field_of_view=field)
    assert found.result == result
    values = dict(zip(NAMES, found.values.tolist(), strict=True))
    assert values["bump.radius-middle"] == result.radius_max
    assert values["bump.texture"] == pytest.approx(result.texture_max)


def test_the_papers_quantities_are_measured_on_rejected_frames() -> None:
    frame = disc_frame(24, 0.4)
    found = frame_features(frame, FIELD)
    told = capsieve.explain(frame, field_of_view=FIELD)
    values = dict(zip(NAMES, found.values.tolist(), strict=True))
    assert found.result.reason == "texture-low"
    assert told.best is not None
    assert values["bump.radius-middle"] == told.best.radius
    assert values["bump.max-middle"] == pytest.approx(told.midpass_max)


def test_pixels_of_another_range_give_the_same() -> None:
    frame = disc_frame(20, 0.3)
    scaled = frame_features(frame / 255.0, FIELD, value_range=(0.0, 1.0)).values
    np.testing.assert_allclose(scaled, frame_features(frame, FIELD).values, rtol=1e-3, atol=1e-3)


def test_a_frame_that_is_too_small_is_refused() -> None:
    with pytest.raises(FrameError, match="too small"):
        frame_features(np.zeros((8, 8, 3), np.uint8))


# Absolute tolerance by unit.
_STEPS = {
    "pixels": 3.0,
    "bumps": 0.0,
    "half-balls": 0.02,
    "levels": 0.1,
    "share": 0.01,
    "0..1": 0.06,
    "log": 0.05,
    "Lab a": 0.7,
}


def _assert_near(first: dict[str, float], second: dict[str, float], *, but: set[str]) -> None:
    for name, unit, _ in DESCRIPTIONS:
        if name not in but:
            assert first[name] == pytest.approx(second[name], rel=0.05, abs=_STEPS[unit]), name


@pytest.mark.parametrize("turn", ["quarter", "half", "mirror"])
def test_rotation_and_mirroring_change_little(turn: str) -> None:
    frame = polyp_frame(seed=2, size=SIZE)
    turned = {"quarter": np.rot90(frame), "half": frame[::-1, ::-1], "mirror": frame[:, ::-1]}[turn]
    _assert_near(measured(np.ascontiguousarray(turned)), measured(frame), but=set())


def test_the_resolution_of_the_source_changes_little() -> None:
    large = polyp_frame(seed=3, size=2 * SIZE)
    # Means over 2 x 2 pixels: the same image from a camera with a quarter of the pixels.
    small = large.reshape(SIZE, 2, SIZE, 2, 3).mean(axis=(1, 3)).round().astype(np.uint8)
    field = FieldOfView("circle", 255.5, 255.5, 255.0)
    _assert_near(measured(small), measured(large, field), but=set())


_OF_THE_LEVEL = {"bump.texture"}


def test_exposure_changes_only_the_texture() -> None:
    bright = polyp_frame(seed=2, size=SIZE)
    dim = np.rint(0.75 * bright).astype(np.uint8)
    _assert_near(measured(bright), measured(dim), but=_OF_THE_LEVEL)


def test_a_colour_cast_changes_differences_of_colour_little() -> None:
    frame = polyp_frame(seed=2, size=SIZE).astype(np.float64)
    # The paper's grey value of mucosa does not change.
    gains = np.array([0.85, 1.0, 1.15])
    gains *= (MUCOSA @ [0.2989, 0.587, 0.114]) / ((MUCOSA * gains) @ [0.2989, 0.587, 0.114])
    cast = np.clip(np.rint(frame * gains), 0, 255).astype(np.uint8)
    plain, other = measured(frame.astype(np.uint8)), measured(cast)
    for name in NAMES:
        if name.startswith("colour.a"):
            assert other[name] == pytest.approx(plain[name], rel=0.1, abs=0.7), name
