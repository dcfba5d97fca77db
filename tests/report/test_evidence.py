"""The evidence for a decision about a frame."""

import io
import json

import numpy as np
import pytest
from PIL import Image

import capsieve
from capsieve.report.evidence import OVERLAY, FrameEvidence, frame_evidence, map_address
from support.fake_detector import FakeDetector
from support.polyp_frames import polyp_frame


def refuse(constant: str) -> None:
    raise ValueError(constant)


@pytest.fixture(scope="module")
def paper() -> FrameEvidence:
    return frame_evidence(polyp_frame(), None, capsieve.load_detector("paper"))


@pytest.fixture(scope="module")
def other() -> FrameEvidence:
    return frame_evidence(polyp_frame(), None, FakeDetector())


def test_values_have_the_bounds_that_they_were_compared_with(paper):
    parameters = capsieve.Parameters()
    found = {each.name: each for each in paper.values}
    assert (found["T_max"].low, found["T_max"].high) == (
        parameters.texture_low,
        parameters.texture_high,
    )
    assert found["R_max"].low == parameters.radius_threshold
    assert found["R_max"].value == paper.result.radius_max
    assert all(each.holds for each in paper.values) == (paper.result.label == "polyp")


def test_the_best_ball_is_in_pixels_of_the_frame(paper):
    [best] = [ball for ball in paper.balls if ball.best]
    assert (best.row, best.col, best.radius) == pytest.approx(paper.result.place)


def test_maps_cover_the_frame_in_one_colour(paper):
    assert paper.overlay("none") is None
    for name in paper.maps:
        png = paper.overlay(name)
        assert png is not None
        pixels = np.asarray(Image.open(io.BytesIO(png)))
        assert pixels.shape == (*paper.pixels.shape[:2], 4)
        assert (pixels[..., :3] == OVERLAY).all()
        assert 0 < pixels[..., 3].max() < 255


@pytest.mark.parametrize("name", ["paper", "other"])
def test_the_json_has_the_words_and_is_finite(request, name):
    evidence = request.getfixturevalue(name)
    content = json.loads(evidence.json(file="a.png"), parse_constant=refuse)
    assert content["why"] == evidence.words
    assert content["file"] == "a.png"
    assert content["label"] == evidence.result.label


def test_another_detector_is_compared_by_its_score(other):
    [value] = other.values
    assert (value.name, value.low) == ("score", other.detector.score_threshold)
    assert value.holds == (other.result.label == "polyp")
    assert "probab" not in " ".join(other.words)


def test_a_stored_map_becomes_an_image_in_the_page():
    with io.BytesIO() as file:
        Image.fromarray(np.array([[0, 255]], np.uint8)).save(file, "PNG")
        address = map_address(file.getvalue())
    assert address.startswith("data:image/png;base64,")
