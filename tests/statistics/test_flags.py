"""Which frames a threshold flags, and which frames count."""

import numpy as np

from capsieve.statistics.flags import (
    flagged_at,
    negative_scores,
    normal_frames,
    number_of,
    polyp_frames,
    positive_scores,
    unscored_note,
)
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from judged_frames import judged_frames


def test_a_score_at_the_threshold_is_flagged() -> None:
    assert flagged_at([36.0, 37.0, 38.0], 37.0).tolist() == [False, True, True]


def test_rejected_and_unscored_frames_are_never_flagged() -> None:
    assert not flagged_at([0.0, -1.0, np.nan], -5.0).any()


def test_unscored_polyp_frames_are_missed_and_unscored_normal_frames_left_out() -> None:
    assert positive_scores([2.0, np.nan, -1.0]).tolist() == [2.0, 0.0, 0.0]
    assert negative_scores([2.0, np.nan, -1.0]).tolist() == [2.0, 0.0]


def test_masks_follow_the_same_rule() -> None:
    judged = judged_frames(
        [np.nan, 1.0, np.nan, 1.0, 1.0, 1.0], [POLYP, POLYP, NORMAL, NORMAL, OTHER, UNLABELLED]
    )
    assert polyp_frames(judged).tolist() == [True, True, False, False, False, False]
    assert normal_frames(judged).tolist() == [False, False, False, True, False, False]


def test_unscored_frames_are_counted_and_named() -> None:
    judged = judged_frames([np.nan, np.nan, np.nan, 1.0], [POLYP, NORMAL, NORMAL, NORMAL])
    assert unscored_note(judged, truth=POLYP) == "1 polyp frame not scored: counted as missed."
    assert unscored_note(judged, truth=NORMAL) == "2 normal frames not scored: left out."
    assert unscored_note(judged, truth=OTHER) == ""


def test_numbers_are_grouped() -> None:
    assert number_of(2000, "frame") == "2,000 frames"
