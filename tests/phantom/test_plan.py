"""Plans of exams and studies."""

import pickle
from typing import Any

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.phantom.plan import DEMO, PAPER, Piece, plan_exam, plan_study
from capsieve.phantom.render import render_frame

SMALL: dict[str, Any] = {"frames": 40, "polyps": 8, "size": 96}


def test_a_plan_is_hashable_picklable_and_does_not_grow_with_the_exam():
    plan = plan_exam(7, **SMALL)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert hash(plan) == hash(plan_exam(7, **SMALL))
    long = plan_exam(7, **{**SMALL, "frames": 100_000})
    assert len(pickle.dumps(long)) < len(pickle.dumps(plan)) + 64


def test_frames_are_equidistant():
    plan = plan_exam(7, **{**SMALL, "frames": 4})
    assert plan.pieces == (Piece(0, 4, 0.0, 1.0),)
    found = np.array([plan.progress(number) for number in range(4)])
    np.testing.assert_allclose(found, [(0.125, 0.25), (0.375, 0.25), (0.625, 0.25), (0.875, 0.25)])
    with pytest.raises(IndexError):
        plan.progress(4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_sequences_have_exactly_the_requested_lengths(seed):
    lengths = (6, 11, 3)
    plan = plan_exam(seed, sequence_lengths=lengths, normal_frames=25, size=128)
    assert plan.frames == 45
    shown = [
        [polyp.id for polyp in render_frame(plan, number).truth.polyps if polyp.counts]
        for number in range(plan.frames)
    ]
    assert shown.count([]) == 25
    for polyp, length in enumerate(lengths, start=1):
        numbers = [number for number, polyps in enumerate(shown) if polyps == [polyp]]
        assert numbers == list(range(numbers[0], numbers[0] + length))


def test_an_exam_may_have_no_polyp():
    plan = plan_exam(3, sequence_lengths=(), normal_frames=6, size=64)
    assert {render_frame(plan, number).truth.label for number in range(6)} == {"normal"}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"frames": 0}, "frames"),
        ({"frames": None}, "frames"),
        ({"polyps": 256}, "polyps"),
        ({"heads": 3}, "heads"),
        ({"size": 63}, "size"),
        ({"field": "oval"}, "field"),
        ({"surround": "pink"}, "surround"),
        ({"sequence_lengths": (3, 0)}, "sequence_lengths"),
    ],
)
def test_plan_exam_names_the_wrong_option(options, field):
    with pytest.raises(ParameterError) as caught:
        plan_exam(7, **{**SMALL, **options})
    assert caught.value.field == field


def test_named_studies_have_their_composition():
    lengths = [length for _, sequences in PAPER for length in sequences]
    assert [normal for normal, _ in PAPER] == [422, 1008, 4666, 8567, 4075]
    assert lengths == [18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15]
    assert len(DEMO) == 5
    assert sum(len(sequences) for _, sequences in DEMO) == 16


def test_a_custom_study_is_reproducible_and_has_different_exams():
    study = plan_study(patients=3, seed=5, **SMALL)
    assert study == plan_study(patients=3, seed=5, **SMALL)
    assert study != plan_study(patients=3, seed=6, **SMALL)
    assert [exam.name for exam in study.exams] == ["patient-1", "patient-2", "patient-3"]
    assert len({exam.plan.seed for exam in study.exams}) == 3
    assert {(exam.plan.frames, len(exam.plan.polyps)) for exam in study.exams} == {(40, 8)}


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
def test_plan_study_names_the_wrong_option(options, field):
    with pytest.raises(ParameterError) as caught:
        plan_study(**options)
    assert caught.value.field == field
