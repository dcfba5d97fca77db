"""Why a frame was flagged: words, values, shapes and maps."""

import io
import math

import numpy as np
import pytest
from PIL import Image

from capsieve import Parameters, phantom
from capsieve.detectors import PaperDetector
from capsieve.paper.detector import analyze, explain
from capsieve.paper.ellipse import inertia_ellipse
from capsieve.placement import Placement
from capsieve.report.words import why
from capsieve.results import Evidence, FrameResult, Spot, Weight
from capsieve.review.evidence_maps import on_source, overlay_png
from capsieve.review.evidence_view import evidence_view
from capsieve.store.recall import Recalled

SHAPE = (128, 160)


def recalled(pixels, *, score=None, **row):
    return Recalled(pixels, None, Parameters(), {"score": score, **row}, "frame.png")


@pytest.fixture(scope="module")
def pixels():
    return phantom.polyp_frame(size=128)


@pytest.fixture(scope="module")
def view(pixels):
    score = analyze(pixels, Parameters()).score
    return evidence_view(recalled(pixels, score=score), PaperDetector())


def test_the_words_are_those_of_explain(pixels, view):
    assert view.message.words == why(explain(pixels), Parameters()).splitlines()


def test_values_keep_to_their_bounds_where_they_say_so(view):
    assert {value.name for value in view.message.values} >= {"T_max", "max u", "R_max"}
    for value in view.message.values:
        low = -math.inf if value.low is None else value.low
        high = math.inf if value.high is None else value.high
        assert value.holds == (low <= value.value <= high)


def test_the_best_ball_is_where_the_result_points(pixels, view):
    place = analyze(pixels).place
    assert place is not None
    (best,) = [ball for ball in view.message.balls if ball.best]
    assert (best.row, best.col, best.radius) == pytest.approx(tuple(place))


def test_ellipses_pass_through_the_points_that_explain_draws(pixels, view):
    result = explain(pixels)
    assert len(view.message.ellipses) == len(result.features) > 0
    for feature, ellipse in zip(result.features, view.message.ellipses, strict=True):
        if not ellipse.minor:
            continue
        rows, cols = inertia_ellipse(feature)
        for row, col in zip(rows[::16], cols[::16], strict=True):
            source_row, source_col = result.placement.to_source(row, col)
            down, right = source_row - ellipse.row, source_col - ellipse.col
            along = right * math.cos(ellipse.angle) + down * math.sin(ellipse.angle)
            across = down * math.cos(ellipse.angle) - right * math.sin(ellipse.angle)
            on_it = (along / ellipse.major) ** 2 + (across / ellipse.minor) ** 2
            assert on_it == pytest.approx(1.0, abs=0.02)


def test_maps_have_the_frames_own_size_and_are_transparent_where_nothing_is(pixels, view):
    assert view.message.maps == ["u", "texture", "segmentation"]
    for name in view.message.maps:
        image = Image.open(io.BytesIO(overlay_png(view.maps[name])))
        assert (image.mode, image.size) == ("RGBA", pixels.shape[1::-1])
        alpha = np.asarray(image)[..., 3]
        assert alpha[0, 0] == 0
        assert 0 < alpha.max() < 255


def test_another_score_than_at_the_screening_is_told(pixels):
    words = evidence_view(recalled(pixels, score=1.0), PaperDetector()).message.words
    assert "has changed since" in words[-1]


def test_a_map_lies_where_its_grid_lies():
    place = Placement(
        rows=8, cols=8, row_scale=4.0, col_scale=4.0, row_offset=20.0, col_offset=40.0
    )
    levels = np.zeros((8, 8), np.float32)
    levels[2, 5] = 1.0
    spread = on_source(levels, place, SHAPE)
    assert spread.shape == SHAPE
    assert np.unravel_index(spread.argmax(), SHAPE) == (20 + 2 * 4, 40 + 5 * 4)
    assert spread[:16].max() == spread[:, :36].max() == 0


class Pointing:
    """A detector that points somewhere and draws a map."""

    name = "pointing"
    identity = {"name": "pointing", "score": "probability"}  # noqa: RUF012
    parameters = Parameters()
    threshold = 0.5
    value_names = ("redness",)
    value_words = {"redness": "how red it is"}  # noqa: RUF012

    def score(self, frame, field_of_view=None):
        return FrameResult(
            label="polyp",
            reason="polyp",
            score=0.75,
            texture_max=math.nan,
            radius_max=0,
            features=(),
            placement=Placement(8, 8, 1.0, 1.0, 0.0, 0.0),
            found=Spot(10.0, 20.0, 5.0),
        )

    def evidence(self, frame, field_of_view=None):
        levels = np.zeros(frame.shape[:2], np.float32)
        levels[10, 20] = 3.0
        weights = (Weight("redness", 1.0, 0.5, 0.1), Weight("blur", math.nan, 0.0, 9.0))
        return Evidence(map=levels, weights=weights)


def test_another_detector_tells_its_spot_its_map_and_its_weights(pixels):
    view = evidence_view(recalled(pixels, score=0.75), Pointing())  # pyright: ignore[reportArgumentType]
    message = view.message
    assert message.words[0].startswith("Polyp: the probability")
    assert [(ball.row, ball.col, ball.best) for ball in message.balls] == [(10.0, 20.0, True)]
    assert [(weight.name, weight.words) for weight in message.weights] == [
        ("redness", "how red it is")
    ]
    assert message.maps == ["evidence"]
    assert view.maps["evidence"].max() == 1.0
    (value,) = message.values
    assert (value.value, value.low, value.holds) == (0.75, 0.5, True)


def test_what_the_neighbours_did_is_told(pixels):
    row = {"label": "normal", "timeline_score": 0.2}
    words = evidence_view(recalled(pixels, score=0.75, **row), Pointing()).message.words  # pyright: ignore[reportArgumentType]
    assert words[-1].startswith("In this exam it is not flagged:")
