import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.text import Text

from capsieve import Parameters
from capsieve.report import figures
from capsieve.report.nine_panels import nine_panels

PAPER = Parameters()

TWELVE = [(60 + 30 * (n % 4), 70 + 42 * (n // 4), 5 + n % 3, 5 + n % 4) for n in range(11)]
TWELVE.append((190, 128, 14, 20))
CROWD = [(45 + 17 * (n % 10), 60 + 21 * (n // 10), 4, 4) for n in range(70)]

VARIANTS = {
    "flagged": {},
    "texture-low": {"texture_max": 2.9996},
    "texture-high": {"texture_max": 17.1},
    "nothing": {"blobs": []},
    "one-rejected": {"blobs": [(100, 120, 4, 4)]},
    "several-rejected": {"blobs": [(100, 120, 4, 4), (150, 90, 4, 60), (180, 180, 1, 1)]},
    "twelve": {"blobs": TWELVE},
    "crowd": {"blobs": CROWD},
    "line": {"blobs": [(100, 120, 0.5, 30)]},
    "black": {"blobs": [], "level": 0, "texture_max": 0.0},
    "white": {"blobs": [], "level": 255, "texture_max": 0.0},
    "at-the-corner": {"blobs": [(45, 45, 18, 18), (210, 215, 6, 6)]},
    "wide": {"rows": 192, "blobs": [(80, 100, 18, 18), (130, 180, 4, 30)]},
    "tall": {"rows": 400, "blobs": [(180, 100, 18, 18)]},
}


@pytest.fixture(scope="module", params=VARIANTS)
def figure(request, make_explanation) -> Figure:
    figure = nine_panels(make_explanation(**VARIANTS[request.param]), PAPER)
    FigureCanvasAgg(figure).draw()
    return figure


def texts(figure: Figure) -> list[Text]:
    found = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    return [text for text in found if isinstance(text, Text) and text.get_text().strip()]


def panels(figure: Figure):
    axes = figure.subfigs[1].axes
    assert len(axes) == 9
    return axes


def test_no_text_covers_another_or_leaves_the_figure(figure):
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(figure)]
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y1 <= figure.bbox.y1, text
    for (one, a), (other, b) in combinations(boxes, 2):
        apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
        assert apart, f"{one!r} covers {other!r}"


def test_text_of_one_panel_stays_out_of_the_others(figure):
    for panel in panels(figure):
        inner = panel.get_window_extent()
        for other in panels(figure):
            if other is panel:
                continue
            for text in other.findobj(Text):
                if isinstance(text, Text) and text.get_visible() and text.get_text().strip():
                    assert not inner.padded(-1).overlaps(text.get_window_extent()), text.get_text()


def test_panels_have_the_same_size_and_their_letters(figure):
    widths = [panel.get_window_extent().width for panel in panels(figure)]
    assert max(widths) - min(widths) < 1
    letters = [panel.get_title(loc="left")[:3] for panel in panels(figure)]
    assert letters == [f"({letter})" for letter in "abcdefghi"]


def test_view_stays_on_the_frame(figure):
    for panel in panels(figure):
        rows, cols = panel.images[0].get_size()
        assert panel.get_xlim() == (-0.5, cols - 0.5)
        assert panel.get_ylim() == (rows - 0.5, -0.5)


def everything_written(figure: Figure) -> str:
    return " ".join(text.get_text() for text in texts(figure))


def test_figure_says_that_it_is_no_medical_device(figure):
    assert "research software, not a medical device" in everything_written(figure)


def test_the_title_does_not_say_what_the_frame_shows(make_explanation):
    for texture, title in ((4.5, "Flagged"), (2.0, "Not flagged")):
        figure = nine_panels(make_explanation(texture_max=texture), PAPER)
        word = figure.subfigs[0].texts[0].get_text()
        assert word == title


def test_the_corrected_frame_is_drawn_inside_the_mask_only(make_explanation):
    explanation = make_explanation()
    image = panels(nine_panels(explanation, PAPER))[2].images[0].get_array()
    assert isinstance(image, np.ma.MaskedArray)
    np.testing.assert_array_equal(~np.ma.getmaskarray(image), explanation.mask)


def test_every_listed_feature_is_numbered_in_both_panels(make_explanation):
    explanation = make_explanation(blobs=TWELVE)
    figure = nine_panels(explanation, PAPER)
    for panel in panels(figure)[7:]:
        written = {text.get_text().split()[0] for text in panel.texts}
        assert written == {str(feature.number) for feature in explanation.features}


def test_best_circle_is_on_the_frame_and_on_u(make_explanation):
    explanation = make_explanation()
    figure = nine_panels(explanation, PAPER)
    for panel in (panels(figure)[0], panels(figure)[6]):
        (circle,) = [patch for patch in panel.patches if isinstance(patch, Circle)]
        best = explanation.best
        assert circle.get_center() == (best.ball_col, best.ball_row)
        assert circle.get_radius() == best.radius
        assert circle.get_linestyle() == "-"


def test_circle_of_a_frame_that_was_not_flagged_is_dashed(make_explanation):
    figure = nine_panels(make_explanation(texture_max=2.0), PAPER)
    (circle,) = [patch for patch in panels(figure)[0].patches if isinstance(patch, Circle)]
    assert circle.get_linestyle() != "-"


def test_ellipse_of_a_rejected_feature_is_dashed_and_named(make_explanation):
    figure = nine_panels(make_explanation(blobs=[(100, 120, 18, 18), (170, 130, 4, 4)]), PAPER)
    panel = panels(figure)[8]
    ellipses = [line for line in panel.lines if len(np.asarray(line.get_xdata())) > 2]
    assert [line.get_linestyle() for line in ellipses] == ["-", "--"]
    assert {text.get_text() for text in panel.texts} == {"1", "2 size-low"}


def test_preselected_frame_says_that_its_geometry_did_not_count(make_explanation):
    figure = nine_panels(make_explanation(texture_max=2.0), PAPER)
    assert "Panels (g) to (i) show what geometry would have seen." in everything_written(figure)


def test_a_bound_moved_out_of_the_way_does_not_blacken_the_energy(make_explanation):
    figure = nine_panels(make_explanation(), Parameters(texture_high=1e9))
    assert panels(figure)[5].images[0].get_clim() == (0, 4.5)


def test_user_settings_do_not_change_the_figure(make_explanation, tmp_path):
    import matplotlib as mpl

    figures.save(nine_panels(make_explanation(), PAPER), tmp_path / "a.png")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "savefig.dpi": 20}):
        figures.save(nine_panels(make_explanation(), PAPER), tmp_path / "b.png")
        assert mpl.rcParams["font.size"] == 30
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_pyplot_is_not_imported(tmp_path):
    code = (
        "import sys, capsieve\n"
        "from capsieve.report import figures\n"
        "from capsieve.report.nine_panels import nine_panels\n"
        "explanation = capsieve.explain(capsieve.phantom.polyp_frame())\n"
        "figure = nine_panels(explanation, capsieve.Parameters())\n"
        "figures.save(figure, sys.argv[1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.svg"], check=True)
