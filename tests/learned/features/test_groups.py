"""Each group on pictures whose features are known."""

import cv2
import numpy as np
import pytest

from learned.features.pictures import (
    MUCOSA,
    SIZE,
    away,
    coloured,
    disc_frame,
    measured,
    waves_frame,
)
from support.polyp_frames import polyp_frame


def test_the_bump_lies_where_the_disc_is() -> None:
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


def test_a_wave_lies_in_its_band() -> None:
    bands = ("4", "8", "16", "32")
    for band, length in zip(bands, (256 / 6, 256 / 12, 256 / 24, 256 / 48), strict=True):
        found = measured(waves_frame(length))
        assert max(bands, key=lambda each: found[f"sharpness.band-{each}"]) == band


def test_blur_takes_fine_contrast_away() -> None:
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


def test_the_lumen_is_dark_and_where_it_is() -> None:
    light = np.where(away(127, 127 + 46.0) <= 36, 0.2, 1.0)
    found = measured(coloured(light))
    assert found["spots.lumen"] < -0.9
    assert found["spots.lumen-distance"] == pytest.approx(0.4, abs=0.1)
    assert found["spots.dark-share"] == pytest.approx((36 / 115.2) ** 2, abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_a_phantom_polyp_looks_like_one(seed: int) -> None:
    found = measured(polyp_frame(seed=seed, size=SIZE))
    assert found["bump.count-middle"] >= 1


def test_mucosa_under_even_light_has_no_colour_range() -> None:
    assert measured(np.full((SIZE, SIZE, 3), MUCOSA, np.uint8))["colour.a-range"] == 0.0
