import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.review.decisions.agreement import compare
from capsieve.review.decisions.kappa import cohen_kappa, tabulate
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.subjects import FlaggedEvent
from review.decisions.made_entries import FINDING, made, verdict

EVENTS = [FlaggedEvent(0, (1, 2, 5)), FlaggedEvent(0, (7, 9)), FlaggedEvent(1, (1, 2))]
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
    [([[0, 0], [0, 0]], "decided by both"), ([[7, 0], [0, 0]], "same one thing")],
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


def test_readings_are_compared_event_by_event() -> None:
    a = fold([verdict(1, "event:0:1-5", "accept"), verdict(2, "event:0:7-9", "reject")])
    b = fold([verdict(1, "event:0:1-5", "reject"), verdict(2, "event:0:7-9", "reject")])
    found = compare(a, b, events=EVENTS)
    assert found.table == ((0, 1, 0), (0, 1, 0), (0, 0, 0))
    assert (found.decided, found.undecided) == (2, 1)
    assert [(one.subject, one.a, one.b) for one in found.differences] == [
        ("event:0:1-5", "accept", "reject")
    ]
    assert found.differences[0].frames == (1, 2, 5)
    turned = compare(b, a, events=EVENTS)
    assert turned.kappa == found.kappa
    assert turned.table == tuple(zip(*found.table, strict=True))


def test_over_frames_a_frame_counts_with_its_own_verdict() -> None:
    a = fold([verdict(1, "event:0:1-5", "accept"), verdict(2, "frame:0:2", "reject")])
    b = fold([verdict(1, "event:0:1-5", "accept")])
    found = compare(a, b, events=EVENTS, over="frames")
    assert found.table == ((2, 0, 0), (1, 0, 0), (0, 0, 0))
    assert (found.decided, found.undecided) == (3, 4)
    assert [(one.subject, one.a, one.b) for one in found.differences] == [
        ("frame:0:2", "reject", "accept")
    ]


def test_what_only_one_decided_is_a_difference() -> None:
    a = fold([verdict(1, "event:1:1-2", "unsure"), verdict(2, "frame:0:50", "accept")])
    found = compare(a, fold([]), events=EVENTS)
    assert [(one.subject, one.a, one.b) for one in found.differences] == [
        ("frame:0:50", "accept", "undecided"),
        ("event:1:1-2", "unsure", "undecided"),
    ]
    assert found.kappa.value is None


def test_findings_meet_on_a_common_frame_of_the_same_head() -> None:
    a = fold([made(1, "finding", "finding:a", FINDING)])
    same = fold([made(1, "finding", "finding:b", FINDING | {"frames": [12, 13]})])
    assert compare(a, same, events=[]).differences == ()
    other = fold([made(1, "finding", "finding:b", FINDING | {"head": 1})])
    assert [(one.subject, one.a, one.b) for one in compare(a, other, events=[]).differences] == [
        ("finding:a", "finding", "nothing"),
        ("finding:b", "nothing", "finding"),
    ]


def test_agreement_as_chance_would_have_it_is_zero_and_no_rounding_error():
    assert cohen_kappa([[1, 1, 0], [1, 1, 0], [0, 1, 0]]).value == 0.0
