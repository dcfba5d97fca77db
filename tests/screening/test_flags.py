"""Reading lists and thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.screening.flags import FlagRule, find_near_duplicates, flag_frames, flag_rule

NONE = -1


def flagged_rows(scores, rule, *, rejected=(), duplicate_of=None):
    scores = np.array(scores, np.float64)
    mask = np.zeros(len(scores), bool)
    mask[list(rejected)] = True
    duplicates = np.full(len(scores), NONE) if duplicate_of is None else np.array(duplicate_of)
    return flag_frames(scores, mask, duplicates, rule)


def rows(flags):
    return np.flatnonzero(flags.flagged).tolist()


def test_share_is_rounded_up():
    flags = flagged_rows(np.arange(11.0), FlagRule("share", 0.1))
    assert rows(flags) == [9, 10]


@given(st.integers(1, 400), st.integers(1, 100))
def test_share_of_a_whole_number_of_frames_is_exact(tens, percent):
    flags = flagged_rows(np.arange(100.0 * tens), FlagRule("share", percent / 100))
    assert flags.listed == tens * percent


def test_count_takes_the_highest_scores():
    flags = flagged_rows([0.2, 0.9, 0.5, 0.7], FlagRule("count", 2))
    assert rows(flags) == [1, 3]
    assert flags.last_score == 0.7


def test_ties_go_to_the_earlier_row():
    assert rows(flagged_rows([0.5, 0.5, 0.5, 0.1], FlagRule("count", 2))) == [0, 1]


def test_near_duplicates_are_flagged_with_a_listed_frame_and_not_counted():
    # Rows 1 to 3 are one run. Its best score is that of row 2.
    duplicate_of = [NONE, NONE, 1, 1, NONE]
    flags = flagged_rows([0.6, 0.2, 0.9, 0.1, 0.5], FlagRule("count", 2), duplicate_of=duplicate_of)
    assert rows(flags) == [0, 1, 2, 3]
    assert flags.listed == 2
    assert flags.last_score == 0.6


def test_a_capsule_that_stands_still_does_not_push_polyps_off_the_list():
    """It stands still for 12 % of the exam on its highest false positive."""
    generator = np.random.default_rng(1)
    scores = generator.uniform(0, 0.5, 1000)
    duplicate_of = np.full(1000, NONE)
    scores[300:420] = 0.99 - 0.001 * generator.uniform(size=120)
    duplicate_of[301:420] = 300
    polyps = [10, 200, 500, 700, 950]
    scores[polyps] = 0.8
    flags = flagged_rows(scores, FlagRule("share", 0.1), duplicate_of=duplicate_of)
    assert flags.flagged[polyps].all()
    assert flags.flagged[300:420].all()
    assert flags.listed == 89  # a tenth of 881 frames, rounded up


def test_share_counts_frames_that_are_not_near_duplicates():
    duplicate_of = [NONE, *[0] * 89, *[NONE] * 10]
    flags = flagged_rows(np.linspace(0, 1, 100), FlagRule("share", 0.5), duplicate_of=duplicate_of)
    assert flags.listed == 6  # half of 11


def test_rejected_and_unscored_frames_are_never_flagged():
    scores = [np.nan, 0.0, 50.0]
    for rule in (FlagRule("count", 3), FlagRule("share", 1.0), FlagRule("threshold", 0.0)):
        assert rows(flagged_rows(scores, rule, rejected=[1])) == [2]


def test_rejected_frames_count_for_the_share():
    flags = flagged_rows([0.0] * 90 + [40.0] * 10, FlagRule("share", 0.05), rejected=range(90))
    assert flags.listed == 5


def test_a_count_larger_than_the_exam_is_reported():
    assert flagged_rows([0.1, 0.2], FlagRule("count", 3)).too_long
    assert not flagged_rows([0.1, 0.2], FlagRule("count", 2)).too_long


def test_threshold_flags_equal_scores_too():
    flags = flagged_rows([36.9, 37.0, 38.0], FlagRule("threshold", 37))
    assert rows(flags) == [1, 2]
    assert flags.last_score == 37.0


def test_an_exam_without_candidates_has_no_last_score():
    flags = flagged_rows([np.nan], FlagRule("share", 0.1))
    assert (rows(flags), flags.listed, flags.last_score) == ([], 0, None)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.integers(1, 60),
    st.randoms(use_true_random=False),
)
def test_no_unlisted_frame_has_a_higher_score_than_a_listed_run(scores, count, random):
    duplicate_of = np.full(len(scores), NONE)
    for row in range(1, len(scores)):
        if random.random() < 0.3:
            duplicate_of[row] = row - 1 if duplicate_of[row - 1] < 0 else duplicate_of[row - 1]
    flags = flagged_rows(scores, FlagRule("count", count), duplicate_of=duplicate_of)
    if flags.last_score is not None and not flags.flagged.all():
        assert np.array(scores)[~flags.flagged].max() <= flags.last_score
    assert flags.listed <= count


@pytest.mark.parametrize(
    ("read", "rule"),
    [
        ("10%", FlagRule("share", 0.1)),
        ("2.5 %", FlagRule("share", 0.025)),
        ("100%", FlagRule("share", 1.0)),
        ("300", FlagRule("count", 300)),
        (300, FlagRule("count", 300)),
    ],
)
def test_a_list_is_a_share_or_a_count(read, rule):
    assert flag_rule(read, None) == rule


@pytest.mark.parametrize("read", ["0", 0, "0.1", 0.1, "200%", "0%", "-5", "ten", "", "1e3", "٣"])
def test_impossible_lists_are_refused(read):
    with pytest.raises(ParameterError):
        flag_rule(read, None)


def test_list_and_threshold_exclude_each_other():
    with pytest.raises(ParameterError):
        flag_rule("10%", 0.5)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
def test_a_threshold_is_finite(threshold):
    with pytest.raises(ParameterError):
        flag_rule(None, threshold)


def changed(content, bits):
    values = np.unpackbits(np.frombuffer(content, np.uint8))
    values[:bits] ^= 1
    return np.packbits(values).tobytes()


def test_near_identical_frames_name_the_first_of_their_run():
    still, other = bytes(32), b"\xaa" * 32
    hashes = [still, changed(still, 31), None, still, changed(still, 32), other]
    assert find_near_duplicates(hashes).tolist() == [NONE, 0, NONE, 0, NONE, NONE]


def test_a_slow_change_ends_a_run():
    hashes = [changed(bytes(32), 10 * step) for step in range(8)]
    assert find_near_duplicates(hashes).tolist() == [NONE, 0, 0, 0, NONE, 4, 4, 4]
