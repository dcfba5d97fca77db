"""The figure of the flow of data."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from capsieve import Parameters
from capsieve.report import figures
from capsieve.report.data_flow import data_flow_drawing


@pytest.fixture(scope="module")
def figure() -> Figure:
    drawn = data_flow_drawing(
        Parameters(radius_threshold=41, size_low=99, midpass_fine=6.25)
    ).figure
    FigureCanvasAgg(drawn).draw()
    return drawn


def test_bounds_are_those_of_the_parameters(figure):
    written = " ".join(text.get_text() for text in figure.axes[0].texts)
    for bound in (r"\geq 41$", r"$99 \leq S", r"\sigma_1 = 6.25"):
        assert bound in written


def test_every_text_of_a_box_is_inside_it(figure):
    [axes] = figure.axes
    boxes = [p.get_window_extent() for p in axes.patches if isinstance(p, FancyBboxPatch)]
    assert len(boxes) == 18
    inside = [0] * len(boxes)
    for text in axes.texts:
        own = text.get_window_extent()
        for number, box in enumerate(boxes):
            if text.get_text() and not text.get_bbox_patch() and box.overlaps(own):
                assert box.x0 <= own.x0 <= own.x1 <= box.x1, text.get_text()
                assert box.y0 <= own.y0 <= own.y1 <= box.y1, text.get_text()
                inside[number] += 1
    assert all(inside)


def test_the_file_is_the_same_again():
    first, second = (figures.content(data_flow_drawing(Parameters()).figure, "svg") for _ in "12")
    assert first == second
