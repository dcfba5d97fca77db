"""Reading the perceptual hashes of several exams."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError
from capsieve.statistics.phashes import read_phashes
from support.results import write_results


def test_hashes_come_exam_after_exam_and_nulls_are_not_there(tmp_path):
    one = write_results(tmp_path / "a", phash=[b"\1" * 32, None, b"\2" * 32])
    other = write_results(tmp_path / "b", phash=[None, b"\3" * 32])
    hashes = read_phashes([other, one])
    assert hashes.phash[:, 0].tolist() == [0, 3, 1, 0, 2]
    assert (hashes.phash == hashes.phash[:, :1]).all()
    assert hashes.there.tolist() == [False, True, True, False, True]


def test_a_long_exam_of_many_row_groups_is_read_whole(tmp_path):
    numbers = np.arange(10_000)
    content = [None if n % 7 == 0 else int(n).to_bytes(32, "little") for n in numbers]
    folder = write_results(tmp_path / "a", phash=content)
    table = pq.read_table(folder / "frames.parquet")
    pq.write_table(table, folder / "frames.parquet", row_group_size=999)
    hashes = read_phashes([folder])
    values = hashes.phash[:, :2].astype(int) @ [1, 256]
    np.testing.assert_array_equal(values, np.where(numbers % 7 == 0, 0, numbers))


def test_no_exams_have_no_hashes():
    assert len(read_phashes([]).there) == 0


def test_a_missing_table_is_a_file_error(tmp_path):
    folder = write_results(tmp_path / "a", 1)
    (folder / "frames.parquet").unlink()
    with pytest.raises(FileError, match="--overwrite"):
        read_phashes([folder])
