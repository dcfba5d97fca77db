"""Labelled frames, their polyps and their exams."""

import numpy as np
import pytest

from capsieve.frame_table import NORMAL, OTHER, POLYP, UNLABELLED, Coded
from capsieve.statistics.frames import dense_units, exam_units, polyp_scores, reading_units
from support.labelled_frames import labelled_frames

P, N, U = POLYP, NORMAL, UNLABELLED


def names(coded):
    return [coded[row] for row in range(len(coded.code))]


def test_unscored_polyp_frames_count_and_unscored_normal_frames_do_not():
    frames = labelled_frames([1, np.nan, -np.inf] * 3, [P] * 3 + [N] * 3 + [OTHER] * 3)
    assert np.flatnonzero(frames.polyp_frames).tolist() == [0, 1, 2]
    assert np.flatnonzero(frames.normal_frames).tolist() == [3, 5]
    assert np.flatnonzero(frames.other_frames).tolist() == [6, 8]


def test_codes_are_texts_again():
    coded = Coded.of(["b", None, "a", "b"])
    assert names(coded) == ["b", None, "a", "b"]
    assert names(coded.take(np.array([2, 1]))) == ["a", None]


def test_taken_near_duplicates_refer_to_the_first_that_is_taken():
    frames = labelled_frames(np.arange(6), duplicate_of=[-1, 0, 0, 0, -1, 4], red=np.arange(6))
    taken = frames.take(np.array([False, True, True, False, True, True]))
    assert taken.duplicate_of.tolist() == [-1, 0, -1, 2]
    assert taken.red is not None
    assert taken.red.tolist() == [1, 2, 4, 5]
    assert frames.take(np.array([3, 5])).duplicate_of.tolist() == [-1, -1]


def test_units_are_numbered_in_the_order_of_their_first_frames():
    code, count, first = dense_units(np.array([7, -1, 7, 3, -1]))
    assert code.tolist() == [0, 1, 0, 2, 1]
    assert (count, first.tolist()) == (3, [0, 1, 3])
    assert dense_units(np.array([], int))[1] == 0


def test_a_polyp_has_the_best_score_of_its_frames():
    # Frame 3 is of no named polyp; polyp 2 was never scored, polyp 3 was rejected.
    frames = labelled_frames(
        [3, 7, 5, 9, 8, np.nan, -np.inf, 6],
        [P] * 7 + [N],
        polyp=[1, 1, 0, -1, 1, 2, 3, -1],
        group=[1, 1, 1, 0, 0, 0, 0, 0],
    )
    first, score, count, group, *_ = polyp_scores(frames)
    polyp = frames.polyp.code[first]
    assert polyp.tolist() == [1, 0, 2, 3]
    assert score.tolist() == [8, 5, -np.inf, -np.inf]
    assert count.tolist() == [3, 1, 1, 1]
    assert group.tolist() == [1, 1, 0, 0]


def test_a_screened_exam_without_a_label_is_a_reading_unit():
    frames = labelled_frames(
        np.ones(6), [N, U, U, U, N, U], exam=list("aabbcc"), unit=["y", "y", None, None, "y", None]
    )
    assert names(reading_units(frames)) == ["y", "y", "b", "b", "y", None]


@pytest.mark.parametrize("unit", [[None] * 3, ["x", None, "y"]])
def test_a_labelled_frame_without_a_unit_has_no_reading_unit(unit):
    frames = labelled_frames(np.ones(3), [N, N, P], exam=list("aab"), unit=unit)
    assert names(reading_units(frames)) == unit
    assert exam_units(frames).names == ()
