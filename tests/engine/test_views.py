"""The fields of view of a head."""

import numpy as np
import pytest

from capsieve import FieldOfView
from capsieve.engine.views import SAMPLES, FieldChoice, find_views, view_records
from capsieve.sources.source import Place, Survey
from support.polyp_frames import polyp_frame

SURVEY = Survey("", 0, None, (), {})


class Samples:
    """A source that knows nothing but its samples."""

    def __init__(self, *frames):
        self._frames = list(frames)
        self.place = Place("folder", "/data")
        self.asked = 0

    def samples(self, survey, count):
        self.asked = count
        return self._frames

    def survey(self):
        return SURVEY

    def frames(self, segment):
        raise NotImplementedError

    expected = frames


def views_of(*frames, choice: FieldChoice = "auto"):
    return find_views(Samples(*frames), SURVEY, choice)


def colour(seed=0, size=96):
    return polyp_frame(seed=seed, size=size)


def grey(seed=0, size=96):
    return colour(seed, size).mean(axis=2).astype(np.uint8)


def test_the_field_is_searched_on_a_few_frames():
    source = Samples(colour())
    find_views(source, SURVEY, "auto")
    assert source.asked == SAMPLES


def test_the_field_is_found_on_the_frames():
    (view,) = views_of(*(colour(seed) for seed in range(5)))
    assert (view.rows, view.cols) == (96, 96)
    assert view.field.shape == "circle"
    assert view.field.row == pytest.approx(47.5, abs=1.5)
    assert view.field.radius == pytest.approx(0.965 * 48, abs=2.5)


def test_every_size_has_its_own_field():
    views = views_of(colour(), colour(size=128), colour(1))
    assert [(view.rows, view.cols) for view in views] == [(96, 96), (128, 128)]
    small, large = (view.field.radius for view in views)
    assert large / small == pytest.approx(128 / 96, rel=0.05)


def test_grey_and_colour_may_be_mixed():
    mixed = views_of(grey(0), colour(1), grey(2), colour(3))
    assert mixed == views_of(colour(1), colour(3))


def test_eight_and_sixteen_bits_may_be_mixed():
    deep = grey(1).astype(np.uint16) * 257
    (view,) = views_of(grey(0), deep)
    assert view.field.radius == pytest.approx(0.965 * 48, abs=2.5)


def test_frames_with_and_without_alpha_may_be_mixed():
    alpha = np.dstack((colour(0), np.full((96, 96), 255, np.uint8)))
    assert views_of(alpha, colour(1)) == views_of(colour(0), colour(1))


def test_one_image_that_is_too_small_does_not_stop_the_exam():
    tiny, usual = views_of(np.zeros((5, 5, 3), np.uint8), colour())
    assert (tiny.rows, tiny.field.shape, tiny.field.confidence) == (5, "full", 0.0)
    assert usual == views_of(colour())[0]


def test_whole_frames_have_the_largest_circle_inside():
    (view,) = views_of(np.zeros((100, 60), np.uint8), choice="whole")
    assert view.field == FieldOfView("full", 49.5, 29.5, 30.0, 0.0)


def test_a_stated_field_is_taken_for_every_size():
    stated = FieldOfView("circle", 40, 41, 30)
    views = views_of(colour(), colour(size=128), choice=stated)
    assert [view.field for view in views] == [stated, stated]


@pytest.mark.parametrize("choice", ["auto", "whole", FieldOfView("circle", 40, 41, 30)])
def test_where_nothing_decodes_there_is_no_field(choice):
    assert views_of(choice=choice) == ()


@pytest.mark.parametrize(
    ("choice", "word"),
    [("auto", "search"), ("whole", "choice"), (FieldOfView("circle", 40, 41, 30), "choice")],
)
def test_the_record_tells_how_the_field_was_found(choice, word):
    views = views_of(colour(), choice=choice)
    (record,) = view_records(1, views, choice)
    assert record["head"] == 1
    assert record["found_by"] == word
    (view,) = views
    assert (record["rows"], record["cols"]) == (view.rows, view.cols)
    for name in ("shape", "row", "col", "radius", "confidence"):
        assert record[name] == getattr(view.field, name)
