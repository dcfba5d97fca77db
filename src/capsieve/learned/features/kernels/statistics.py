"""Statistics of planes over the mask, each in one pass."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["band_power", "count_beyond", "count_peaks", "deviation", "window_frame", "zone_sums"]


@compiled
def deviation(plane, less, starts, stops):
    """Return the standard deviation in the mask of a plane less another one."""
    count, total, squares = 0, 0.0, 0.0
    for row in range(starts.size):
        first, second = plane[row, starts[row] : stops[row]], less[row, starts[row] : stops[row]]
        count += first.size
        for n in range(first.size):
            value = np.float64(first[n] - second[n])
            total += value
            squares += value * value
    mean = total / count
    return np.sqrt(max(squares / count - mean * mean, 0.0))


@compiled
def window_frame(light, window, out):
    """Write (light - level) window, where the level makes its sum 0; 0 for a window of nothing."""
    total, weights = 0.0, 0.0
    for n in range(light.size):
        total += light[n] * window[n]
        weights += window[n]
    level = np.float32(total / weights if weights > 0.0 else 0.0)
    for n in range(light.size):
        out[n] = (light[n] - level) * window[n]


@compiled
def band_power(waves, bands, sums):
    """Add the power of each wave to its band's sum.

    `waves` is rows x columns x 2. Of a real frame's waves the second half of the columns mirrors
    the first: those between the first and the middle count twice, for themselves and their mirror.
    """
    rows, cols = bands.shape
    for row in range(rows):
        for col in range(cols // 2 + 1):
            twice = col > 0 and 2 * col != cols
            real, imaginary = np.float64(waves[row, col, 0]), np.float64(waves[row, col, 1])
            power = real * real + imaginary * imaginary
            sums[bands[row, col]] += 2.0 * power if twice else power


@compiled
def count_beyond(values, low, high):
    """Return how many values are below `low`, and how many above `high`."""
    below, above = 0, 0
    for n in range(values.size):
        below += values[n] < low
        above += values[n] > high
    return below, above


@compiled
def count_peaks(band, highest, lowest, least, starts, stops):
    """Return how many pixels in the mask stand out from all around, upwards and downwards.

    They are the highest around and above `least`, or the lowest and below -`least`.
    """
    peaks, pits = 0, 0
    for row in range(starts.size):
        span = slice(starts[row], stops[row])
        values, tops, bottoms = band[row, span], highest[row, span], lowest[row, span]
        for n in range(values.size):
            peaks += (values[n] >= tops[n]) & (values[n] > least)
            pits += (values[n] <= bottoms[n]) & (values[n] < -least)
    return peaks, pits


@compiled
def zone_sums(plane, distance, near, far, starts, stops):
    """Return sum and count in the mask where the distance is at most `near`, and above `far`.

    `near` is at most `far`.
    """
    near_sum, near_count, far_sum, far_count = 0.0, 0, 0.0, 0
    for row in range(starts.size):
        values, away = plane[row, starts[row] : stops[row]], distance[row, starts[row] : stops[row]]
        for n in range(values.size):
            value = np.float64(values[n])
            if away[n] <= near:
                near_sum += value
                near_count += 1
            elif away[n] > far:
                far_sum += value
                far_count += 1
    return near_sum, near_count, far_sum, far_count
