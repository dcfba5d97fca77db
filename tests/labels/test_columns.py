"""Columns of users' tables: the same rules for labels, splits and scores."""

import math

import numpy as np
import pyarrow as pa
import pytest

from capsieve.errors import FileError
from capsieve.labels.columns import number_column, text_column, whole_numbers


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([" a ", "", None, "b"], ["a", None, None, "b"]),
        ([3.0, math.nan, 12345678901.0], ["3", None, "12345678901"]),
        ([3.0, 0.5], ["3", "0.5"]),
        ([1, None], ["1", None]),
        (pa.array(["x", "x", None]).dictionary_encode(), ["x", "x", None]),
    ],
)
def test_texts_are_those_that_a_person_would_write(values, texts):
    column = values if isinstance(values, pa.Array) else pa.array(values)
    assert text_column(column, name="exam").to_pylist() == texts


def test_numbers_are_read_from_texts_and_numbers_alike():
    expected = [1.5, math.nan, -2.0, math.inf, math.inf, math.inf]
    texts = pa.array(["1.5", "", "-2", "high", "nan", "1_000"])
    np.testing.assert_array_equal(number_column(texts, name="score"), expected)
    floats = pa.chunked_array([[1.5, None], [math.nan]])
    np.testing.assert_array_equal(number_column(floats, name="score"), [1.5, math.nan, math.nan])


def test_whole_numbers_may_end_with_a_point_and_zeros():
    values, wrong = whole_numbers(pa.array(["12", "12.0", None, "-1", "0.5", "1000"]), largest=99)
    assert values.tolist() == [12, 12, -1, -1, -1, -1]
    assert wrong.tolist() == [False, False, False, True, True, True]


def test_a_column_of_lists_is_refused_by_its_name():
    with pytest.raises(FileError, match="exam"):
        text_column(pa.array([[1], [2]]), name="exam")
