import numpy as np
import pytest

from capsieve.statistics.sequences import exam_or_folder, order_rows, source_of
from small_results import label_table


def ordered(rows):
    table = label_table(rows)
    return {
        found.name: (found.rows.tolist(), found.gap.tolist())
        for found in order_rows(table, np.arange(len(rows)))
    }


def test_frames_are_ordered_by_number():
    rows = [{"exam": "e", "frame": frame} for frame in (10, 2, 5)]
    assert ordered(rows) == {"e": ([1, 2, 0], [3.0, 5.0])}


def test_exams_and_folders_are_sequences_of_their_own():
    rows = [
        {"exam": "e", "frame": 1},
        {"file": "x/y/2.jpg"},
        {"exam": "f", "frame": 1},
        {"file": "x/y/1.jpg"},
        {"file": "1.jpg"},
    ]
    found = ordered(rows)
    assert found == {"": ([4], []), "e": ([0], []), "f": ([2], []), "x/y": ([3, 1], [1.0])}


def test_both_heads_of_an_exam_are_one_sequence():
    rows = [{"exam": "e", "head": head, "frame": frame} for head in (0, 1) for frame in (0, 1)]
    assert ordered(rows) == {"e": ([0, 2, 1, 3], [0.0, 1.0, 0.0])}


def test_numbers_that_stand_there_twice_give_way_to_names():
    rows = [
        {"file": f"s/{video}_{frame}.jpg", "frame": frame}
        for frame in (10, 9)
        for video in ("b", "a")
    ]
    rows_in_order, gap = ordered(rows)["s"]
    assert rows_in_order == [3, 1, 2, 0]
    assert gap == [1.0, np.inf, 1.0]


def test_names_without_numbers_have_no_distance():
    rows = [{"file": "s/b.jpg"}, {"file": "s/a.jpg"}]
    assert ordered(rows)["s"] == ([1, 0], [np.inf])


def test_only_chosen_rows_are_ordered():
    table = label_table([{"exam": "e", "frame": frame} for frame in (3, 2, 1)])
    (found,) = order_rows(table, np.array([0, 2]))
    assert found.rows.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ({"exam": "e", "file": "x/1.jpg"}, "e"),
        ({"file": "x/y/1.jpg"}, "x/y"),
        ({"file": "1.jpg"}, ""),
    ],
)
def test_the_exam_comes_before_the_folder(row, place):
    assert exam_or_folder(label_table([row])).to_pylist() == [place]


def test_the_source_is_the_first_folder():
    rows = [{"file": "see-ai/a/1.jpg"}, {"file": "1.jpg"}, {"exam": "e"}, {"file": "k/1.jpg"}]
    names, code = source_of(label_table(rows))
    assert [names[place] if place >= 0 else None for place in code] == ["see-ai", None, None, "k"]
