"""What is tried: a design that knows no label, and then optuna."""

import sys
from collections import Counter

import pytest

from capsieve.calibration.search_free import Found
from capsieve.calibration.search_study import Study, common_design, require_optuna
from capsieve.calibration.space import DEAR
from capsieve.errors import MissingExtraError
from capsieve.parameters import Parameters

BASE = Parameters()


def worth(setting):
    """A made-up value: the finer the better, and red best."""
    return 1 - setting.midpass_fine / 20 + (setting.channel == "red") / 10


def run(seed, rounds=3, batch=4):
    study = Study(BASE, seed)
    design = common_design(BASE, 12, seed=0)
    study.tell(design, [Found(worth(each), each) for each in design])
    for _ in range(rounds):
        asked = study.ask(batch)
        study.tell(asked, [Found(worth(each), each) for each in asked])
    return study


def test_the_design_begins_with_the_base():
    assert common_design(BASE, 10, seed=0)[0] == BASE
    assert common_design(BASE, 1, seed=0) == [BASE]


def test_the_design_spreads_over_every_field():
    design = common_design(BASE, 37, seed=0)[1:]
    for choice in DEAR:
        counts = Counter(getattr(each, choice.name) for each in design)
        assert set(counts) == set(choice.values)
        assert max(counts.values()) - min(counts.values()) <= 3


def test_the_design_follows_the_seed():
    assert common_design(BASE, 10, seed=0) == common_design(BASE, 10, seed=0)
    assert common_design(BASE, 10, seed=0) != common_design(BASE, 10, seed=1)


def test_the_same_answers_lead_to_the_same_questions():
    assert run(5).trials == run(5).trials


def test_another_seed_asks_other_questions():
    assert run(5).trials != run(6).trials


def test_it_asks_within_the_space():
    for trial in run(1).trials[12:]:
        for choice in DEAR:
            assert getattr(trial.setting, choice.name) in choice.values


def test_it_learns_from_the_answers():
    trials = run(1, rounds=8).trials
    before, after = trials[:12], trials[-8:]
    mean = [sum(trial.found.value for trial in some) / len(some) for some in (before, after)]
    assert mean[1] > mean[0]


def test_the_best_is_the_first_of_equals():
    study = Study(BASE, 0)
    design = common_design(BASE, 3, seed=0)
    study.tell(design, [Found(0.5, each) for each in design])
    assert study.best.setting == BASE


def test_a_missing_optuna_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"capsieve\[search\]"):
        require_optuna()
