"""What the search makes large."""

import numpy as np
import pytest

from capsieve.calibration.search_objective import Truth, check_objective, objective
from capsieve.errors import ParameterError


def study(polyp_scores, normal_scores, polyps=None):
    """Return scores and truth of polyp frames, each of its own polyp, and of normal frames."""
    count = len(polyp_scores)
    codes = np.arange(count) if polyps is None else np.array(polyps)
    truth = np.r_[np.ones(count), np.zeros(len(normal_scores))].astype(np.int8)
    code = np.r_[codes, np.full(len(normal_scores), -1)].astype(np.int32)
    return np.r_[polyp_scores, normal_scores].astype(float), Truth(truth, code)


NORMALS = np.arange(1, 101)


def test_polyps_above_all_normal_frames_are_worth_one():
    assert objective(*study([200, 300], NORMALS)) == 1


def test_rejected_polyps_are_worth_nothing():
    assert objective(*study([0, 0], NORMALS)) == 0


def test_an_unscored_polyp_frame_is_missed():
    assert objective(*study([200, np.nan], NORMALS), what="frames") == 0.5


def test_the_best_frame_of_a_polyp_counts():
    scores = study([200, 0, 0, 0], NORMALS, polyps=[0, 0, 0, 0])
    assert objective(*scores, what="polyps") == 1
    assert objective(*scores, what="frames") == 0.25
    assert objective(*scores, what="both") == (1 + 0.25) / 2


def test_polyp_frames_without_a_name_count_per_frame_alone():
    scores = study([200, 0], NORMALS, polyps=[-1, -1])
    assert objective(*scores, what="polyps") == objective(*scores, what="frames") == 0.5


def test_it_looks_around_the_target():
    scores = study([91.5] * 10, NORMALS)  # flagged at a false positive rate of 9 %
    strict, around, lax = (objective(*scores, target_specificity=s) for s in (0.99, 0.9, 0.7))
    assert strict < around < lax == 1


def test_an_empty_class_is_worth_nothing():
    assert objective(*study([], NORMALS)) == objective(*study([3.0], [])) == 0


def test_a_wrong_word_is_refused():
    with pytest.raises(ParameterError, match="objective"):
        check_objective("auc")
