import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.decisions.agreement import cohen_kappa, compare, tabulate
from capsieve.decisions.reading import fold
from capsieve.errors import ParameterError
from decisions.hands import EVENT, EVENTS, OTHER, THIRD, decision, made
from support.readings import polyp

WORDS = ("accept", "reject", "unsure")
PAIRS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1)


@given(PAIRS)
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    kappa = cohen_kappa(tabulate(pairs, WORDS))
    if len({word for pair in pairs for word in pair}) == 1:
        assert kappa.value is None
        return
    a, b = zip(*pairs, strict=True)
    assert kappa.value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        [[20, 5], [10, 15]],
        [[45, 15], [25, 15]],
        [[75, 1, 4], [5, 4, 1], [0, 0, 10]],
        [[106, 10, 4], [22, 28, 10], [2, 12, 6]],
        [[3, 9, 1], [4, 0, 2], [8, 2, 7]],
    ],
)
def test_the_interval_is_that_of_the_delta_method(table: list[list[int]]) -> None:
    # The same asymptotics by another way: the numerical gradient, and the multinomial covariance.
    counts = np.array(table, float)
    n, p = counts.sum(), (counts / counts.sum()).ravel()

    def value(p: np.ndarray) -> float:
        square = p.reshape(counts.shape)
        chance = square.sum(axis=0) @ square.sum(axis=1)
        return (np.trace(square) - chance) / (1 - chance)

    step = 1e-6 * np.eye(len(p))
    gradient = np.array([(value(p + h) - value(p - h)) / 2e-6 for h in step])
    variance = gradient @ (np.diag(p) - np.outer(p, p)) @ gradient / n
    kappa = cohen_kappa(table)
    assert kappa.value == pytest.approx(value(p))
    assert kappa.interval is not None
    half = 1.959963985 * math.sqrt(variance)
    assert kappa.interval == pytest.approx((value(p) - half, value(p) + half), abs=1e-6)


@pytest.mark.parametrize(
    ("table", "word"),
    [([[0, 0], [0, 0]], "decided by both"), ([[7, 0], [0, 0]], "same one decision")],
)
def test_where_kappa_is_not_defined_the_reason_is_told(table: list[list[int]], word: str) -> None:
    kappa = cohen_kappa(table)
    assert (kappa.value, kappa.interval) == (None, None)
    assert word in kappa.reason


def test_perfect_agreement_has_no_interval() -> None:
    kappa = cohen_kappa([[3, 0], [0, 4]])
    assert (kappa.value, kappa.interval) == (1.0, None)
    assert "no width" in kappa.reason


def test_a_table_is_square() -> None:
    with pytest.raises(ParameterError, match="square"):
        cohen_kappa([[1, 2]])


def decided(*pairs):
    return fold(made(number, decision(*pair)) for number, pair in enumerate(pairs, start=1))


def words(found):
    return [(one.subject, one.a, one.b) for one in found.differences]


def test_readings_are_compared_event_by_event() -> None:
    a = decided((EVENT, "accept"), (OTHER, "reject"))
    b = decided((EVENT, "reject"), (OTHER, "reject"))
    found = compare(a, b, events=EVENTS)
    assert found.table == ((0, 1, 0), (0, 1, 0), (0, 0, 0))
    assert (found.decided, found.undecided) == (2, 1)
    assert words(found) == [(EVENT, "accept", "reject")]
    assert (found.differences[0].first, found.differences[0].last) == (1, 5)
    turned = compare(b, a, events=EVENTS)
    assert turned.kappa == found.kappa
    assert turned.table == tuple(zip(*found.table, strict=True))


def test_a_frame_without_a_decision_of_its_own_has_that_of_its_event() -> None:
    a = decided((EVENT, "accept"), ("frame:0:2", "reject"))
    assert words(compare(a, decided((EVENT, "accept")), events=EVENTS)) == [
        ("frame:0:2", "reject", "accept")
    ]
    assert words(compare(a, decided((EVENT, "reject")), events=EVENTS)) == [
        (EVENT, "accept", "reject")
    ]


def test_what_only_one_decided_is_a_difference() -> None:
    a = decided((THIRD, "unsure"), ("frame:0:50", "reject"))
    found = compare(a, fold([]), events=EVENTS)
    assert words(found) == [
        ("frame:0:50", "reject", "undecided"),
        (THIRD, "unsure", "undecided"),
    ]
    assert found.kappa is None


def test_findings_meet_on_a_common_frame_of_the_same_head() -> None:
    a = fold([made(1, polyp("a", 12, 11))])
    same = fold([made(1, polyp("b", 12, 13))])
    assert compare(a, same, events=[]).differences == ()
    other = fold([made(1, polyp("b", 12, 11, head=1))])
    assert words(compare(a, other, events=[])) == [
        ("finding:a", "finding", "nothing"),
        ("finding:b", "nothing", "finding"),
    ]


def test_agreement_as_chance_would_have_it_is_zero_and_no_rounding_error():
    assert cohen_kappa([[1, 1, 0], [1, 1, 0], [0, 1, 0]]).value == 0.0
