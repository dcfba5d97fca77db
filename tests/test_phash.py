"""The perceptual hash: stable under the changes of copies, different for other frames."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.field_of_view import find_field_of_view
from capsieve.frames import FieldOfView
from capsieve.phantom import plan_exam, render_frame
from capsieve.phash import (
    BITS,
    FIELD_NEAR_DUPLICATE_BITS,
    NEAR_DUPLICATE_BITS,
    PixelHashes,
    field_phash,
    match_near_duplicates,
    phash,
)


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


# Inside the field of view.


def canvas(pixels, size, row, col):
    larger = np.zeros((size, size, 3), np.uint8)
    larger[row : row + len(pixels), col : col + len(pixels)] = pixels
    return larger


def exported(pixels):
    """Return the frame as another program may export it: larger, with a margin and text, JPEG."""
    larger = canvas(cv2.resize(pixels, (480, 480), interpolation=cv2.INTER_CUBIC), 576, 40, 56)
    cv2.putText(larger, "00:12:34", (8, 20), cv2.FONT_HERSHEY_PLAIN, 1.4, (255, 255, 255))
    return jpeg(larger, 85)


def rows_of(images):
    """Return the hashes of images of one size, with the field of view that a screening finds."""
    field = find_field_of_view(images)
    hashes = [(phash(each), field_phash(each, field)) for each in images]
    content = [[list(each or bytes(32)) for each in row] for row in hashes]
    return np.array(content, np.uint8)


EXPORTS = {
    "canvas": lambda pixels: canvas(pixels, 480, 30, 100),
    "export": exported,
    "mirrored": lambda pixels: canvas(pixels[:, ::-1], 400, 20, 30),
    "turned": lambda pixels: np.ascontiguousarray(np.rot90(pixels)),
    "upside down": lambda pixels: jpeg(pixels[::-1]),
    "transposed": lambda pixels: exported(pixels.transpose(1, 0, 2)),
    "shifted": lambda pixels: np.roll(pixels, 4, axis=0),
}


@pytest.mark.parametrize("change", EXPORTS.values(), ids=EXPORTS)
def test_other_exports_of_a_frame_are_near_duplicates_of_it_alone(frames, change):
    match, matched = match_near_duplicates(
        rows_of([change(each) for each in frames]), rows_of(frames)
    )
    assert match.tolist() == list(range(len(frames)))
    assert matched.all()


def test_the_field_of_view_may_be_anywhere_on_the_frame(frames):
    field = FieldOfView("circle", 167.5, 167.5, 160.0)
    moved = FieldOfView("circle", 197.5, 267.5, 160.0)
    for pixels in frames:
        hashes = field_phash(pixels, field), field_phash(canvas(pixels, 480, 30, 100), moved)
        a, b = (np.unpackbits(np.frombuffer(each or b"", np.uint8)) for each in hashes)
        assert (a != b).sum() <= 4  # positions of OpenCV are multiples of 1/32 pixel


def test_without_a_field_of_view_the_centred_square_counts(frames):
    wide = cv2.copyMakeBorder(frames[0], 0, 0, 50, 50, cv2.BORDER_REPLICATE)
    unsure = FieldOfView("circle", 20.0, 20.0, 9.0, confidence=0.0)
    expected = field_phash(frames[0], None)
    assert field_phash(wide, None) == field_phash(wide, unsure) == expected


def test_a_field_of_view_beyond_the_frame_is_no_error(frames):
    assert field_phash(frames[0], FieldOfView("circle", 5.0, 400.0, 300.0)) is not None
    assert field_phash(frames[0][:, :, 0], FieldOfView("circle", 150.0, 150.0, 90.0)) is not None


# Comparison of all hashes.


def distances(a, b):
    bits_a, bits_b = (np.unpackbits(hashes, axis=1).astype(int) for hashes in (a, b))
    return (bits_a[:, None, :] != bits_b[None, :, :]).sum(axis=2)


def related(rng, count, clusters):
    """Return hashes that scatter around few of them, so that many pairs are near the limits."""
    bits = rng.integers(0, 2, (clusters, 256))[rng.integers(0, clusters, count)]
    for row in bits:
        row[rng.choice(256, rng.integers(0, 25), replace=False)] ^= 1
    rows = np.packbits(bits.astype(np.uint8), axis=1)
    rows[rng.random(count) < 0.1] = 0
    return rows


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(0, 30))
def test_near_duplicates_agree_with_bits_counted_one_by_one(seed, size_a, size_b):
    rng = np.random.default_rng(seed)
    a, b = (
        np.stack([related(rng, size, clusters=3), related(rng, size, clusters=2)], axis=1)
        for size in (size_a, size_b)
    )
    match, matched = match_near_duplicates(a, b)
    near = np.zeros((size_a, size_b), bool)
    for kind, limit in enumerate((NEAR_DUPLICATE_BITS, FIELD_NEAR_DUPLICATE_BITS)):
        of_a, of_b = (np.asarray(hashes[:, kind].any(axis=1)) for hashes in (a, b))
        known = of_a[:, None] & of_b
        near |= known & (distances(a[:, kind], b[:, kind]) <= limit)
    np.testing.assert_array_equal(matched, near.any(axis=0))
    expected = np.where(near.any(axis=1), near.argmax(axis=1) if size_b else 0, -1)
    np.testing.assert_array_equal(match, expected)


def test_frames_without_any_hash_are_featureless():
    rows = np.zeros((3, 2, 32), np.uint8)
    rows[0, 0, 5] = rows[1, 1, 5] = 1
    assert PixelHashes(np.arange(3), rows).featureless.tolist() == [False, False, True]


def test_other_arrays_are_refused():
    with pytest.raises(ValueError, match="rows of 2 x 32 bytes"):
        match_near_duplicates(np.zeros((1, 2, 16), np.uint8), np.zeros((1, 2, 32), np.uint8))
