"""Effects of changed parameters: the paper's printed deltas, and counts made by hand."""

import numpy as np
import pytest

from capsieve.frame_table import NORMAL, OTHER, POLYP
from capsieve.statistics.rates import RATES, rates
from capsieve.statistics.robustness import effect, relative_change
from support.labelled_frames import labelled_frames

# The paper's table of the robustness study, as it is printed.
PRINTED_BASE = (92.2, 47.4, 81.2)
PRINTED = {
    "sigma1": ((92.7, 0.54), (44.8, 5.49), (81.2, 0)),
    "sigma2": ((90.5, 1.84), (53.5, 12.87), (93.8, 15.5)),
    "M_L": ((92.3, 0.11), (47.0, 0.84), (81.2, 0)),
    "M_U": ((91.8, 0.43), (49.6, 4.64), (81.2, 0)),
    "S_L": ((92.2, 0), (47.4, 0), (81.2, 0)),
    "S_U": ((92.0, 0.22), (48.3, 1.90), (81.2, 0)),
    "E_max": ((91.7, 0.54), (48.7, 2.74), (81.2, 0)),
}
TRUTH = [POLYP, POLYP, POLYP, POLYP, NORMAL, NORMAL, NORMAL, OTHER]
POLYPS = [4, 4, 7, -1, -1, -1, -1, -1]


def frames(score=(1.0,) * 8):
    return labelled_frames(score, TRUTH, polyp=POLYPS)


def mask(*values):
    return np.array(values, dtype=bool)


@pytest.mark.parametrize("symbol", PRINTED)
def test_the_papers_printed_percentages_give_its_printed_deltas(symbol):
    for base, (value, delta) in zip(PRINTED_BASE, PRINTED[symbol], strict=True):
        digits = 1 if delta == 15.5 else 2
        assert relative_change(value, base) == pytest.approx(delta, abs=0.5001 * 10**-digits)


def test_a_change_from_nothing_is_not_defined():
    assert relative_change(0.5, 0.0) is None
    assert relative_change(None, 0.5) is None
    assert relative_change(0.5, None) is None


def test_rates_are_counted_per_frame_and_per_polyp():
    found = rates(frames(), mask(0, 1, 0, 1, 0, 1, 0, 1))
    assert [found[key] for key in RATES] == [(2, 3), (2, 4), (1, 2)]


def test_an_unscored_frame_is_missed_if_polyp_and_left_out_if_normal():
    score = [1.0, np.nan, 1, 1, np.nan, 1, 1, 1]
    found = rates(frames(score), mask(0, 0, 1, 1, 0, 1, 0, 0))
    assert [found[key] for key in RATES] == [(1, 2), (2, 4), (1, 2)]


def test_frames_whose_flag_changed_are_counted_in_both_directions():
    base, other = mask(0, 1, 1, 0, 0, 1, 1, 0), mask(1, 0, 1, 1, 1, 0, 1, 1)
    found = effect(frames(), base, other)
    assert found.gained == {"polyp": 2, "normal": 1}
    assert found.lost == {"polyp": 1, "normal": 1}
    assert found.delta["frames.sensitivity"] == pytest.approx(50)


def test_without_frames_there_is_no_rate():
    nothing = labelled_frames([], [])
    found = effect(nothing, mask(), mask())
    assert [found.rates[key].value for key in RATES] == [None] * 3
    assert [found.delta[key] for key in RATES] == [None] * 3
