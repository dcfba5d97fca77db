import numpy as np

from capsieve.learned.training.lesson import lesson_of
from capsieve.statistics.judged import POLYP
from learned.made_examples import made_examples

EXAMPLES = made_examples()


def test_frames_of_a_source_without_polyps_are_no_part_of_it() -> None:
    rows = np.arange(len(EXAMPLES))[::-1]
    lesson = lesson_of(EXAMPLES, rows, seed=0)
    assert 0 < len(lesson.rows) < len(rows)
    assert not np.isin(EXAMPLES.source[lesson.rows], 1).any()
    assert (lesson.weights > 0).all()


def test_values_and_truth_are_those_of_the_rows_in_their_order() -> None:
    lesson = lesson_of(EXAMPLES, np.arange(len(EXAMPLES))[::-1], seed=0)
    for place, row in enumerate(lesson.rows):
        np.testing.assert_array_equal(lesson.values[place], EXAMPLES.values[row])
        assert lesson.polyp[place] == (EXAMPLES.truth[row] == POLYP)


def test_polyps_weigh_as_much_as_all_others() -> None:
    lesson = lesson_of(EXAMPLES, np.arange(len(EXAMPLES)), seed=0)
    polyps, others = (lesson.weights[lesson.polyp == shown].sum() for shown in (True, False))
    np.testing.assert_allclose(polyps, others)
