"""Columns of users' tables: the same rules for labels, splits and scores."""

import datetime
import math
from decimal import Decimal

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


def odd(values, kind=None):
    return pa.array([values, values], kind)


NEITHER = {
    "list": odd([1]),
    "fixed list": odd([1, 2], pa.list_(pa.int64(), 2)),
    "struct": odd({"a": 1}),
    "map": odd([("a", 1)], pa.map_(pa.string(), pa.int64())),
    "binary": odd(b"\xff"),
    "duration": odd(datetime.timedelta(seconds=1)),
}
NO_NUMBERS = NEITHER | {
    "boolean": odd(True),
    "date": odd(datetime.date(2026, 1, 1)),
    "time": odd(datetime.datetime(2026, 1, 1)),
    "uint64": odd(2**63, pa.uint64()),
    "int64": odd(-(2**53) - 1),
}


@pytest.mark.parametrize("kind", NEITHER)
def test_a_column_of_neither_texts_nor_numbers_is_refused_by_name_and_type(kind):
    column = NEITHER[kind]
    with pytest.raises(FileError, match="'exam'") as caught:
        text_column(pa.chunked_array([column]), name="exam")
    assert str(column.type) in str(caught.value)


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_a_column_of_other_values_or_inexact_numbers_is_refused_by_name_and_type(kind):
    column = NO_NUMBERS[kind]
    with pytest.raises(FileError, match="'score'") as caught:
        number_column(pa.chunked_array([column]), name="score")
    assert str(column.type) in str(caught.value)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([np.float16(3), None]),
        pa.array([3.0, None], pa.float32()),
        pa.array([Decimal("3.00"), None]),
        pa.array([3, None], pa.uint64()),
        pa.array(["3", None]).dictionary_encode(),
    ],
)
def test_exact_numbers_of_any_type_are_numbers(column):
    np.testing.assert_array_equal(number_column(column, name="score"), [3, math.nan])
    assert text_column(column, name="exam").to_pylist()[0] in ("3", "3.00")


def test_numbers_that_are_not_finite_are_names():
    values = pa.array([math.inf, 1e300, 20200101123.0, 0.5])
    assert text_column(values, name="exam").to_pylist() == ["inf", "1e+300", "20200101123", "0.5"]
