"""Identity of an exam, fields of view, and what an output folder contains."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve import FieldOfView, OccupiedError, Parameters, __version__
from capsieve.paper.detector import PaperDetector
from capsieve.screening.plan import (
    SAMPLES,
    Head,
    check_folder,
    differences,
    field_of_view_records,
    find_fields,
    identity,
    versions,
)
from capsieve.screening.settings import FieldChoice
from capsieve.sources.base import Place, Survey
from support.polyp_frames import polyp_frame
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


def test_versions_are_texts_and_name_the_package_and_the_decoder():
    found = versions()
    assert found["capsieve"] == __version__
    assert all(isinstance(text, str) and text for text in found.values())
    assert {"python", "av", "libavcodec", "libavformat", "libswscale", "numpy"} <= found.keys()


# Fields of view

SURVEY = Survey("", 0, None, (), {})


class Samples:
    """A source of which only the samples are used."""

    place = Place("folder", "/data")

    def __init__(self, *frames):
        self._frames = list(frames)
        self.count = 0

    def samples(self, survey, count):
        self.count = count
        return self._frames


def fields_of(*frames, choice: FieldChoice = "auto"):
    return find_fields(Samples(*frames), SURVEY, choice)  # pyright: ignore


def colour(seed=0, size=96):
    return polyp_frame(seed=seed, size=size)


def grey(seed=0, size=96):
    return colour(seed, size).mean(axis=2).astype(np.uint8)


def test_the_field_of_view_is_searched_in_a_few_frames():
    source = Samples(colour())
    find_fields(source, SURVEY, "auto")  # pyright: ignore
    assert source.count == SAMPLES


def test_every_size_has_its_own_field_of_view_and_the_most_frequent_one_is_first():
    fields = fields_of(colour(size=128), colour(), colour(1))
    assert list(fields) == [(96, 96), (128, 128)]
    small, large = fields.values()
    assert small.shape == "circle"
    assert small.row == pytest.approx(47.5, abs=1.5)
    assert small.radius == pytest.approx(0.965 * 48, abs=2.5)
    assert large.radius / small.radius == pytest.approx(128 / 96, rel=0.05)


def test_grey_and_colour_may_be_mixed():
    assert fields_of(grey(0), colour(1), grey(2), colour(3)) == fields_of(colour(1), colour(3))


def test_8_and_16_bits_may_be_mixed():
    deep = grey(1).astype(np.uint16) * 257
    (field,) = fields_of(grey(0), deep).values()
    assert field.radius == pytest.approx(0.965 * 48, abs=2.5)


def test_an_image_that_is_too_small_does_not_stop_the_exam():
    fields = fields_of(np.zeros((5, 5, 3), np.uint8), colour())
    assert (fields[5, 5].shape, fields[5, 5].confidence) == ("full", 0.0)
    assert fields[96, 96] == fields_of(colour())[96, 96]


def test_whole_frames_have_the_largest_circle_inside():
    fields = fields_of(np.zeros((100, 60), np.uint8), choice="whole")
    assert fields == {(100, 60): FieldOfView("full", 49.5, 29.5, 30.0, 0.0)}


def test_a_given_field_of_view_is_used_for_every_size():
    fields = fields_of(colour(), colour(size=128), choice=CIRCLE)
    assert list(fields.values()) == [CIRCLE, CIRCLE]


@pytest.mark.parametrize("choice", ["auto", "whole", CIRCLE])
def test_a_source_without_a_decodable_frame_has_no_field_of_view(choice):
    assert fields_of(choice=choice) == {}


@pytest.mark.parametrize(
    ("choice", "word"), [("auto", "search"), ("whole", "choice"), (CIRCLE, "choice")]
)
def test_the_record_states_how_the_field_of_view_was_found(choice, word):
    fields = fields_of(colour(), choice=choice)
    head = Head(Place("folder", "/data", head=1), "", SURVEY, fields)
    (record,) = field_of_view_records([head], choice)
    assert (record["head"], record["found_by"]) == (1, word)
    assert (record["rows"], record["cols"]) == (96, 96)
    for name in ("shape", "row", "col", "radius", "confidence"):
        assert record[name] == getattr(fields[96, 96], name)
