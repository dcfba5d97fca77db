"""Reading looks, also from results that have none."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError
from capsieve.statistics.looks import read_looks
from support.results import write_results


def test_looks_come_exam_after_exam_and_nulls_are_featureless(tmp_path):
    one = write_results(tmp_path / "a", look=[b"\1" * 32, None, b"\2" * 32])
    other = write_results(tmp_path / "b", look=[None, b"\3" * 32])
    looks = read_looks([other, one])
    assert looks.look[:, 0].tolist() == [0, 3, 1, 0, 2]
    assert (looks.look == looks.look[:, :1]).all()
    assert looks.there.tolist() == [False, True, True, False, True]
    assert looks.featureless.tolist() == [True, False, False, True, False]


def test_a_long_exam_of_many_row_groups_is_read_whole(tmp_path):
    numbers = np.arange(10_000)
    content = [None if n % 7 == 0 else int(n).to_bytes(32, "little") for n in numbers]
    folder = write_results(tmp_path / "a", look=content)
    table = pq.read_table(folder / "frames.parquet")
    pq.write_table(table, folder / "frames.parquet", row_group_size=999)
    looks = read_looks([folder])
    values = looks.look[:, :2].astype(int) @ [1, 256]
    np.testing.assert_array_equal(values, np.where(numbers % 7 == 0, 0, numbers))


def test_results_of_before_are_unknown(tmp_path):
    folder = write_results(tmp_path / "a", frames=3)
    table = pq.read_table(folder / "frames.parquet").drop_columns(["look"])
    pq.write_table(table, folder / "frames.parquet")
    looks = read_looks([folder])
    assert not looks.known.any()
    assert not looks.there.any()
    assert not looks.featureless.any()
    assert looks.look.shape == (3, 32)


def test_no_exams_have_no_looks():
    assert len(read_looks([]).there) == 0


def test_a_missing_table_is_one_sentence(tmp_path):
    with pytest.raises(FileError, match="--fresh"):
        read_looks([tmp_path])
