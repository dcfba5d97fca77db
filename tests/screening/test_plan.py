"""Identity of an exam, and what an output folder contains."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve import FieldOfView, OccupiedError, Parameters, __version__
from capsieve.paper.detector import PaperDetector
from capsieve.screening.plan import check_folder, differences, identity
from capsieve.screening.settings import FieldChoice
from capsieve.sources.base import Place
from support.unfinished import write_unfinished

SOURCES = {Place("video", "/data/a.mp4"): "a" * 64}
CIRCLE = FieldOfView("circle", 40, 41, 30)


def of(*, parameters=None, sources=SOURCES, field_of_view: FieldChoice = "auto"):
    return identity(PaperDetector(parameters or Parameters()), sources, field_of_view)


def test_an_identity_can_be_stored_as_json():
    assert json.loads(json.dumps(of(field_of_view=CIRCLE))) == of(field_of_view=CIRCLE)


def test_the_path_of_the_source_is_not_part_of_the_identity():
    assert of(sources={Place("video", "/elsewhere/b.mp4"): "a" * 64}) == of()


def test_the_rule_is_not_part_of_the_identity():
    assert of(parameters=Parameters(radius_threshold=50)) == of()


def test_other_parameters_are_named_with_both_values():
    found = differences(of(), of(parameters=Parameters(texture_low=2.0)))
    assert found == ["detector parameters texture_low: 3.0 there, 2.0 now"]


def test_a_changed_source_is_named_by_its_head():
    other = {Place("video", "/data/a.mp4"): "b" * 64}
    (found,) = differences(of(), of(sources=other))
    assert found == f"source head 0 sha256: {'a' * 16}... there, {'b' * 16}... now"


@pytest.mark.parametrize(
    "place",
    [
        Place("video", "/a", stream=1),
        Place("video", "/a", names="-head-0"),
        Place("zip", "/a"),
    ],
)
def test_another_part_of_the_source_is_a_difference(place):
    assert len(differences(of(), of(sources={place: "a" * 64}))) == 1


def test_a_second_head_and_another_field_of_view_are_differences():
    two = {Place("video", "/data/a.mp4", head): "a" * 64 for head in (0, 1)}
    assert len(differences(of(), of(sources=two, field_of_view=CIRCLE))) == 2


@pytest.mark.parametrize("change", [{"shape": "cut-square"}, {"confidence": 0.5}])
def test_shape_and_confidence_of_a_given_field_of_view_are_part_of_the_identity(change):
    other = replace(CIRCLE, **change)
    assert len(differences(of(field_of_view=CIRCLE), of(field_of_view=other))) == 1


def test_another_scoring_version_is_a_difference(monkeypatch):
    before = of()
    monkeypatch.setattr("capsieve.paper.detector.SCORING_VERSION", 99)
    assert differences(before, of()) == ["detector scoring: 1 there, 99 now"]


PLAIN = st.recursive(
    st.integers() | st.text(max_size=60) | st.lists(st.integers(), max_size=3),
    lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), PLAIN, max_size=4)


@settings(max_examples=40)
@given(OBJECTS, OBJECTS)
def test_every_difference_is_found(one, other):
    assert bool(differences(one, other)) == (one != other)


def test_unfinished_work_needs_the_same_settings_and_version(tmp_path):
    assert check_folder(tmp_path, of()) is None
    write_unfinished(tmp_path, of() | {"capsieve": __version__})
    assert check_folder(tmp_path, of()) is None
    with pytest.raises(OccupiedError, match="texture_low"):
        check_folder(tmp_path, of(parameters=Parameters(texture_low=2.0)))
