"""The range of inputs that the paper's detector was calibrated on."""

import math

from capsieve.reference_range import MEASURES, paper_range


def test_every_measure_has_its_range_and_no_other():
    assert paper_range().quantiles.keys() == MEASURES.keys()


def test_every_range_runs_from_low_to_high():
    for low, high in paper_range().quantiles.values():
        assert math.isfinite(low)
        assert math.isfinite(high)
        assert low < high


def test_shares_and_levels_are_possible_ones():
    quantiles = paper_range().quantiles
    for name in ("redness", "blueness"):
        assert 0 < quantiles[name][0] < quantiles[name][1] < 1
    assert 0 < quantiles["brightness"][0] < quantiles["brightness"][1] < 255
    assert quantiles["texture"][0] > 0
    assert quantiles["field"][0] > 0


def test_the_reference_says_which_exams_in_words():
    assert "phantom" in paper_range().reference


def test_it_is_read_once():
    assert paper_range() is paper_range()
