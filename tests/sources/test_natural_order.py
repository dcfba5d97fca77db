from hypothesis import given
from hypothesis import strategies as st

from capsieve.sources.natural_order import natural_key

# Few characters, so that names are often nearly equal.
NAMES = st.text(alphabet="aAbß0129-_.é٣", max_size=8)


def test_numbers_are_counted():
    names = ["f10.png", "f9.png", "f1.png", "f100.png"]
    assert sorted(names, key=natural_key) == ["f1.png", "f9.png", "f10.png", "f100.png"]


def test_case_does_not_matter_before_anything_else_differs():
    assert sorted(["b2", "B1", "a3"], key=natural_key) == ["a3", "B1", "b2"]


@given(st.integers(0), st.integers(0), st.integers(0, 5), st.integers(0, 5))
def test_numbers_ascend_whatever_their_zeros(low, high, zeros, more_zeros):
    first, second = f"frame{'0' * zeros}{low}.png", f"frame{'0' * more_zeros}{high}.png"
    if low != high:
        assert (natural_key(first) < natural_key(second)) == (low < high)


def test_numbers_of_any_length_are_compared():
    assert natural_key("9" * 5000) < natural_key("1" + "0" * 5000)


@given(NAMES, NAMES)
def test_two_names_are_in_one_order_or_the_same(first, second):
    one, other = natural_key(first), natural_key(second)
    assert (one < other) + (one > other) + (first == second) == 1


@given(NAMES, NAMES, NAMES)
def test_the_order_is_transitive(first, second, third):
    a, b, c = map(natural_key, (first, second, third))
    if a < b < c:
        assert a < c


@given(st.lists(NAMES, unique=True))
def test_the_order_does_not_depend_on_the_listing(names):
    backwards = names[::-1]
    assert sorted(names, key=natural_key) == sorted(backwards, key=natural_key)
