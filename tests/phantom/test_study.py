"""The composition of studies."""

from typing import Any

import pytest

from capsieve.errors import ParameterError
from capsieve.phantom.study import DEMO, PAPER, plan_study


def test_the_paper_study_has_the_papers_composition():
    lengths = [length for part in PAPER for length in part.sequence_lengths]
    assert [part.normal_frames for part in PAPER] == [422, 1008, 4666, 8567, 4075]
    assert lengths == [18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15]
    assert sum(lengths) == 230


def test_the_demo_study_has_five_patients_and_sixteen_polyps():
    assert len(DEMO) == 5
    assert sum(len(part.sequence_lengths) for part in DEMO) == 16


def test_a_custom_study_has_what_was_asked_for():
    study = plan_study(patients=3, frames=7, polyps=2, seed=5, size=64)
    assert [exam.name for exam in study.exams] == ["patient-1", "patient-2", "patient-3"]
    for exam in study.exams:
        assert (exam.plan.frames, len(exam.plan.polyps), exam.plan.size) == (7, 2, 64)
    assert len({exam.plan.seed for exam in study.exams}) == 3


def test_the_same_seed_gives_the_same_study_and_another_another():
    wanted: dict[str, Any] = {"patients": 2, "frames": 5, "polyps": 1, "size": 64}
    assert plan_study(seed=1, **wanted) == plan_study(seed=1, **wanted)
    assert plan_study(seed=1, **wanted) != plan_study(seed=2, **wanted)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": "demo", "frames": 3}, "frames"),
        ({"name": "other"}, "study"),
        ({"patients": 1, "frames": 3}, "polyps"),
        ({"patients": 0, "frames": 3, "polyps": 1}, "patients"),
        ({"patients": 1, "frames": 3, "polyps": 1, "size": 5}, "size"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(options, field):
    with pytest.raises(ParameterError) as caught:
        plan_study(**options)
    assert caught.value.field == field
