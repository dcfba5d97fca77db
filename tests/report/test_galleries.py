"""Galleries: the chosen frames, how they are drawn, and their captions."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import Circle

from capsieve.frame_table import NORMAL, FlagRule
from capsieve.report import figures
from capsieve.report.galleries import FrameImages, choose, draw
from capsieve.statistics.results import Evaluation
from support.made_evaluation import made_evaluation

NO_PIXELS = FrameImages(pixels=lambda row: None)
GREY = FrameImages(pixels=lambda row: np.zeros((512, 512, 3), np.uint8))


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return made_evaluation(compared=False)


def test_every_missed_polyp_is_shown_once_and_the_found_ones_are_flagged(evaluation):
    galleries = {gallery.key: gallery for gallery in choose(evaluation, NO_PIXELS)}
    frames, flagged = evaluation.frames, evaluation.points[0].flagged
    missed = [frames.polyp[row] for row in galleries["missed"].rows]
    assert missed == ["polyp 5", "polyp 11", "polyp 12"]
    assert flagged[galleries["found"].rows].all()
    assert len(galleries["found"].rows) == 8


def test_of_a_missed_polyp_the_frame_that_came_closest_is_shown(evaluation):
    [gallery] = [each for each in choose(evaluation, NO_PIXELS) if each.key == "missed"]
    frames = evaluation.frames
    for row in gallery.rows:
        same = frames.polyp.code == frames.polyp.code[row]
        assert frames.score[row] == frames.score[same].max()


def test_false_positives_are_of_all_groups_and_not_close_together(evaluation):
    [gallery] = [each for each in choose(evaluation, NO_PIXELS) if each.key == "false-positives"]
    frames, rows = evaluation.frames, np.array(gallery.rows)
    assert (frames.truth[rows] == NORMAL).all()
    assert evaluation.points[0].flagged[rows].all()
    assert len(np.unique(frames.group.code[rows[:5]])) == 5
    for one in rows:
        other = rows[(frames.exam.code[rows] == frames.exam.code[one]) & (rows != one)]
        assert (np.abs(frames.frame[other] - frames.frame[one]) >= 25).all()


def gallery_of(evaluation: Evaluation, key: str, images: FrameImages = NO_PIXELS):
    [found] = [each for each in choose(evaluation, images) if each.key == key]
    return found


def test_found_polyps_are_shown_only_with_the_ball_on_the_polyp_if_outlines_are_known(evaluation):
    frames, flagged = evaluation.frames, evaluation.points[0].flagged
    on_polyp = np.zeros(len(frames), bool)
    usable = [np.flatnonzero(flagged & (frames.polyp.code == code))[-1] for code in (0, 2, 3)]
    on_polyp[usable] = True
    outlined = replace(evaluation, on_polyp=on_polyp)
    found = gallery_of(outlined, "found")
    assert sorted(found.rows) == sorted(usable)
    assert found.caption.startswith("3 of 13 found polyps")
    assert "10 found polyps without such a frame" in found.caption


def test_the_geometry_is_of_a_found_polyp_and_of_normal_frames_with_the_largest_folds(evaluation):
    frames, flagged = evaluation.frames, evaluation.points[0].flagged
    normal = np.flatnonzero(frames.normal_frames & ~flagged)
    fold = np.zeros(len(frames), np.int64)
    fold[normal[[5, 500, -5]]] = 300, 900, 800
    fold[np.flatnonzero(flagged)[0]] = 3000
    polyps = np.flatnonzero(flagged & frames.polyp_frames)
    components = np.ones(len(frames), np.int64)
    components[polyps] = 5
    components[polyps[7]] = 2
    images = FrameImages(pixels=lambda row: None, components=components, fold=fold)
    polyp, *folds = gallery_of(evaluation, "geometry", images).rows
    assert polyp == polyps[7]
    assert fold[folds].tolist() == [900, 800]
    assert "geometry" not in {each.key for each in choose(evaluation, NO_PIXELS)}


def test_frames_are_asked_for_once_each_in_stored_order(evaluation):
    gallery = gallery_of(evaluation, "false-positives")
    for name in ("pixels", "explain"):
        asked: list[int] = []
        images = FrameImages(**{"pixels": NO_PIXELS.pixels, name: asked.append})
        list(draw(evaluation, gallery, images))
        assert asked == sorted(gallery.rows)


def test_the_rule_that_stopped_a_frame_is_named_with_value_and_bound(evaluation):
    [drawing] = draw(evaluation, gallery_of(evaluation, "missed"), GREY)
    texts = [text.get_text() for axes in drawing.figure.axes for text in axes.texts]
    assert all("below" in text for text in texts)
    assert all(len(axes.patches) == 2 for axes in drawing.figure.axes)  # the circle with its rim


@pytest.mark.parametrize(
    ("key", "panels", "circles"),
    [("texture", 3 * 3, 0), ("found", 2 * 8, 2 * 8), ("missed", 3 * 3, 2 * 3)],
)
def test_the_steps_of_each_frame_are_drawn_with_its_circle(
    evaluation, make_explanation, key, panels, circles
):
    images = FrameImages(pixels=NO_PIXELS.pixels, explain=lambda row: make_explanation())
    [drawing] = draw(evaluation, gallery_of(evaluation, key), images)
    axes = [each for each in drawing.figure.axes if each.images]
    assert len(axes) == panels
    drawn = [patch for each in axes for patch in each.patches if isinstance(patch, Circle)]
    assert len(drawn) == circles
    assert all(circle.get_radius() == 54 for circle in drawn)


def test_a_frame_with_a_maximum_of_0_has_no_circle(evaluation, make_explanation):
    images = FrameImages(
        pixels=NO_PIXELS.pixels, explain=lambda row: make_explanation(texture_max=2.0)
    )
    [drawing] = draw(evaluation, gallery_of(evaluation, "missed"), images)
    assert not [patch for axes in drawing.figure.axes for patch in axes.patches]


def test_many_errors_are_drawn_four_at_a_time(evaluation, make_explanation):
    images = FrameImages(pixels=NO_PIXELS.pixels, explain=lambda row: make_explanation())
    gallery = gallery_of(evaluation, "false-positives")
    drawings = list(draw(evaluation, gallery, images))
    assert [len(each.figure.axes) for each in drawings] == [12, 12, 12]


def test_captions_state_the_values_of_the_parameters(evaluation, make_explanation):
    changed = replace(
        evaluation,
        parameters=evaluation.parameters | {"texture_low": 2.5, "eccentricity_max": 7.25},
        points=(replace(evaluation.points[0], rule=FlagRule("threshold", 41.0)),),
    )
    fold = np.where(evaluation.frames.normal_frames, 300, 0)
    counted = {"components": np.ones_like(fold), "fold": fold}
    images = FrameImages(pixels=NO_PIXELS.pixels, explain=lambda row: None, **counted)
    galleries = choose(changed, images)
    words = {each.key: next(draw(changed, each, images)).caption for each in galleries}
    assert "T_L = 2.5" in words["texture"]
    assert "E_max = 7.25" in words["geometry"]
    assert all("R_P = 41" in words[key] for key in ("found", "missed", "false-positives"))


@pytest.mark.parametrize("explain", [None, lambda row: None])
def test_names_of_any_length_and_script_are_drawn_without_a_message(evaluation, caplog, explain):
    frames = evaluation.frames
    long = replace(frames.exam, names=tuple(f"$x_{{{'日本' * 60}" for _ in frames.exam.names))
    changed = replace(evaluation, frames=replace(frames, exam=long))
    images = FrameImages(pixels=lambda row: None, explain=explain)
    for drawing in draw(changed, choose(changed, images)[0], images):
        figures.content(drawing.figure, "png")
    assert not caplog.records
