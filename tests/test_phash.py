"""The perceptual hash: stable under the changes of copies, different for other frames."""

import cv2
import numpy as np
import pytest

from capsieve.phantom import plan_exam, render_frame
from capsieve.phash import BITS, NEAR_DUPLICATE_BITS, phash


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
def test_copies_are_near_duplicates(frames, change):
    assert max(distance(pixels, change(pixels)) for pixels in frames) <= NEAR_DUPLICATE_BITS


def test_other_frames_are_not_near_duplicates(frames):
    pairs = [(a, b) for place, a in enumerate(frames) for b in frames[place + 1 :]]
    assert min(distance(a, b) for a, b in pairs) > NEAR_DUPLICATE_BITS


def test_captions_in_the_corners_do_not_matter(frames):
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
def test_featureless_frames_have_no_hash(name):
    assert phash(featureless()[name]) is None


def test_frames_of_a_colon_keep_their_hash_at_half_of_the_contrast(frames):
    for pixels in frames:
        faded = np.round(64 + pixels / 2).astype(np.uint8)
        assert distance(pixels, faded) <= NEAR_DUPLICATE_BITS


def test_the_least_contrast_is_one_grey_level():
    # Noise with one value per pixel of the small image has, for every wave, a response with the
    # spread of the noise; the median of its absolute value is 0.6745 of that.
    noise = np.random.default_rng(1).normal(0, 1, (32, 32))

    def cells(spread):
        levels = np.round(128 + spread * noise).astype(np.uint8)
        return np.kron(levels, np.ones((12, 12), np.uint8))

    assert phash(cells(2.5)) is not None
    assert phash(cells(0.8)) is None


def test_a_hash_has_32_bytes_and_about_half_of_its_bits_set(frames):
    hashes = [phash(pixels) for pixels in frames]
    assert {len(found) for found in hashes if found is not None} == {BITS // 8}
    ones = np.unpackbits(np.frombuffer(b"".join(filter(None, hashes)), np.uint8)).mean()
    assert 0.4 < ones < 0.6


def test_the_hash_is_independent_of_depth_byte_order_and_alpha(frames):
    grey = frames[0].mean(axis=2).astype(np.uint8)
    alpha = np.dstack([np.repeat(grey[:, :, None], 3, axis=2), np.full_like(grey, 9)])
    for same in (grey.astype("<u2") * 257, grey.astype(">u2") * 257, alpha, grey[:, :, None]):
        assert phash(same) == phash(grey)
    assert distance(grey, frames[0]) <= NEAR_DUPLICATE_BITS


def test_mirrored_frames_are_not_near_duplicates(frames):
    assert distance(frames[0], frames[0][:, ::-1].copy()) > NEAR_DUPLICATE_BITS


@pytest.mark.parametrize("shape", [(1, 1, 3), (5, 5), (2, 900, 3)])
def test_tiny_frames_are_no_error(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    found = phash(pixels)
    assert found is None or len(found) == BITS // 8
