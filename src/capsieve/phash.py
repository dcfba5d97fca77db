"""Perceptual hashes of frames: 256 bits that survive compression, scaling and brightness changes.

Two frames are near-duplicates if the hashes of the frames differ in at most
:data:`NEAR_DUPLICATE_BITS` bits, or those inside the fields of view, in one of eight orientations,
in at most :data:`FIELD_NEAR_DUPLICATE_BITS`. docs/leaks.md shows how much the hashes of other
frames differ.
"""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frame_images import eight_bits
from capsieve.frames import FieldOfView

BITS = 256
NEAR_DUPLICATE_BITS = 31
FIELD_NEAR_DUPLICATE_BITS = 36
"""More than for whole frames: fields of view are found with an error of up to one percent."""

_BYTES = BITS // 8
_LEAST_CONTRAST = 1.0  # grey levels; below it, the signs are those of noise and rounding
_SAMPLED = 96  # pixels across the frame; more do not make the hash more stable
_SIDE = 32  # pixels of the small grey image
_WAVES = 20  # per axis; 16 longer ones per axis are not enough for 256 without the constant ones
_PRECISION = 4096  # integer waves make the sums exact on every machine


class PixelHashes(NamedTuple):
    """Hashes of the images of frames.

    Attributes
    ----------
    pixels
        A code per frame, equal for equal frame hashes; -1 if the frame was not decoded.
    phash
        Perceptual hashes, N x 2 x 32 bytes: of the frame, and inside its field of view. All bytes
        are 0 if there is none, because the frame was not decoded or is featureless.
    """

    pixels: NDArray[np.int64]
    phash: NDArray[np.uint8]

    @property
    def featureless(self) -> NDArray[np.bool_]:
        """Frames without a perceptual hash."""
        return np.asarray(~self.phash.any(axis=(1, 2)))


def phash(pixels: NDArray[Any], square: FieldOfView | None = None) -> bytes | None:
    """Return the perceptual hash of a frame, or of the square around its field of view.

    The image is reduced to a grey image x of 32 x 32 pixels and multiplied with cosine waves under
    a window that fades out the border,

        c_uv = sum_rs w_r w_s cos(pi u (r + 1/2) / 32) cos(pi v (s + 1/2) / 32) x_rs,
        w_r = (1 - cos(2 pi (r + 1/2) / 32)) / 2.

    The hash contains the signs of c for the 256 longest waves. A change of brightness multiplies
    all c and keeps their signs. The window hides crops of one or two percent and captions in the
    corners.

    Parameters
    ----------
    pixels
        Rows x columns, or with three or more channels (RGB first); 8 or 16 bits.
    square
        The field of view; without it the whole frame is used.

    Returns
    -------
    bytes or None
        32 bytes; every group of 16 bits contains waves of all lengths. None if half of the waves
        are weaker than one grey level: such featureless frames resemble each other.
    """
    waves, order, norm = _waves()
    c = (waves @ _small_grey(pixels, square) @ waves.T).ravel()[order]
    contrast = np.partition(np.abs(c / norm), BITS // 2)[BITS // 2]
    return np.packbits(c > 0).tobytes() if contrast >= _LEAST_CONTRAST else None


def field_phash(pixels: NDArray[Any], field_of_view: FieldOfView | None) -> bytes | None:
    """Return the perceptual hash inside the field of view: :func:`phash` of the square around it.

    It does not depend on where the field of view is on the frame, nor on what is around it. Without
    a field of view, or if its confidence is 0, the centred square of the frame is used.
    """
    if field_of_view is None or field_of_view.confidence == 0:
        rows, cols = pixels.shape[:2]
        field_of_view = FieldOfView("full", (rows - 1) / 2, (cols - 1) / 2, min(rows, cols) / 2)
    return phash(pixels, field_of_view)


def _small_grey(pixels: NDArray[Any], square: FieldOfView | None) -> NDArray[np.float64]:
    pixels = eight_bits(pixels)
    if pixels.ndim == 3:
        pixels = pixels[:, :, :3] if pixels.shape[2] >= 3 else pixels[:, :, 0]
    # Sampling first: a mean over all pixels would take as long as the frame hash.
    size = (_SAMPLED, _SAMPLED)
    if square is None:
        sampled = cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR)
    else:
        step = 2 * square.radius / _SAMPLED
        first = 0.5 * step - square.radius
        to_square = np.array([[step, 0, square.col + first], [0, step, square.row + first]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        sampled = cv2.warpAffine(np.ascontiguousarray(pixels), to_square, size, flags=flags)
    grey = sampled if sampled.ndim == 2 else cv2.cvtColor(sampled, cv2.COLOR_RGB2GRAY)
    return cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA).astype(np.float64)


@lru_cache(maxsize=1)
def _waves() -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Return the windowed waves of one axis, the chosen products of two, and their norms."""
    position = (np.arange(_SIDE) + 0.5) / _SIDE
    window = 0.5 - 0.5 * np.cos(2 * np.pi * position)
    waves = np.round(_PRECISION * window * np.cos(np.pi * np.arange(_WAVES)[:, None] * position))
    u, v = np.mgrid[:_WAVES, :_WAVES]
    # Under the window these four respond to the mean brightness; the others do not.
    constant = np.isin(u, (0, 2)) & np.isin(v, (0, 2))
    longest = np.argsort(np.where(constant, np.inf, u * u + v * v).ravel(), kind="stable")[:BITS]
    order = longest.reshape(BITS // 16, 16).T.ravel()
    norm = np.sqrt((waves * waves).sum(axis=1))
    return waves, order, np.outer(norm, norm).ravel()[order]


def match_near_duplicates(
    a: NDArray[np.uint8], b: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Compare the perceptual hashes of every frame of `a` with those of every frame of `b`.

    Parameters
    ----------
    a, b
        As in :class:`PixelHashes`. 50,000 frames against 10,000 take some seconds.

    Returns
    -------
    match
        For each row of `a` the first row of `b` that is a near-duplicate, or -1.
    matched
        For each row of `b` whether a row of `a` matches.
    """
    for hashes in (a, b):
        if hashes.shape[1:] != (2, _BYTES) or hashes.dtype != np.uint8:
            raise ValueError(
                f"hashes are rows of 2 x {_BYTES} bytes, not {hashes.dtype} {hashes.shape}"
            )
    match, matched = np.full(len(a), len(b), np.int64), np.zeros(len(b), np.bool_)
    for kind, limit in enumerate((NEAR_DUPLICATE_BITS, FIELD_NEAR_DUPLICATE_BITS)):
        of_a, of_b = (np.flatnonzero(hashes[:, kind].any(axis=1)) for hashes in (a, b))
        if not len(of_a) or not len(of_b):
            continue
        words = _words(a[of_a, kind])
        known = b[of_b, kind]
        for oriented in orientations(known) if kind else (known,):
            first, has_match = _compiled_comparison()(words, _words(oriented), np.uint64(limit))
            near = first >= 0
            match[of_a[near]] = np.minimum(match[of_a[near]], of_b[first[near]])
            matched[of_b] |= has_match
    return np.where(match < len(b), match, -1), matched


def orientations(hashes: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Yield the hashes of the images: unchanged, mirrored, turned, and both.

    A mirror image changes the sign of odd waves; a transposed image has u and v exchanged. One of
    the waves, (9, 15), has no counterpart among the longest and stays in its place.
    """
    u, v = np.divmod(_waves()[1], _WAVES)
    bit = {pair: number for number, pair in enumerate(zip(u.tolist(), v.tolist(), strict=True))}
    transposed = [bit.get((b, a), number) for (a, b), number in bit.items()]
    bits = np.unpackbits(hashes, axis=1)
    for turned in (hashes, np.packbits(bits[:, transposed], axis=1)):
        for odd in (0 * u, u, v, u + v):
            yield turned ^ np.packbits(odd % 2 == 1)


def _words(hashes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(hashes).view(np.uint64)


@cache
def _compiled_comparison() -> Callable[..., Any]:
    from capsieve.compiling import compiled  # here, because numba is slow to import

    return compiled(_compare_all)


def _compare_all(a, b, limit):
    """Return for each row of a the first row of b within the limit or -1, and the rows of b."""
    match = np.full(len(a), -1, np.int64)
    matched = np.zeros(len(b), np.bool_)
    one, two, four, top = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
    pairs, nibbles = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    octets, sums = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    for i in range(len(a)):
        for j in range(len(b)):
            differing = np.uint64(0)
            for k in (0, 2):  # the first two words are nearly always enough
                for word in (a[i, k] ^ b[j, k], a[i, k + 1] ^ b[j, k + 1]):
                    # LLVM recognises this as one instruction that counts bits (popcnt).
                    bits = word - ((word >> one) & pairs)
                    bits = (bits & nibbles) + ((bits >> two) & nibbles)
                    bits = (bits + (bits >> four)) & octets
                    differing += (bits * sums) >> top
                if differing > limit:
                    break
            if differing <= limit:
                matched[j] = True
                if match[i] < 0:
                    match[i] = j
    return match, matched
