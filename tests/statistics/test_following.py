import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.statistics.following import follow
from support.label_sets import label_table

FIFTHS = [0.2] * 5


def frames_of(sizes, *, folder="a", order=None):
    """Return labels of groups of these sizes, one after the other, and the group of each row."""
    code = np.repeat(np.arange(len(sizes)), sizes)
    rows = [{"file": f"{folder}/{frame:05}.jpg", "frame": frame} for frame in range(len(code))]
    order = np.arange(len(code)) if order is None else order
    table = label_table([{"label": "normal", **rows[place]} for place in order])
    return table, code[order]


def test_neighbours_stay_together():
    table, code = frames_of([10] * 20)
    assert follow(table, code, FIFTHS).tolist() == np.repeat(np.arange(5), 4).tolist()


def test_parts_have_their_shares_of_the_frames_and_not_of_the_groups():
    table, code = frames_of([70, 10, 10, 10])
    assert follow(table, code, [0.7, 0.3]).tolist() == [0, 1, 1, 1]


def test_the_order_is_that_of_the_frames_and_not_of_the_rows():
    sizes = [5, 9, 4, 12, 7, 8, 5, 10]
    plain = follow(*frames_of(sizes), [0.5, 0.5])
    shuffled = np.random.default_rng(1).permutation(sum(sizes))
    np.testing.assert_array_equal(follow(*frames_of(sizes, order=shuffled), [0.5, 0.5]), plain)
    assert (np.diff(plain) >= 0).all()


def test_groups_come_where_their_first_frames_do_whatever_their_numbers():
    table, code = frames_of([10] * 6)
    renamed = np.array([3, 5, 0, 2, 1, 4])
    part = follow(table, renamed[code], [1 / 3] * 3)
    assert part[renamed].tolist() == [0, 0, 1, 1, 2, 2]


def test_every_part_has_its_share_of_every_source():
    one, code = frames_of([10] * 10, folder="a")
    other, code_of_other = frames_of([100] * 10, folder="b")
    rows = one.to_pylist() + other.to_pylist()
    part = follow(label_table(rows), np.concatenate([code, code_of_other + 10]), FIFTHS)
    assert part.tolist() == np.repeat(np.arange(5), 2).tolist() * 2


def test_folders_of_single_exams_are_taken_together():
    rows = [
        {"label": "normal", "file": f"exam-{exam}/{frame}.jpg", "frame": frame}
        for exam in range(10)
        for frame in range(20)
    ]
    part = follow(label_table(rows), np.repeat(np.arange(10), 20), FIFTHS)
    assert part.tolist() == np.repeat(np.arange(5), 2).tolist()


def test_a_part_without_a_group_is_refused():
    with pytest.raises(ParameterError, match="2 of 5 parts would stay empty"):
        follow(*frames_of([700, 100, 100, 100]), FIFTHS)
