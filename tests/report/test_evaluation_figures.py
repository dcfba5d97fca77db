"""Figures of an evaluation: what is drawn, from the numbers."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch

from capsieve.report.evaluation_figures import drawings, histogram_drawing, roc_drawing
from capsieve.report.figures import Drawing
from support.made_evaluation import bare_evaluation, made_evaluation


@pytest.fixture(scope="module")
def evaluation():
    return made_evaluation(compared=False)


def drawn(drawing: Drawing | None) -> tuple[Axes, str]:
    """Return the panel and the caption of a figure."""
    assert drawing is not None
    return drawing.figure.axes[0], drawing.caption


def markers(axes, marker):
    return [line for line in axes.lines if line.get_marker() == marker]


def heights(bars: StepPatch) -> np.ndarray:
    return np.asarray(bars.get_data()[0])


def test_the_end_of_a_curve_is_a_circle_that_a_mark_does_not_cover(evaluation):
    curve = evaluation.roc_frames
    axes, _ = drawn(roc_drawing(evaluation))
    [end] = markers(axes, "o")
    last = [curve.false_positive_rate[-1]], [curve.true_positive_rate[-1]]
    np.testing.assert_array_equal(end.get_data(), last)
    [mark] = markers(axes, "X")
    assert end.get_markersize() > mark.get_markersize() + 2
    assert end.get_zorder() < mark.get_zorder()


def test_the_end_is_not_drawn_beyond_the_part_that_is_shown(evaluation):
    end = evaluation.roc_frames.false_positive_rate[-1]
    for shown, count in ((end + 0.01, 1), (end - 0.01, 0)):
        axes, caption = drawn(roc_drawing(evaluation, end=shown))
        assert len(markers(axes, "o")) == count
        assert ("Open circle" in caption) == bool(count)


def test_bars_are_shares_of_all_frames_of_the_class(evaluation):
    [_, histogram] = evaluation.histograms
    axes, caption = drawn(histogram_drawing(histogram))
    normal, polyp = (heights(each) for each in axes.patches if isinstance(each, StepPatch))
    assert normal.sum() == pytest.approx(histogram.normal.sum() / 18_738)
    assert polyp.sum() == pytest.approx(histogram.polyp.sum() / 230)
    stopped = 18_738 - int(histogram.normal.sum())
    assert f"{stopped:,} of 18,738 normal frames" in caption
    assert "have R_max = 0" in caption


def test_a_histogram_without_bars_is_left_out(evaluation):
    nothing = np.zeros_like(evaluation.histograms[0].normal)
    empty = replace(evaluation.histograms[0], normal=nothing, polyp=nothing)
    assert histogram_drawing(empty) is None
    assert drawings(bare_evaluation()) == {}


def test_no_two_figures_have_the_same_title_or_alternative_text():
    found = drawings(made_evaluation())
    titles = [axes.get_title(loc="left") for each in found.values() for axes in each.figure.axes]
    assert len(set(titles)) == len(titles)
    assert len({each.alt for each in found.values()}) == len(found)


def test_the_curve_of_reading_effort_ends_with_the_longest_list(evaluation):
    listed = evaluation.frames.score > -np.inf
    exam = evaluation.frames.exam.code
    longest = max(listed[exam == each].mean() for each in np.unique(exam))
    axes, caption = drawn(drawings(evaluation)["reading-effort"])
    found, frames, _ = axes.lines[:3]
    for line in (found, frames):
        assert np.asarray(line.get_xdata())[-1] == pytest.approx(longest, abs=0.01)
    assert "The curves end at" in caption
