"""What pre-selection lets pass, and how T_max and R_max spread."""

import numpy as np
import pytest

from capsieve.parameters import Parameters
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, Judged
from capsieve.statistics.preselection import histograms, preselection_metrics, reasons_table
from support.judged_frames import judged_frames

REASONS = ("polyp", "radius-low", "texture-high", "texture-low", "no-feature")
PARAMETERS = Parameters().to_dict()


def eight_frames() -> Judged:
    return judged_frames(
        [40, 20, 0, 0, 0, 30, np.nan, 0],
        [POLYP, POLYP, POLYP, NORMAL, NORMAL, NORMAL, NORMAL, OTHER],
        reasons=REASONS,
        reason=[0, 1, 2, 3, 3, 1, -1, 4],
        texture_max=[4.0, 7.9, 9.0, 1.0, 2.9, 3.0, np.nan, 5.0],
        radius_max=[40, 20, 0, 0, 0, 30, np.nan, 0],
    )


def test_the_table_of_reasons_counted_by_hand() -> None:
    table = reasons_table(eight_frames())
    assert table is not None
    third, quarter = pytest.approx(1 / 3), 0.25
    assert table.rows == (
        ("texture-low", 0, 0.0, 2, 0.5, 0, 0.0),
        ("texture-high", 1, third, 0, 0.0, 0, 0.0),
        ("no-feature", 0, 0.0, 0, 0.0, 1, 1.0),
        ("radius-low", 1, third, 1, quarter, 0, 0.0),
        ("polyp", 1, third, 0, 0.0, 0, 0.0),
        ("not scored", 0, 0.0, 1, quarter, 0, 0.0),
    )
    assert table.total == ("Total", 3, 1.0, 4, 1.0, 1, 1.0)


def test_shares_that_pass_counted_by_hand() -> None:
    found = {metric.key: metric for metric in preselection_metrics(eight_frames())}
    polyp, normal = found["preselection.polyp.passed"], found["preselection.normal.passed"]
    assert (polyp.numerator, polyp.denominator) == (2, 3)
    assert (normal.numerator, normal.denominator) == (1, 3)
    assert normal.note == "1 frame not scored: left out."
    assert found["preselection.other.passed"].value == 1.0


def test_a_detector_without_texture_has_no_pre_selection() -> None:
    judged = judged_frames([0.9, 0.1], [POLYP, NORMAL], reasons=("polyp", "low"), reason=[0, 1])
    assert preselection_metrics(judged) == ()
    assert histograms(judged, {}) == ()


def test_no_frame_is_lost_from_the_histograms() -> None:
    texture, radius = histograms(eight_frames(), PARAMETERS)
    assert (texture.polyp.sum(), texture.normal.sum()) == (3, 3)
    assert texture.left_out == "1 normal frame without a T_max"
    assert (radius.polyp.sum(), radius.normal.sum()) == (2, 1)
    assert radius.left_out.startswith("1 polyp frame and 3 normal frames without an R_max")


def test_bounds_fall_on_edges_with_the_paper_s_values() -> None:
    texture, radius = histograms(eight_frames(), PARAMETERS)
    assert texture.bounds == {"T_L": 3.0, "T_U": 8.0}
    assert {3.0, 8.0} <= set(texture.edges)
    assert radius.bounds == {"R_P": 37.0}
    assert radius.edges[[0, -1]].tolist() == [1.0, 86.0]  # R_max reaches floor(256 / 3) = 85


def test_a_bin_holds_the_frames_of_one_radius() -> None:
    _, radius = histograms(eight_frames(), PARAMETERS)
    assert radius.edges[np.flatnonzero(radius.polyp)].tolist() == [20.0, 40.0]
    assert radius.edges[np.flatnonzero(radius.normal)].tolist() == [30.0]


def test_the_last_bin_holds_what_lies_beyond() -> None:
    texture = np.r_[np.full(999, 5.0), 4000.0]
    judged = judged_frames(np.ones(1000), np.full(1000, NORMAL), texture_max=texture)
    (histogram,) = histograms(judged, PARAMETERS)
    assert histogram.edges[-1] < 20
    assert histogram.normal[-1] == 1
    assert histogram.normal.sum() == 1000


def test_rejected_frames_alone_still_give_a_histogram() -> None:
    judged = judged_frames([0.0], [NORMAL], radius_max=[0.0])
    (histogram,) = histograms(judged, {})
    assert histogram.normal.sum() == 0
    assert histogram.left_out.startswith("1 normal frame")
