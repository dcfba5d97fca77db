"""The robustness study's numbers: the paper's printed deltas, and counts made by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.parameters import Parameters
from capsieve.statistics.judged import NORMAL, OTHER, POLYP
from capsieve.statistics.perturbation import plan_changes
from capsieve.statistics.robustness import (
    Rates,
    Share,
    Sides,
    base_metrics,
    changed_sides,
    draw_normals,
    rates_of,
    relative_change,
    robustness_table,
)

# The paper's table of the robustness study, as it is printed.
PRINTED_BASE = (92.2, 47.4, 81.2)
PRINTED = {
    "sigma1": ((92.7, 0.54), (44.8, 5.49), (81.2, 0)),
    "sigma2": ((90.5, 1.84), (53.5, 12.87), (93.8, 15.5)),
    "M_L": ((92.3, 0.11), (47.0, 0.84), (81.2, 0)),
    "M_U": ((91.8, 0.43), (49.6, 4.64), (81.2, 0)),
    "S_L": ((92.2, 0), (47.4, 0), (81.2, 0)),
    "S_U": ((92.0, 0.22), (48.3, 1.90), (81.2, 0)),
    "E_max": ((91.7, 0.54), (48.7, 2.74), (81.2, 0)),
}


@pytest.mark.parametrize("symbol", PRINTED)
def test_the_papers_printed_percentages_give_its_printed_deltas(symbol) -> None:
    for base, (value, delta) in zip(PRINTED_BASE, PRINTED[symbol], strict=True):
        found = relative_change(value, base)
        digits = 1 if delta == 15.5 else 2
        assert found == pytest.approx(delta, abs=0.5 * 10**-digits * 1.0001)


def test_a_change_from_nothing_has_no_size() -> None:
    assert relative_change(0.5, 0.0) is None
    assert relative_change(None, 0.5) is None
    assert relative_change(0.5, None) is None


TRUTH = np.array([POLYP, POLYP, POLYP, POLYP, NORMAL, NORMAL, NORMAL, OTHER], np.int8)
POLYPS = np.array([4, 4, 7, -1, -1, -1, -1, -1], np.int32)


def test_rates_are_counted_per_frame_and_per_polyp() -> None:
    flagged = np.array([0, 1, 0, 1, 0, 1, 0, 1], dtype=bool)
    rates = rates_of(flagged, TRUTH, POLYPS, np.ones(8, dtype=bool))
    assert rates == Rates(Share(2, 3), Share(2, 4), Share(1, 2))


def test_a_frame_that_was_not_scored_is_missed_if_polyp_and_left_out_if_normal() -> None:
    scored = np.array([1, 0, 1, 1, 0, 1, 1, 1], dtype=bool)
    flagged = np.array([0, 0, 1, 1, 0, 1, 0, 0], dtype=bool)
    rates = rates_of(flagged, TRUTH, POLYPS, scored)
    assert rates == Rates(Share(1, 2), Share(2, 4), Share(1, 2))


def test_frames_that_changed_sides_are_counted_both_ways() -> None:
    base = np.array([0, 1, 1, 0, 0, 1, 1, 0], dtype=bool)
    other = np.array([1, 0, 1, 1, 1, 0, 1, 1], dtype=bool)
    assert changed_sides(base, other, TRUTH) == Sides(
        polyp_gained=2, polyp_lost=1, normal_gained=1, normal_lost=1
    )


def test_nothing_to_count_has_no_share() -> None:
    nothing = np.empty(0, dtype=bool)
    rates = rates_of(nothing, np.empty(0, np.int8), np.empty(0, np.int32), nothing)
    assert [metric.value for metric in base_metrics(rates)] == [None] * 3
    assert all("No value" in metric.note for metric in base_metrics(rates))


def frames(count: int, seed: int = 0):
    """Frames of three exams of two heads, in a random order, some of them normal."""
    rng = np.random.default_rng(seed)
    keys = [(exam, head, frame) for exam in "cab" for head in (0, 1) for frame in range(count)]
    keys = [keys[place] for place in rng.permutation(len(keys))]
    exam, head, frame = zip(*keys, strict=True)
    normal = np.array([(sum(map(ord, e)) + h + f) % 3 > 0 for e, h, f in keys])
    return list(exam), np.array(head), np.array(frame), normal, keys


@given(st.integers(0, 2**32), st.integers(1, 30))
def test_the_draw_does_not_depend_on_the_order_of_frames(seed, count) -> None:
    drawn = []
    for order in (0, 1):
        exam, head, frame, normal, keys = frames(10, order)
        chosen = draw_normals(exam, head, frame, normal, count=count, seed=seed)
        assert not (chosen & ~normal).any()
        drawn.append({key for key, taken in zip(keys, chosen, strict=True) if taken})
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == count


def test_more_than_there_are_draws_all() -> None:
    exam, head, frame, normal, _ = frames(4)
    chosen = draw_normals(exam, head, frame, normal, count=10_000, seed=0)
    np.testing.assert_array_equal(chosen, normal)


def test_every_normal_frame_has_the_same_chance() -> None:
    exam, head, frame, normal, _ = frames(5)
    rounds = 2000
    times = np.zeros(len(normal), int)
    for seed in range(rounds):
        times += draw_normals(exam, head, frame, normal, count=5, seed=seed)
    expected = rounds * 5 / normal.sum()
    spread = (expected * (1 - 5 / normal.sum())) ** 0.5
    assert np.abs(times[normal] - expected).max() < 5 * spread


def test_the_table_has_the_base_first_and_deltas_from_counts() -> None:
    base = Rates(Share(90, 100), Share(20, 40), Share(13, 16))
    changes = plan_changes(Parameters(), ["sigma1", "M_L"], [10, 50])
    other = Rates(Share(81, 100), Share(21, 40), Share(13, 16))
    assert [change.parameters is None for change in changes] == [False, False, False, True]
    sides = Sides(polyp_gained=3, polyp_lost=2, normal_gained=10, normal_lost=1)
    table = robustness_table(
        changes, base, [other, base, other, None], [sides, sides, sides, None], unit="run"
    )
    assert table.column("parameter") == ["Base", "sigma1", "sigma1", "M_L", "M_L"]
    assert table.column("change") == [None, "+10 %", "+50 %", "+10 %", "+50 %"]
    assert table.column("value") == [None, "8", "11", "0.121", None]
    assert table.column("specificity") == [0.9, 0.81, 0.9, 0.81, None]
    assert table.column("delta_specificity")[1:3] == [pytest.approx(10), 0]
    assert table.column("delta_sensitivity_frames")[1] == pytest.approx(5)
    assert table.column("delta_sensitivity_polyps") == [None, 0, 0, 0, None]
    assert table.column("newly_flagged") == [None, 13, 13, 13, None]
    assert table.column("no_longer_flagged") == [None, 3, 3, 3, None]
    assert "SENS per run" in [column.label for column in table.columns]


def test_the_base_has_wilsons_intervals() -> None:
    metrics = base_metrics(Rates(Share(90, 100), Share(20, 40), Share(13, 16)))
    (interval,) = metrics[2].intervals
    # Wilson 13/16 by hand: centre (13 + 1.9208) / 19.8415, reach 1.95996 sqrt(39/16 + 0.9604) / ..
    assert (interval.low, interval.high) == pytest.approx((0.5699, 0.9341), abs=1e-4)
    assert "independent" in metrics[0].intervals[0].why
