import numpy as np
import pytest

from capsieve import FileError
from capsieve.statistics.comparison import compare, same_frames
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.settings import Settings
from support.judged_frames import judged_frames

SETTINGS = Settings(rounds=500)
NAMES = ("new", "old")


def study(seed, *, shift=0.0, patients=30, frames=40):
    """Patients of different difficulty; `shift` makes polyp frames easier."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(patients), frames)
    truth = np.tile([POLYP] * 5 + [NORMAL] * (frames - 5), patients)
    base = rng.normal(size=patients)[patient] + rng.normal(size=len(patient)) + 5
    score = base + (truth == POLYP) * (1 + shift)
    names = tuple(map(str, range(patients)))
    return judged_frames(
        score,
        truth,
        exams=names,
        exam=patient,
        frame=np.tile(np.arange(frames), patients),
        patients=names,
        patient=patient,
        groups=names,
        group=patient,
        polyps=names,
        polyp=np.where(truth == POLYP, patient, -1),
    )


def on_same_frames(one, two):
    first, second = same_frames(one, two)
    return one.take(first), two.take(second)


def compared(one, two, **changes):
    settings = {"names": NAMES, "thresholds": (6.0, 6.0), "settings": SETTINGS} | changes
    return compare(*on_same_frames(one, two), **settings)


def test_results_compared_with_themselves_do_not_differ():
    comparison = compared(study(1), study(1))
    assert all(metric.value == 0 for metric in comparison.metrics)
    assert comparison.changed.rows == ()


def test_the_paired_interval_is_narrower_than_the_patients_differ():
    comparison = compared(study(1, shift=0.3), study(1))
    area = next(m for m in comparison.metrics if m.key == "difference.frames.auc")
    drawn, formula = (np.array([each.low, each.high]) for each in area.intervals)
    for low, high in (drawn, formula):
        assert 0 < low < area.value < high
    # Both ways rest on the same patients; they must tell nearly the same story.
    assert np.ptp(drawn) == pytest.approx(np.ptp(formula), rel=0.3)


def test_differences_equal_those_counted_by_hand():
    one = judged_frames([5, 1, 5, 1], [POLYP, POLYP, NORMAL, NORMAL], polyps=("a",))
    two = judged_frames([1, 1, 1, 1], [POLYP, POLYP, NORMAL, NORMAL], polyps=("a",))
    values = {m.key: m.value for m in compared(one, two, thresholds=(3.0, 3.0)).metrics}
    assert values["difference.frames.sensitivity"] == 0.5
    assert values["difference.frames.specificity"] == -0.5


def test_every_frame_that_changed_sides_is_listed_once_with_both_scores():
    one = judged_frames([5, 1, 5, 1], [POLYP, POLYP, NORMAL, NORMAL])
    two = judged_frames([1, 5, 5, 1], [POLYP, POLYP, NORMAL, NORMAL])
    table = compared(one, two, thresholds=(3.0, 3.0)).changed
    assert table.column("frame") == [0, 1]
    assert table.column("first_flagged") == [True, False]
    assert table.column("second_score") == [1.0, 5.0]


def test_frames_are_paired_by_exam_head_and_number_whatever_their_order():
    one = study(3)
    shuffled = study(3).take(np.random.default_rng(0).permutation(len(one)))
    first, second = on_same_frames(one, shuffled)
    np.testing.assert_array_equal(first.score, second.score)
    assert len(first) == len(one)


def test_only_labelled_frames_that_both_have_scored_count():
    one = judged_frames([5, np.nan, 5, 1], [POLYP, POLYP, NORMAL, -1])
    two = judged_frames([1, 5, np.nan, 1], [POLYP, POLYP, NORMAL, -1])
    first, _ = on_same_frames(one, two)
    np.testing.assert_array_equal(first.frame, [0])


def test_results_without_a_common_frame_are_refused():
    one = judged_frames([5], [POLYP], exams=("a",))
    two = judged_frames([5], [POLYP], exams=("b",))
    with pytest.raises(FileError, match="no labelled frame in common"):
        on_same_frames(one, two)


def test_with_few_patients_the_difference_has_no_interval_and_says_why():
    comparison = compared(study(1, shift=0.3, patients=5), study(1, patients=5))
    assert all(i.low is None for m in comparison.metrics for i in m.intervals)
    assert "only 5 patients" in comparison.values.caption


def test_frames_that_are_not_compared_are_counted():
    caption = compared(study(1), study(1), left_out=7).values.caption
    assert "on 1,200 frames that both scored" in caption
    assert "Left out: 7 labelled frames of new" in caption
    assert "Left out" not in compared(study(1), study(1)).values.caption
