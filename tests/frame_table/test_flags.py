"""Reading lists and thresholds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.frame_table import FlagRule, flagged, near_duplicates, reading_list, to_read

NONE = -1


def flagged_rows(scores, rule, duplicate_of=None, exam=None):
    scores = np.array(scores, np.float64)
    duplicates = np.full(len(scores), NONE) if duplicate_of is None else np.array(duplicate_of)
    return np.flatnonzero(flagged(scores, duplicates, rule, exam)).tolist()


@st.composite
def exams(draw):
    """Scores of two exams with ties, unscored (NaN) and rejected frames (-inf), and runs."""
    size = draw(st.integers(1, 40))
    values = st.sampled_from([np.nan, -np.inf, *range(6)])
    scores = np.array(draw(st.lists(values, min_size=size, max_size=size)), np.float64)
    exam = np.array(sorted(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))))
    duplicate_of = np.full(size, NONE)
    for row in range(1, size):
        if exam[row] == exam[row - 1] and draw(st.booleans()):
            duplicate_of[row] = row - 1 if duplicate_of[row - 1] < 0 else duplicate_of[row - 1]
    return scores, duplicate_of, np.unique(exam, return_inverse=True)[1]


RULES = st.one_of(
    st.builds(FlagRule, st.just("threshold"), st.sampled_from([-1.0, 0.0, 2.5, 3.0, 9.0])),
    st.builds(FlagRule, st.just("share"), st.floats(0.001, 1.0)),
    st.builds(FlagRule, st.just("count"), st.integers(1, 50)),
)


def by_definition(scores, duplicate_of, rule):
    """Flag the frames of one exam as docs/screening.md says, one after the other."""
    rows = range(len(scores))
    if rule.kind == "threshold":
        return [row for row in rows if scores[row] >= rule.value and scores[row] > -np.inf]
    first = [row if duplicate_of[row] < 0 else duplicate_of[row] for row in rows]
    counted = len({first[row] for row in rows if not np.isnan(scores[row])})
    wanted = rule.value
    if rule.kind == "share":
        wanted = math.ceil(round(rule.value * counted, 6))
    listed = []
    for row in sorted(rows, key=lambda row: (-np.nan_to_num(scores[row], nan=-np.inf), row)):
        if scores[row] > -np.inf and first[row] not in listed and len(listed) < wanted:
            listed.append(first[row])
    return [row for row in rows if scores[row] > -np.inf and first[row] in listed]


@given(exams(), RULES)
def test_flags_are_those_of_the_definition_in_each_exam(exam_frames, rule):
    scores, duplicate_of, exam = exam_frames
    found = flagged_rows(scores, rule, duplicate_of, exam)
    expected = []
    for code in np.unique(exam):
        rows = np.flatnonzero(exam == code)
        own = np.where(duplicate_of < 0, NONE, duplicate_of - rows[0])[rows]
        expected += rows[by_definition(scores[rows], own, rule)].tolist()
        # Screening flags one exam at a time, and evaluation all of them.
        assert flagged_rows(scores[rows], rule, own) == by_definition(scores[rows], own, rule)
    assert found == expected


@given(exams(), st.floats(0.001, 1.0))
def test_a_frame_is_listed_from_its_share_on(exam_frames, share):
    listing = reading_list(*exam_frames)
    rule = FlagRule("share", share)
    np.testing.assert_array_equal(listing.flagged(rule), listing.share() <= share)


@given(exams(), RULES)
def test_a_larger_list_contains_a_smaller_one(exam_frames, rule):
    scores, duplicate_of, exam = exam_frames
    less = -abs(rule.value) - 1 if rule.kind == "threshold" else rule.value
    more = FlagRule(rule.kind, {"share": 1.0, "count": less + 1}.get(rule.kind, less))
    smaller = flagged_rows(scores, rule, duplicate_of, exam)
    assert set(smaller) <= set(flagged_rows(scores, more, duplicate_of, exam))


def test_frames_of_an_unknown_exam_are_on_no_list():
    exam = np.array([0, -1, 0])
    assert flagged_rows([1.0, 9.0, 2.0], FlagRule("share", 1.0), exam=exam) == [0, 2]


def test_share_is_rounded_up():
    assert flagged_rows(np.arange(11.0), FlagRule("share", 0.1)) == [9, 10]


@given(st.integers(1, 400), st.integers(1, 100))
def test_share_of_a_whole_number_of_frames_is_exact(tens, percent):
    assert len(flagged_rows(np.arange(100.0 * tens), FlagRule("share", percent / 100))) == (
        tens * percent
    )


def test_ties_go_to_the_earlier_row():
    assert flagged_rows([0.5, 0.5, 0.5, 0.1], FlagRule("count", 2)) == [0, 1]


def test_near_duplicates_are_flagged_with_a_listed_frame_and_not_counted():
    # Rows 1 to 3 are one run. Its best score is that of row 2.
    duplicate_of = [NONE, NONE, 1, 1, NONE]
    rows = flagged_rows([0.6, 0.2, 0.9, 0.1, 0.5], FlagRule("count", 2), duplicate_of)
    assert rows == [0, 1, 2, 3]


def test_a_capsule_that_stands_still_does_not_push_polyps_off_the_list():
    """It stands still for 12 % of the exam on its highest false positive."""
    generator = np.random.default_rng(1)
    scores = generator.uniform(0, 0.5, 1000)
    duplicate_of = np.full(1000, NONE)
    scores[300:420] = 0.99 - 0.001 * generator.uniform(size=120)
    duplicate_of[301:420] = 300
    polyps = [10, 200, 500, 700, 950]
    scores[polyps] = 0.8
    rows = flagged_rows(scores, FlagRule("share", 0.1), duplicate_of)
    assert {*polyps, *range(300, 420)} <= set(rows)
    assert len(rows) - 119 == 89  # a tenth of 881 frames, rounded up


def test_rejected_and_unscored_frames_are_never_flagged():
    scores = [np.nan, -np.inf, 50.0]
    for rule in (FlagRule("count", 3), FlagRule("share", 1.0), FlagRule("threshold", 0.0)):
        assert flagged_rows(scores, rule) == [2]


def test_rejected_frames_count_for_the_share():
    assert len(flagged_rows([-np.inf] * 90 + [40.0] * 10, FlagRule("share", 0.05))) == 5


def test_threshold_flags_equal_scores_too():
    assert flagged_rows([36.9, 37.0, 38.0], FlagRule("threshold", 37)) == [1, 2]


@given(exams(), RULES)
def test_a_hidden_near_duplicate_leads_to_a_frame_of_its_event_that_is_read(exam_frames, rule):
    scores, duplicate_of, exam = exam_frames
    flags = flagged(scores, duplicate_of, rule, exam)
    event = np.where(flags, exam, -1)
    read = to_read(event, scores, duplicate_of)
    for row in np.flatnonzero(flags & ~read):
        assert event[duplicate_of[row]] == event[row]
        assert read[duplicate_of[row]]
    for code in np.unique(event[event >= 0]):
        rows = np.flatnonzero(event == code)
        assert read[rows[np.argmax(scores[rows])]]


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
    assert FlagRule.parse(read=read) == rule


@pytest.mark.parametrize("read", ["0", 0, "0.1", 0.1, "200%", "0%", "-5", "ten", "", "1e3", "٣"])
def test_impossible_lists_are_refused(read):
    with pytest.raises(ParameterError):
        FlagRule.parse(read=read)


def test_list_and_threshold_exclude_each_other():
    with pytest.raises(ParameterError):
        FlagRule.parse(read="10%", threshold=0.5)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
def test_a_threshold_is_finite(threshold):
    with pytest.raises(ParameterError):
        FlagRule.parse(threshold=threshold)


def changed(content, bits):
    values = np.unpackbits(np.frombuffer(content, np.uint8))
    values[:bits] ^= 1
    return np.packbits(values).tobytes()


def test_near_identical_frames_name_the_first_of_their_run():
    still, other = bytes(32), b"\xaa" * 32
    hashes = [still, changed(still, 31), None, still, changed(still, 32), other]
    assert near_duplicates(hashes, np.zeros(len(hashes), int)).tolist() == [
        NONE,
        0,
        NONE,
        0,
        NONE,
        NONE,
    ]


def test_a_slow_change_ends_a_run():
    hashes = [changed(bytes(32), 10 * step) for step in range(8)]
    assert near_duplicates(hashes, np.zeros(len(hashes), int)).tolist() == [
        NONE,
        0,
        0,
        0,
        NONE,
        4,
        4,
        4,
    ]


def test_the_first_frame_of_a_head_is_no_near_duplicate():
    assert near_duplicates([bytes(32)] * 4, np.array([0, 0, 1, 1])).tolist() == [NONE, 0, NONE, 2]
