"""Spoiled frames: what each way does, measured on its own."""

import cv2
import numpy as np
import pytest

import capsieve
from capsieve.learned.informative.spoiling import WAYS, spoil

FRAME = capsieve.phantom.polyp_frame(seed=1, size=224)


def spoiled(way: str, strength: float, seed: int = 0) -> np.ndarray:
    """Return FRAME spoiled."""
    return spoil(FRAME, way, strength, np.random.default_rng(seed))


def middle(frame: np.ndarray) -> np.ndarray:
    """Return the inner part, in which there is no rim."""
    return frame[50:174, 50:174].astype(float)


def edges(frame: np.ndarray) -> float:
    """Return the mean gradient after a little smoothing, which takes the noise away."""
    smooth = cv2.GaussianBlur(middle(frame), (0, 0), 1.5)
    return float(np.abs(np.diff(smooth, axis=0)).mean() + np.abs(np.diff(smooth, axis=1)).mean())


@pytest.mark.parametrize("way", WAYS)
def test_the_same_draw_gives_the_same_frame(way) -> None:
    first = spoiled(way, 0.5)
    assert first.shape == FRAME.shape
    assert first.dtype == np.uint8
    assert np.array_equal(first, spoiled(way, 0.5))
    assert not np.array_equal(first, spoiled(way, 0.5, seed=1))


@pytest.mark.parametrize("way", WAYS)
def test_the_frame_itself_and_its_surround_stay(way) -> None:
    before = FRAME.copy()
    found = spoiled(way, 1.0)
    assert np.array_equal(FRAME, before)
    assert found[:12, :12].mean() < 8


@pytest.mark.parametrize("way", ["defocus", "motion", "veil"])
def test_edges_fade(way) -> None:
    assert edges(FRAME) > 1.3 * edges(spoiled(way, 0.2)) > 1.3 * edges(spoiled(way, 1.0))


def test_motion_blurs_along_one_direction() -> None:
    point = np.zeros((101, 101, 3), np.uint8)
    point[50, 50] = 255
    smeared = WAYS["motion"](point.astype(np.float32), 1.0, np.random.default_rng(0))[:, :, 0]
    rows, cols = np.nonzero(smeared > 1)
    spreads = np.linalg.eigvalsh(np.cov(rows, cols))
    assert spreads[1] > 20 * max(spreads[0], 0.1)


def test_bubbles_cover_more_the_stronger_they_are() -> None:
    changed = [
        float((np.abs(middle(spoiled("bubbles", s)) - middle(FRAME)).max(axis=2) > 12).mean())
        for s in (0.0, 1.0)
    ]
    assert 0.1 < changed[0] < changed[1]


def test_exposure_goes_both_ways() -> None:
    assert (middle(spoiled("over", 1.0)).max(axis=2) >= 250).mean() > 0.8
    assert middle(spoiled("under", 1.0)).max() < 40
