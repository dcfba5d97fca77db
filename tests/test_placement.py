import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve import Placement

HALF = Placement(rows=256, cols=256, row_scale=2.0, col_scale=2.0, row_offset=0.5, col_offset=10.5)


def test_the_first_pixel_lies_at_the_offset() -> None:
    assert HALF.to_source(0, 0) == (0.5, 10.5)


def test_positions_scale_by_axis() -> None:
    placement = Placement(
        rows=10, cols=20, row_scale=3.0, col_scale=2.0, row_offset=1.0, col_offset=-1.0
    )
    assert placement.to_source(2, 5) == (7.0, 9.0)


def test_lengths_scale_along_a_row() -> None:
    placement = Placement(
        rows=10, cols=20, row_scale=3.0, col_scale=2.0, row_offset=1.0, col_offset=-1.0
    )
    assert placement.length_to_source(37) == 74.0


@given(st.floats(0, 255), st.floats(0, 255), st.floats(-100, 100), st.floats(-100, 100))
def test_steps_do_not_depend_on_where_they_are_taken(
    row: float, col: float, down: float, right: float
) -> None:
    start = HALF.to_source(row, col)
    end = HALF.to_source(row + down, col + right)
    assert end[0] - start[0] == pytest.approx(2 * down, abs=1e-9)
    assert end[1] - start[1] == pytest.approx(2 * right, abs=1e-9)
