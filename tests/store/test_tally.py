"""The ledger adds up, and says where something is wrong."""

from copy import deepcopy
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from capsieve.store.tally import Tally, total
from segment_rows import any_row, row, scored

SEVERAL = st.lists(any_row(), max_size=40)


def tally_of(*parts, head=0):
    tally = Tally(head)
    for part in parts:
        tally.add(part)
    return tally


def span(stretch):
    """Return the numbers of its frames."""
    return range(stretch["first_frame"], stretch["last_frame"] + 1)


def ledger_of(rows, *, declared=None, repeats=0, events=0):
    return tally_of(rows).ledger(declared=declared, repeats=repeats, events=events)


def adds_up(ledger):
    return (
        ledger["found"] == ledger["decoded"] + ledger["undecodable"]
        and ledger["decoded"] == ledger["unscorable"] + ledger["scored"]
        and ledger["scored"] == ledger["flagged"] + sum(ledger["rejected"].values())
        and ledger["flagged"] == ledger["to_read"] + ledger["repeats"]
        and ledger["damaged"] <= ledger["decoded"]
    )


@given(SEVERAL)
def test_the_ledger_adds_up_for_any_mixture_of_rows(rows):
    ledger = ledger_of(rows)
    assert adds_up(ledger)
    assert ledger["found"] == len(rows)


@given(SEVERAL)
def test_every_count_is_that_of_the_rows(rows):
    ledger = ledger_of(rows)
    labelled = [one for one in rows if one["label"] is not None]
    assert ledger["undecodable"] == sum(one["status"] == "undecodable" for one in rows)
    assert ledger["scored"] == len(labelled)
    assert ledger["flagged"] == sum(one["label"] == "polyp" for one in rows)
    assert ledger["damaged"] == sum(one["problem"] is not None for one in labelled)
    for reason, count in ledger["rejected"].items():
        assert count == sum(one["reason"] == reason for one in labelled)


def test_every_reason_to_reject_is_named_even_where_no_frame_met_it():
    expected = {"texture-low": 0, "texture-high": 0, "no-feature": 0, "radius-low": 0}
    assert ledger_of([])["rejected"] == expected


def test_another_detector_has_its_own_reasons():
    tally = Tally(0, ("score-low",))
    tally.add([scored("score-low"), scored("polyp"), scored("score-low"), scored("no-feature")])
    ledger = tally.ledger(declared=None, repeats=0, events=1)
    assert ledger["rejected"] == {"score-low": 2, "no-feature": 1}
    assert adds_up(ledger)
    other = Tally(1, ("score-low",)).ledger(declared=None, repeats=0, events=0)
    assert adds_up(total([other, ledger]))


def test_repeats_need_not_be_read():
    ledger = ledger_of([scored("polyp")] * 5, repeats=3, events=1)
    assert (ledger["flagged"], ledger["repeats"], ledger["to_read"]) == (5, 3, 2)
    assert ledger["events"] == 1


def test_what_is_declared_and_not_there_is_missing():
    rows = [scored("no-feature")] * 3
    assert ledger_of(rows, declared=5)["missing"] == 2
    assert ledger_of(rows, declared=2)["missing"] == 0
    assert ledger_of(rows, declared=None)["missing"] == 0
    assert ledger_of(rows, declared=None)["declared"] is None


@given(SEVERAL, st.integers(0, 40))
def test_it_does_not_matter_how_the_rows_were_cut(rows, cut):
    whole, parts = tally_of(rows), tally_of(rows[:cut], rows[cut:])
    assert whole.stretches == parts.stretches
    some = {"declared": 7, "repeats": 0, "events": 0}
    assert whole.ledger(**some) == parts.ledger(**some)


@given(SEVERAL)
def test_stretches_name_exactly_the_frames_with_a_problem(rows):
    named = [
        (number, stretch["what"])
        for stretch in tally_of(rows).stretches
        for number in span(stretch)
    ]
    assert named == [(n, one["problem"]) for n, one in enumerate(rows) if one["problem"]]


@given(SEVERAL)
def test_a_stretch_is_as_long_as_it_can_be(rows):
    stretches = tally_of(rows).stretches
    for one, following in pairwise(stretches):
        touching = span(one).stop == span(following).start
        assert not (touching and one["what"] == following["what"])
    for one in stretches:
        assert one["frames"] == len(span(one)) > 0


def test_a_stretch_tells_its_head_its_times_and_its_first_file():
    lost = [
        row(status="undecodable", problem="cut off", time_s=n / 4, file=f"{n}.png")
        for n in range(3)
    ]
    (stretch,) = tally_of([scored("polyp")], lost, head=1).stretches
    assert stretch["head"] == 1
    assert (stretch["first_frame"], stretch["last_frame"]) == (1, 3)
    assert (stretch["first_time_s"], stretch["last_time_s"]) == (0.0, 0.5)
    assert stretch["file"] == "0.png"


@given(SEVERAL, SEVERAL)
def test_the_sum_over_heads_adds_up_too(left, right):
    parts = [ledger_of(left, declared=50), ledger_of(right, declared=60)]
    before = deepcopy(parts)
    whole = total(parts)
    assert adds_up(whole)
    assert whole["found"] == len(left) + len(right)
    assert whole["declared"] == 110
    assert parts == before


def test_one_head_that_declares_nothing_leaves_the_sum_open():
    parts = [ledger_of([], declared=None), ledger_of([], declared=3), ledger_of([], declared=4)]
    assert total(parts)["declared"] is None
    assert total(reversed(parts))["declared"] is None
    assert total(parts)["missing"] == 7


def test_the_sum_of_one_is_itself():
    ledger = ledger_of([scored("polyp"), row(problem="too small")], declared=2)
    assert total([ledger]) == ledger
