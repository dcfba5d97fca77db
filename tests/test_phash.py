"""The look of a frame: steady under what copies go through, different for other frames."""

import cv2
import numpy as np
import pytest

from capsieve.phantom import plan_exam, render_frame
from capsieve.phash import BITS, LEAST_CONTRAST, NEAR_DUPLICATE_BITS, phash, phash_contrast


@pytest.fixture(scope="module")
def frames():
    """Frames of two colons."""
    plans = [plan_exam(seed, frames=200, polyps=2, size=336) for seed in (1, 2)]
    return [render_frame(plan, number).pixels for plan in plans for number in (10, 90, 170)]


def distance(one, other):
    a, b = (np.unpackbits(np.frombuffer(phash(pixels) or b"", np.uint8)) for pixels in (one, other))
    assert len(a) == len(b) == BITS
    return int((a != b).sum())


def jpeg(pixels, quality=70):
    encoded = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return cv2.imdecode(encoded, cv2.IMREAD_COLOR)


def resized(pixels, side):
    return cv2.resize(pixels, (side, side), interpolation=cv2.INTER_AREA)


def gamma(pixels, power):
    return np.round(255 * (pixels / 255.0) ** power).astype(np.uint8)


COPIES = {
    "jpeg": jpeg,
    "smaller": lambda pixels: resized(pixels, 224),
    "larger": lambda pixels: cv2.resize(pixels, (500, 500), interpolation=cv2.INTER_CUBIC),
    "darker": lambda pixels: gamma(pixels, 1.2),
    "brighter": lambda pixels: np.clip(pixels * 1.1 + 10, 0, 255).astype(np.uint8),
    "cropped": lambda pixels: pixels[5:-5, 5:-5],
    "all of it": lambda pixels: jpeg(gamma(resized(pixels[3:-3, 3:-3], 224), 1.15)),
}


@pytest.mark.parametrize("change", COPIES.values(), ids=COPIES)
def test_copies_look_nearly_the_same(frames, change):
    assert max(distance(pixels, change(pixels)) for pixels in frames) <= NEAR_DUPLICATE_BITS


def test_other_frames_look_different(frames):
    pairs = [(a, b) for place, a in enumerate(frames) for b in frames[place + 1 :]]
    assert min(distance(a, b) for a, b in pairs) > NEAR_DUPLICATE_BITS


def test_what_stands_in_the_corners_does_not_matter(frames):
    captioned = frames[0].copy()
    cv2.putText(captioned, "12:34:56", (4, 14), cv2.FONT_HERSHEY_PLAIN, 0.9, (255, 255, 255))
    assert distance(frames[0], captioned) <= NEAR_DUPLICATE_BITS


def featureless():
    row, col = np.mgrid[:200, :200]
    from_centre = np.hypot(row - 99.5, col - 99.5)
    rng = np.random.default_rng(0)
    return {
        "black": np.zeros((200, 200, 3), np.uint8),
        "white": np.full((200, 200), 255, np.uint8),
        "noise in the dark": np.clip(rng.normal(8, 3, (200, 200, 3)), 0, 255).astype(np.uint8),
        "disc": np.where(from_centre < 90, 150, 0).astype(np.uint8),
        "vignette": (200 - from_centre).astype(np.uint8),
        "ramp": (row * 0.8 + col * 0.3).astype(np.uint8),
    }


@pytest.mark.parametrize("name", featureless())
def test_featureless_frames_have_no_look(name):
    assert phash(featureless()[name]) is None


def test_frames_of_a_colon_have_contrast_to_spare(frames):
    assert min(phash_contrast(pixels) for pixels in frames) > 2 * LEAST_CONTRAST


def test_contrast_is_told_in_grey_levels():
    # Noise of one value per cell of the small picture answers to every wave of unit length with
    # its own spread; the median of its absolute value is 0.6745 of that.
    cells = np.random.default_rng(1).normal(128, 20, (32, 32)).clip(0, 255).astype(np.uint8)
    pixels = np.kron(cells, np.ones((12, 12), np.uint8))
    assert phash_contrast(pixels) == pytest.approx(0.6745 * 20, rel=0.2)


def test_a_look_is_32_bytes_with_about_half_of_the_bits_set(frames):
    looks = [phash(pixels) for pixels in frames]
    assert {len(found) for found in looks if found is not None} == {BITS // 8}
    ones = np.unpackbits(np.frombuffer(b"".join(filter(None, looks)), np.uint8)).mean()
    assert 0.4 < ones < 0.6


def test_grey_deep_and_transparent_frames_look_like_the_same_in_colour(frames):
    grey = frames[0].mean(axis=2).astype(np.uint8)
    alpha = np.dstack([np.repeat(grey[:, :, None], 3, axis=2), np.full_like(grey, 9)])
    for same in (grey.astype("<u2") * 257, grey.astype(">u2") * 257, alpha, grey[:, :, None]):
        assert phash(same) == phash(grey)
    assert distance(grey, frames[0]) <= NEAR_DUPLICATE_BITS


def test_turned_frames_look_different(frames):
    assert distance(frames[0], frames[0][:, ::-1].copy()) > NEAR_DUPLICATE_BITS


@pytest.mark.parametrize("shape", [(1, 1, 3), (5, 5), (2, 900, 3)])
def test_tiny_frames_are_no_error(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    found = phash(pixels)
    assert found is None or len(found) == BITS // 8
