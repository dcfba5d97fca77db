"""Which frames choose, and which ones judge."""

import numpy as np
import pytest

from capsieve.calibration.portions import (
    choosing_portion,
    fold_portion,
    has_folds,
    in_parts,
    judging_portions,
    left_out,
)
from capsieve.errors import ParameterError
from capsieve.statistics.judged import NORMAL, UNLABELLED
from small_judged import small_judged


def study(parts, part, *, truth=None, exam=(0, 0, 1, 1)):
    truth = [NORMAL] * len(exam) if truth is None else truth
    return small_judged(
        np.full(len(exam), 40.0), truth=truth, exam=np.array(exam), parts=parts, part=part
    )


def test_without_a_split_all_frames_choose_and_nobody_judges():
    judged = study((), [-1] * 4)
    portion = choosing_portion(judged)
    assert portion.frames.all()
    assert (portion.key, portion.optimistic, portion.whole) == ("all", True, True)
    assert judging_portions(judged) == ()


def test_the_training_part_chooses_and_every_other_part_judges():
    judged = study(("train", "test", "more"), [0, 0, 1, 2])
    assert choosing_portion(judged).frames.tolist() == [True, True, False, False]
    judging = judging_portions(judged)
    assert [portion.key for portion in judging] == ["test", "more"]
    assert not any(portion.optimistic for portion in judging)


def test_folds_choose_together_without_what_is_in_none():
    judged = study(("1", "2"), [0, 1, 1, -1])
    assert has_folds(judged)
    assert choosing_portion(judged).frames.tolist() == [True, True, True, False]
    assert fold_portion(judged).frames.tolist() == [True, True, True, False]
    assert left_out(judged) == "1 labelled frame is in no part of the split: not used."


def test_a_fold_without_frames_here_is_none():
    assert not has_folds(study(("1", "2"), [0, 0, 0, 0]))


def test_exams_that_are_torn_apart_are_not_whole():
    assert not choosing_portion(study(("train", "test"), [0, 1, 1, 1])).whole
    assert choosing_portion(study(("train", "test"), [0, 0, 1, 1])).whole


def test_frames_without_a_label_go_with_their_exam_where_that_is_clear():
    truth = [NORMAL, UNLABELLED, NORMAL, UNLABELLED, NORMAL]
    judged = study(("1", "2"), [0, -1, 0, -1, 1], truth=truth, exam=(0, 0, 1, 1, 1))
    assert in_parts(judged).part.tolist() == [0, 0, 0, -1, 1]


@pytest.mark.parametrize(
    ("parts", "part", "words"),
    [
        (("test",), [0, 0, 0, 0], "no part train"),
        (("train", "test"), [1, 1, 1, 1], "no labelled frame of the part train"),
        (("1", "2"), [-1] * 4, "no frame of the split"),
    ],
)
def test_a_split_without_anybody_to_choose_is_refused(parts, part, words):
    with pytest.raises(ParameterError, match=words):
        choosing_portion(study(parts, part))
