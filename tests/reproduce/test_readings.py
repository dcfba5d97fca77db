"""The robustness study of a reproduction is that of ``capsieve robustness``."""

import pytest

from capsieve.evaluation.robustness import study_robustness
from capsieve.evaluation.settings import RobustnessSettings
from capsieve.parameters import PRESETS
from capsieve.statistics.rates import RATES


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_the_changes_are_those_of_the_robustness_study(reproduced, number):
    out, done = reproduced
    threshold = done.tables["readings"].column("threshold")[1 + number]
    base = PRESETS[("printed", "inferred")[number]]
    changed = base.from_dict(base.to_dict() | {"radius_threshold": threshold})
    study = study_robustness(
        out / "phantom" / "exams",
        out / "phantom" / "labels.csv",
        settings=RobustnessSettings(change=(10.0,), parameters=changed, workers=1),
    )
    rows = done.tables["table-4"].rows[1 + number :: 3]
    assert [row[2:8:2] for row in rows[:1]] == [tuple(study.metrics[k].value for k in RATES)]
    for row, change in zip(rows[1:], study.changes, strict=True):
        assert change.effect is not None
        assert row[2:8:2] == tuple(change.effect.rates[key].value for key in RATES)
        assert row[3:8:2] == tuple(change.effect.delta[key] for key in RATES)
