"""Galleries: the chosen frames and their captions."""

from dataclasses import replace

import numpy as np
import pytest

from capsieve.report import figures
from capsieve.report.galleries import choose, draw
from capsieve.statistics.frames import NORMAL
from capsieve.statistics.results import Evaluation
from support.made_evaluation import made_evaluation


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return made_evaluation(compared=False)


def test_every_missed_polyp_is_shown_once_and_the_found_ones_are_flagged(evaluation):
    galleries = {gallery.key: gallery for gallery in choose(evaluation)}
    frames, flagged = evaluation.frames, evaluation.points[0].flagged
    missed = [frames.polyp[row] for row in galleries["missed"].rows]
    assert missed == ["polyp 5", "polyp 11", "polyp 12"]
    assert flagged[galleries["found"].rows].all()
    assert len(galleries["found"].rows) == 12


def test_of_a_missed_polyp_the_frame_that_came_closest_is_shown(evaluation):
    [gallery] = [each for each in choose(evaluation) if each.key == "missed"]
    frames = evaluation.frames
    for row in gallery.rows:
        same = frames.polyp.code == frames.polyp.code[row]
        assert frames.score[row] == frames.score[same].max()


def test_false_positives_are_of_all_groups_and_not_close_together(evaluation):
    [gallery] = [each for each in choose(evaluation) if each.key == "false-positives"]
    frames, rows = evaluation.frames, np.array(gallery.rows)
    assert (frames.truth[rows] == NORMAL).all()
    assert evaluation.points[0].flagged[rows].all()
    assert len(np.unique(frames.group.code[rows[:5]])) == 5
    for one in rows:
        other = rows[(frames.exam.code[rows] == frames.exam.code[one]) & (rows != one)]
        assert (np.abs(frames.frame[other] - frames.frame[one]) >= 25).all()


def test_frames_are_asked_for_once_each_in_stored_order(evaluation):
    asked: list[int] = []
    gallery = choose(evaluation)[1]
    draw(evaluation, gallery, asked.append)
    assert asked == sorted(gallery.rows)


def test_the_rule_that_stopped_a_frame_is_named_with_value_and_bound(evaluation):
    gallery = choose(evaluation)[0]
    figure = draw(evaluation, gallery, lambda row: np.zeros((512, 512, 3), np.uint8))
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert all("below" in text for text in texts)
    assert all(len(axes.patches) == 2 for axes in figure.axes)  # the circle with its rim


def test_names_of_any_length_and_script_are_drawn_without_a_message(evaluation, caplog):
    frames = evaluation.frames
    long = replace(frames.exam, names=tuple(f"$x_{{{'日本' * 60}" for _ in frames.exam.names))
    changed = replace(evaluation, frames=replace(frames, exam=long))
    figures.content(draw(changed, choose(changed)[0], lambda row: None), "png")
    assert not caplog.records
