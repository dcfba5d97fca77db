"""The outward sweep of the extension."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["extend"]


@compiled
def _sweep_right(values, inwards, along, lift, slope):
    """Fill a row from its second place on; `inwards` is the row nearer to the centre."""
    behind = values[0]
    for col in range(1, values.size):
        part = along[col]
        known = slope * lift[col] + part * inwards[col]
        behind = known + (np.float32(1.0) - part) * behind
        values[col] = behind


@compiled
def _sweep_left(values, inwards, along, lift, slope):
    """Fill a row from its last place but one backwards."""
    last = values.size - 1
    behind = values[last]
    for step in range(1, values.size):
        col = np.uint64(last - step)
        part = along[col]
        known = slope * lift[col] + part * inwards[col]
        behind = known + (np.float32(1.0) - part) * behind
        values[col] = behind


@compiled
def _solve_pair(frame, first, second, near_first, near_second, own_first, own_second, lifts):
    """Solve two pixels that are each other's neighbours.

    x = lift_x + (1 - own_x) y + own_x near_x, and the same for y.
    """
    right_first = lifts[0] + own_first * near_first
    right_second = lifts[1] + own_second * near_second
    to_second, to_first = 1.0 - own_first, 1.0 - own_second
    value = (right_first + to_second * right_second) / (1.0 - to_second * to_first)
    frame[first] = value
    frame[second] = right_second + to_first * value


@compiled
def _straddling(offsets):
    """Return the index whose successor lies on the other side of the centre, or -1."""
    for k in range(offsets.size - 1):
        if offsets[k] < 0.0 < offsets[k + 1]:
            return k
    return -1


@compiled
def _fill_row(frame, row, inwards, col_pair, col_centre, starts, stops, along, lift, slope):
    """Fill what lies outside the mask in a row; `inwards`, its inner neighbour, is complete."""
    if starts[row] < stops[row]:
        right, left = stops[row], starts[row] - 1
    elif col_pair >= 0:
        a, b = col_pair, col_pair + 1
        _solve_pair(
            frame,
            (row, a),
            (row, b),
            inwards[a],
            inwards[b],
            along[row, a],
            along[row, b],
            (slope * lift[row, a], slope * lift[row, b]),
        )
        right, left = b + 1, a - 1
    else:
        # On the axis a = 1, b = 0: the value comes from the inner row alone.
        frame[row, col_centre] = slope * lift[row, col_centre] + inwards[col_centre]
        right, left = col_centre + 1, col_centre - 1
    values = frame[row]
    down, up = along[row], lift[row]
    begin, end = right - 1, left + 2  # the known pixel from which the sweep starts is included
    _sweep_right(values[begin:], inwards[begin:], down[begin:], up[begin:], slope)
    _sweep_left(values[:end], inwards[:end], down[:end], up[:end], slope)


@compiled
def _fill_row_pair(frame, upper, starts, stops, along, lift, slope):
    """Fill the two rows around a centre that lies between them, outwards from the mask."""
    cols = frame.shape[1]
    lower = upper + 1
    for direction in (1, -1):
        if direction == 1:
            col, end = min(stops[upper], stops[lower]), cols
        else:
            col, end = max(starts[upper], starts[lower]) - 1, -1
        while col != end:
            upper_known = starts[upper] <= col < stops[upper]
            lower_known = starts[lower] <= col < stops[lower]
            own_upper = 1.0 - along[upper, col]
            own_lower = 1.0 - along[lower, col]
            lift_upper, lift_lower = slope * lift[upper, col], slope * lift[lower, col]
            near_upper, near_lower = frame[upper, col - direction], frame[lower, col - direction]
            if upper_known and not lower_known:
                frame[lower, col] = (
                    lift_lower + along[lower, col] * frame[upper, col] + own_lower * near_lower
                )
            elif lower_known and not upper_known:
                frame[upper, col] = (
                    lift_upper + along[upper, col] * frame[lower, col] + own_upper * near_upper
                )
            elif not upper_known:
                _solve_pair(
                    frame,
                    (upper, col),
                    (lower, col),
                    near_upper,
                    near_lower,
                    own_upper,
                    own_lower,
                    (lift_upper, lift_lower),
                )
            col += direction


@compiled
def extend(frame, row_offsets, col_offsets, starts, stops, along, lift, slope):
    """Fill the frame outside the mask in place: the centre's rows first, then outwards."""
    rows = frame.shape[0]
    col_pair = _straddling(col_offsets)
    col_centre = np.argmin(np.abs(col_offsets))
    upper = _straddling(row_offsets)
    if upper >= 0:
        _fill_row_pair(frame, upper, starts, stops, along, lift, slope)
        above, below = upper - 1, upper + 2
    else:
        centre = np.argmin(np.abs(row_offsets))
        # On the axis nothing comes from an inner row: what lies outside the mask is never read.
        nothing = np.zeros(frame.shape[1], np.float32)
        _fill_row(frame, centre, nothing, col_pair, col_centre, starts, stops, along, lift, slope)
        above, below = centre - 1, centre + 1
    for row in range(below, rows):
        _fill_row(
            frame, row, frame[row - 1], col_pair, col_centre, starts, stops, along, lift, slope
        )
    for row in range(above, -1, -1):
        _fill_row(
            frame, row, frame[row + 1], col_pair, col_centre, starts, stops, along, lift, slope
        )
