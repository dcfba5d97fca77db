"""The best rules for what was measured."""

import numpy as np

from capsieve.calibration.search_evidence import Evidence
from capsieve.calibration.search_free import Measured, best_rules, value_of
from capsieve.calibration.search_objective import Truth
from capsieve.calibration.space import levels_of
from search_frames import BASE, measure, truth_of

EVERY = np.ones(20, np.bool_)


def search(measured, truth, chosen=EVERY, seed=0):
    return best_rules(measured, BASE, truth, chosen, target_specificity=0.9, what="both", seed=seed)


def made(sizes, radii, texture):
    """Return one feature a frame at every level, with these sizes and radii."""
    count = len(sizes)
    levels = levels_of(BASE, BASE).values
    kinds = len(levels) + 1
    evidence = Evidence(
        levels=levels,
        midpass_max=np.full(count, 0.3),
        start=np.arange(count + 1) * kinds,
        level=np.tile(np.arange(kinds), count).astype(np.uint8),
        size=np.repeat(sizes, kinds).astype(np.int32),
        eccentricity=np.full(count * kinds, 1.5),
        radius=np.repeat(radii, kinds).astype(np.uint16),
    )
    return Measured(BASE, evidence, np.array(texture, float))


def test_rules_found_are_worth_no_less_than_those_of_the_base():
    measured, truth = measure(BASE), truth_of()
    found = search(measured, truth)
    base = value_of(measured, BASE, truth, EVERY, target_specificity=0.9, what="both")
    assert found.value >= base
    again = value_of(measured, found.parameters, truth, EVERY, target_specificity=0.9, what="both")
    assert found.value == again


def test_it_finds_the_rule_that_tells_polyps_apart():
    # Polyps are small and normal frames large: only S_U can tell them apart.
    sizes = [800] * 10 + [3000] * 10
    truth = Truth(np.repeat([1, 0], 10).astype(np.int8), np.repeat([0, -1], 10).astype(np.int32))
    found = search(made(sizes, [50] * 20, [5.0] * 20), truth)
    assert found.value == 1
    assert 800 <= found.parameters.derived.size_high < 3000


def test_frames_that_are_left_out_have_no_say():
    sizes = [800] * 10 + [3000] * 10 + [800] * 10
    texture = np.r_[np.full(20, 5.0), np.full(10, 900.0)]
    chosen = np.arange(30) < 20
    truths = [
        Truth(np.r_[np.repeat([1, 0], 10), np.full(10, last)].astype(np.int8), np.full(30, -1))
        for last in (0, 1)
    ]
    one, two = (search(made(sizes, [50] * 30, texture), truth, chosen) for truth in truths)
    assert one == two
    calm = search(made(sizes, [50] * 30, [5.0] * 30), truths[0], chosen)
    assert calm == one


def test_the_same_seed_gives_the_same_rules():
    measured, truth = measure(BASE), truth_of()
    assert search(measured, truth, seed=3) == search(measured, truth, seed=3)
