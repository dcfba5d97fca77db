"""Survey of exams: heads, fields of view and versions."""

import numpy as np
import pytest

from capsieve import FieldOfView, FileError, __version__
from capsieve.screening.executors import Serial
from capsieve.screening.settings import FieldChoice
from capsieve.screening.survey import (
    SAMPLES,
    Head,
    field_of_view_records,
    find_fields,
    survey_exams,
    versions,
)
from capsieve.sources.base import Place, Survey
from support.exams import write_exam_images
from support.polyp_frames import polyp_frame

CIRCLE = FieldOfView("circle", 40, 41, 30)


def test_versions_are_texts_and_name_the_package_and_the_decoder():
    used = versions()
    assert used["capsieve"] == __version__
    assert all(isinstance(text, str) and text for text in used.values())
    assert {"python", "av", "libavcodec", "libavformat", "libswscale", "numpy"} <= used.keys()


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


def test_exams_are_sorted_by_name_and_those_that_cannot_be_read_are_named(tmp_path):
    for name in ("exam10", "exam2"):
        write_exam_images(tmp_path / "exams" / name, 2)
    (tmp_path / "exams" / "exam3.mp4").write_bytes(b"no video")
    with Serial() as executor:
        heads, failed = survey_exams(executor, [str(tmp_path / "exams")], "whole")
        assert list(heads) == ["exam2", "exam10"]
        assert list(failed) == ["exam3"]
        with pytest.raises(FileError, match="exam3"):
            survey_exams(executor, [str(tmp_path / "exams" / "exam3.mp4")], "whole")
