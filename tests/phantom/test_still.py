import numpy as np
import pytest

import capsieve
from capsieve import FrameError
from capsieve.phantom import polyp_frame


def test_default_frame_passes_preselection_and_is_flagged():
    result = capsieve.analyze(polyp_frame())
    assert 3 <= result.texture_max <= 8
    assert result.label == "polyp"


def test_the_reference_flags_the_default_frame():
    import cv2

    from reference.algorithm1 import analyze

    small = cv2.resize(polyp_frame(), (256, 256), interpolation=cv2.INTER_AREA)
    analysis = analyze(small)
    assert analysis.preselected
    assert analysis.polyp


@pytest.mark.parametrize("size", [256, 512])
def test_the_ball_lies_on_the_polyp(size):
    frame = polyp_frame(size=size)
    best = capsieve.analyze(frame)
    assert best.best is not None
    row, col = best.placement.to_source(best.best.ball_row, best.best.ball_col)
    red, green = frame[round(row), round(col), :2].astype(float)
    around_red, around_green = np.median(frame[frame.sum(axis=2) > 60], axis=0)[:2]
    assert red / green > around_red / around_green


def test_same_seed_same_frame():
    assert np.array_equal(polyp_frame(seed=3, size=128), polyp_frame(seed=3, size=128))
    assert not np.array_equal(polyp_frame(seed=3, size=128), polyp_frame(seed=4, size=128))


@pytest.mark.parametrize("size", [64, 65, 256])
def test_frame_is_rgb_in_a_round_window_on_black(size):
    frame = polyp_frame(size=size)
    assert frame.shape == (size, size, 3)
    assert frame.dtype == np.uint8
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    distance = np.hypot(x, y) / size
    assert (frame[distance > 0.49] == 0).all()
    # The paper's mask, 0.45 widths, sees only tissue.
    assert frame[distance <= 0.46].sum(axis=1).min() > 20


def test_a_tiny_frame_is_refused():
    with pytest.raises(FrameError, match="at least 64"):
        polyp_frame(size=63)
