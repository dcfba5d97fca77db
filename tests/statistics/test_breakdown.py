"""Figures by rule, finding and source; distributions; baselines."""

from typing import Any

import numpy as np
import pytest

from capsieve.frame_table import NORMAL, OTHER, POLYP
from capsieve.parameters import Parameters
from capsieve.report.count_tables import reasons_table
from capsieve.statistics.breakdown import (
    baseline_metrics,
    histograms,
    preselection_metrics,
    source_metrics,
    source_warnings,
)
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.roc import auc, frame_roc
from support.labelled_frames import labelled_frames, many_patients

OPTIONS = EvaluationOptions(bootstrap_samples=200)
PARAMETERS = Parameters().to_dict()
P, N = POLYP, NORMAL
LOW, NAN = -np.inf, np.nan


def eight_frames():
    reason = ["polyp", "radius-low", "texture-high", "texture-low", "texture-low", "radius-low"]
    return labelled_frames(
        [40, 20, LOW, LOW, LOW, 30, NAN, LOW],
        [P, P, P, N, N, N, N, OTHER],
        reason=np.array([*reason, None, "no-feature"], object),
        texture_max=[4.0, 7.9, 9.0, 1.0, 2.9, 3.0, NAN, 5.0],
        radius_max=[40, 20, 0, 0, 0, 30, NAN, 0],
    )


def test_shares_that_pass_pre_selection_counted_by_hand():
    polyp, normal, other = preselection_metrics(eight_frames(), OPTIONS)
    assert (polyp.numerator, polyp.denominator) == (2, 3)
    assert (normal.numerator, normal.denominator) == (1, 3)
    assert "1 frame not scored" in normal.note
    assert other.value == 1.0


def test_a_score_alone_has_no_rules_and_no_pre_selection():
    reason = np.array(["polyp", "score-low"], object)
    frames = labelled_frames([0.9, 0.1], [P, N], reason=reason)
    assert reasons_table(frames) is None
    assert preselection_metrics(frames, OPTIONS) == ()
    (score,) = histograms(frames, {})
    assert score.key == "score"
    assert score.edges[[0, -1]].tolist() == [0, 1]
    assert (score.polyp.sum(), score.normal.sum()) == (1, 1)


def test_scores_from_elsewhere_have_no_reasons():
    frames = labelled_frames([0.9, 0.1], [P, N])
    assert reasons_table(frames) is None
    assert preselection_metrics(frames, OPTIONS) == ()
    assert histograms(labelled_frames([NAN], [P]), {}) == ()


def test_no_frame_is_lost_from_the_histograms():
    texture, radius = histograms(eight_frames(), PARAMETERS)
    assert (texture.polyp.sum(), texture.normal.sum()) == (3, 3)
    assert texture.left_out.startswith("1 of 4 normal frames")
    assert (radius.polyp.sum(), radius.normal.sum()) == (2, 1)
    assert (radius.polyp_frames, radius.normal_frames) == (3, 4)
    stopped, unscored = radius.left_out.removesuffix(".").split(". ")
    assert stopped.startswith("2 of 4 normal frames and 1 of 3 polyp frames have R_max = 0")
    assert unscored == "1 of 4 normal frames not scored"


def test_the_papers_bounds_are_edges_of_bins():
    texture, radius = histograms(eight_frames(), PARAMETERS)
    assert texture.bounds == {"T_L": 3.0, "T_U": 8.0}
    assert {3.0, 8.0} <= set(texture.edges)
    assert radius.bounds == {"R_P": 37.0}
    assert radius.edges[[0, -1]].tolist() == [1.0, 86.0]  # R_max is at most floor(256 / 3) = 85
    assert radius.edges[np.flatnonzero(radius.polyp)].tolist() == [20.0, 40.0]


def test_the_last_bin_also_has_what_is_beyond_it():
    texture = np.r_[np.full(999, 5.0), 4000.0]
    frames = labelled_frames(np.ones(1000), np.full(1000, N), texture_max=texture)
    (histogram,) = histograms(frames, PARAMETERS)
    assert histogram.edges[-1] < 20
    assert histogram.normal[-1] == 1
    assert histogram.normal.sum() == 1000


def test_a_histogram_of_rejected_frames_alone_is_empty():
    frames = labelled_frames([LOW], [N], radius_max=[0.0])
    (histogram,) = histograms(frames, {})
    assert histogram.normal.sum() == 0
    assert "1 of 1 normal frame" in histogram.left_out


def test_figures_by_source_are_those_of_its_frames():
    frames = many_patients(24, source=["a", "b"] * (24 * 28))
    flagged = frames.score >= 37
    found = {(m.subset, m.key): m for m in source_metrics(frames, flagged, OPTIONS)}
    assert {subset for subset, _ in found} == {"source: a", "source: b"}
    part = frames.take(frames.source.code == 1)
    for metric in (
        *rate_metrics(part, flagged[frames.source.code == 1], OPTIONS, subset="source: b"),
        *frame_roc(part, OPTIONS, subset="source: b").metrics,
    ):
        assert found["source: b", metric.key] == metric
    assert source_warnings(frames)


@pytest.mark.parametrize("source", [["a"] * 4, [None] * 4])
def test_a_single_source_has_no_figures_of_its_own(source):
    frames = labelled_frames(np.ones(4), [P, N, P, N], source=source)
    assert source_metrics(frames, np.ones(4, bool), OPTIONS) == ()
    assert source_warnings(frames) == ()


def test_frames_of_an_unknown_source_are_a_source():
    frames = labelled_frames(np.ones(4), [P, N, P, N], source=["a", "a", None, None])
    subsets = {metric.subset for metric in source_metrics(frames, np.ones(4, bool), OPTIONS)}
    assert subsets == {"source: a", "source: (unknown)"}


def test_baselines_are_aucs_on_the_frames_of_the_detector():
    rng = np.random.default_rng(1)
    frames = many_patients(12)
    colours = rng.uniform(20, 200, (3, len(frames)))
    colours[0] += 60 * (frames.truth == P)
    score = frames.score.copy()
    score[:5] = NAN
    red, green, blue = colours
    frames = labelled_frames(
        score,
        frames.truth,
        patient=frames.patient,
        red=red,
        green=green,
        blue=blue,
        sharpness=-red,
    )
    polyp, normal = frames.truth == P, (frames.truth == N) & ~np.isnan(score)
    redness = red / (red + green + blue)
    found: dict[str, Any] = {metric.key: metric for metric in baseline_metrics(frames, OPTIONS)}
    assert list(found) == [
        "baseline.redness.auc",
        "baseline.brightness.auc",
        "baseline.sharpness.auc",
    ]
    metric = found["baseline.redness.auc"]
    assert metric.value == pytest.approx(auc(redness[polyp], redness[normal]))
    assert metric.interval.low < metric.value < metric.interval.high
    # Of two directions the note names the better one.
    opposite = found["baseline.sharpness.auc"]
    assert opposite.value < 0.5
    assert f"{1 - opposite.value:.3f}" in opposite.note


def test_without_colours_there_are_no_baselines():
    assert baseline_metrics(labelled_frames([1.0], [P]), OPTIONS) == ()
    black = labelled_frames([1.0, 2.0], [P, N], red=[0, 0], green=[0, 0], blue=[0, 0])
    assert baseline_metrics(black, OPTIONS)[0].value is None
