"""The compiled loops against slow ones, written from what they promise."""

import cv2
import numpy as np
import pytest

from capsieve.learned.features.kernels.order import ranked
from capsieve.learned.features.kernels.patches import KINDS
from capsieve.learned.features.kernels.planes import gather
from capsieve.learned.features.kernels.regions import region_sums
from capsieve.learned.features.kernels.statistics import band_power, count_peaks, deviation
from capsieve.learned.features.outline import outline
from capsieve.learned.features.patches import RADII, SCALES, best_patches
from capsieve.learned.features.planes import blurred, halved

SEEN = outline(60, 64, 59.0, 63.0, 57.0)
RNG = np.random.default_rng(3)


def noise(*shape: int) -> np.ndarray:
    return RNG.normal(0.0, 1.0, shape).astype(np.float32)


@pytest.mark.parametrize(
    "values",
    [
        noise(1000),
        -np.abs(noise(501)),
        np.array([4.0], np.float32),
        np.full(30, -2.5, np.float32),
        np.append(noise(200), np.float32(1e9)),
        np.repeat(np.array([0.0, 1.0, 2.0], np.float32), [5, 80, 3]),
    ],
    ids=["both signs", "negative", "single", "constant", "one far off", "steps"],
)
def test_values_of_a_rank_are_those_of_a_sort(values: np.ndarray) -> None:
    ranks = np.unique((np.array([0.0, 0.1, 0.5, 0.95, 1.0]) * (values.size - 1)).astype(np.int64))
    np.testing.assert_array_equal(ranked(values, ranks), np.sort(values)[ranks])


def test_what_is_gathered_is_what_lies_in_the_mask() -> None:
    planes = noise(60, 64, 3)
    found = np.empty(SEEN.count, np.float32)
    assert gather(planes.reshape(60, -1), 3, 1, SEEN.starts, SEEN.stops, found) == SEEN.count
    np.testing.assert_array_equal(found, planes[:, :, 1][SEEN.mask])


def test_a_region_holds_the_pixels_at_its_distances() -> None:
    first, second = noise(60, 64), noise(60, 64)
    row, col, ring = 11.5, 40.25, (64.0, 196.0)
    sums = region_sums((first, second), SEEN.mask, row, col, 36.0, ring)
    down, across = np.indices((60, 64))
    square = (down - row) ** 2 + (across - col) ** 2
    chosen = (square <= 36.0, (square >= ring[0]) & (square <= ring[1]))
    for found, where in zip(sums, chosen, strict=True):
        inside = [plane[where & SEEN.mask].astype(np.float64) for plane in (first, second)]
        expected = [inside[0].size, *(each.sum() for each in inside)]
        expected += [(each**2).sum() for each in inside]
        np.testing.assert_allclose(found, expected)


def test_the_deviation_is_that_of_the_mask() -> None:
    plane, less = noise(60, 64), noise(60, 64)
    expected = (plane - less)[SEEN.mask].astype(np.float64).std()
    assert deviation(plane, less, SEEN.starts, SEEN.stops) == pytest.approx(expected)


@pytest.mark.parametrize("cols", [12, 13])
def test_the_bands_hold_the_power_of_all_waves(cols: int) -> None:
    plane = noise(10, cols)
    frequency = np.fft.fftfreq(10)[:, None] ** 2 + np.fft.fftfreq(cols)[None, :] ** 2
    bands = np.digitize(frequency, [0.05, 0.1, 0.2])
    sums = np.zeros(4)
    band_power(cv2.dft(plane, flags=cv2.DFT_COMPLEX_OUTPUT), bands, sums)
    power = np.abs(np.fft.fft2(plane.astype(np.float64))) ** 2
    np.testing.assert_allclose(sums, np.bincount(bands.ravel(), power.ravel()), rtol=1e-5)


def test_peaks_are_the_highest_of_their_neighbours() -> None:
    band = noise(60, 64)
    square = np.ones((5, 5), np.uint8)
    around = np.asarray(cv2.dilate(band, square)), np.asarray(cv2.erode(band, square))
    found = count_peaks(band, *around, np.float32(0.5), SEEN.starts, SEEN.stops)
    expected = [0, 0]
    for row, col in zip(*np.nonzero(SEEN.mask), strict=True):
        near = band[max(row - 2, 0) : row + 3, max(col - 2, 0) : col + 3]
        expected[0] += int(band[row, col] == near.max() and band[row, col] > 0.5)
        expected[1] += int(band[row, col] == near.min() and band[row, col] < -0.5)
    assert list(found) == expected


def literal_patch(plane: np.ndarray, mask: np.ndarray, radius: int, step: int) -> tuple:
    """The largest of all lower quartiles of 16 falls, its place, and the mean of its falls."""
    angles = 2 * np.pi * (np.arange(16) + 0.5) / 16
    rows, cols = mask.shape
    best = (0.0, -1, -1, 0.0)
    for row in range(1, rows, step):
        for col in range(1, cols, step):
            falls = []
            inside = mask[row, col]
            for angle in angles:
                near, far = (
                    (
                        row + round(s * radius * np.sin(angle)),
                        col + round(s * radius * np.cos(angle)),
                    )
                    for s in (0.6, 1.35)
                )
                if not (0 <= near[0] < rows and 0 <= near[1] < cols and mask[near]):
                    inside = False
                elif 0 <= far[0] < rows and 0 <= far[1] < cols and mask[far]:
                    falls.append(plane[near] - plane[far])
            if inside and len(falls) >= 12:
                fall = sorted(falls)[len(falls) // 4 - 1]
                if fall > best[0]:
                    best = (fall, row, col, np.mean(falls))
    return best


def test_the_best_patches_are_those_of_the_slow_search() -> None:
    stacked = np.ascontiguousarray(blurred(noise(60, 64, KINDS), 2.0))
    found = best_patches(stacked, SEEN)
    plane, mask = stacked, SEEN.mask
    for scale, shrunk in enumerate(SCALES.values()):
        if shrunk > 1:
            plane, mask = halved(plane), mask[::2, ::2]
        shift = 0.5 * (shrunk - 1)
        for place, radius in enumerate(RADII):
            smooth = blurred(plane, 0.2 * radius)
            for kind in range(KINDS):
                patch = found[kind][2 * scale + place]
                fall, row, col, mean = literal_patch(
                    smooth[:, :, kind], mask, radius, 2 if shrunk == 1 else 1
                )
                assert patch.fall == pytest.approx(fall, rel=1e-5)
                assert patch.mean_fall == pytest.approx(mean, rel=1e-4)
                if row >= 0:
                    assert (patch.row, patch.col) == (shrunk * row + shift, shrunk * col + shift)
