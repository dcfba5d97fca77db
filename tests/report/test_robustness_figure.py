"""The figure of a robustness study."""

import numpy as np
from matplotlib.lines import Line2D

from capsieve.report.robustness_figure import RateChanges, robustness_drawing

BASE = {"Specificity": 0.9, "Sensitivity": 1.0}
CHANGES = {
    "sigma1 +10 %": {"Specificity": 0.85, "Sensitivity": 1.0},
    "E_max +10 %": {"Specificity": 0.95, "Sensitivity": None},
}


def marks(panel):
    return [points(line)[0] for line in panel.lines if line.get_marker() not in ("None", "")]


def points(line: Line2D) -> np.ndarray:
    """Return all x of a line, then all y."""
    return np.concatenate([np.ravel(each) for each in line.get_data()])


def test_every_known_rate_has_a_mark_in_the_panel_of_its_rate():
    first, second = robustness_drawing([RateChanges("", BASE, CHANGES)]).figure.axes
    assert marks(first) == [0.85, 0.95]
    assert marks(second) == [1.0]
    assert second.get_xlim()[1] <= 1.01  # a share is at most 100 %


def test_several_studies_are_side_by_side_with_a_legend():
    other = RateChanges("inferred", {"Specificity": 0.8}, {"E_max +10 %": {"Specificity": 0.7}})
    figure = robustness_drawing([RateChanges("printed", BASE, CHANGES), other]).figure
    assert marks(figure.axes[0]) == [0.85, 0.95, 0.7]
    drawn = [points(line) for line in figure.axes[0].lines]
    heights = {one[1] % 1 for one in drawn if one.size == 2}
    assert len(heights) == 2
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["printed", "inferred"]


def test_differences_start_at_zero_for_every_study():
    other = RateChanges("inferred", {"Specificity": 0.8}, {"E_max +10 %": {"Specificity": 0.7}})
    studies = [RateChanges("printed", BASE, CHANGES), other]
    panel = robustness_drawing(studies, differences=True).figure.axes[0]
    np.testing.assert_allclose(marks(panel), [-0.05, 0.05, -0.1])
    assert panel.get_xlim()[0] < -0.1
