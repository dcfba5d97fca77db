"""Comparison of an exam with the exams that the detector was tuned on."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.detector import MEASURES, ReferenceRange, demo_range
from capsieve.screening.range_check import (
    MOST_OUTSIDE,
    compare_range,
    measured_columns,
    measures,
    range_warnings,
    usual_diameters,
)

REFERENCE = ReferenceRange("some exams", dict.fromkeys(MEASURES, (10.0, 20.0)))
FITTING = dict.fromkeys(MEASURES, np.full(100, 15.0))


def compared(**measures):
    return compare_range(FITTING | measures, REFERENCE)["measures"]


def values(*, below=0, above=0, count=100):
    return np.array([5.0] * below + [15.0] * (count - below - above) + [25.0] * above)


def test_what_fits_has_no_warning():
    found = compare_range(FITTING, REFERENCE)
    assert found["reference"] == "some exams"
    assert list(found["measures"]) == list(MEASURES)
    assert all(entry["warning"] == "" for entry in found["measures"].values())
    assert all(entry["median"] == 15.0 for entry in found["measures"].values())


def test_what_was_not_measured_is_left_out():
    known = {name: FITTING[name] for name in MEASURES if name != "texture"}
    assert "texture" not in compare_range(known, REFERENCE)["measures"]


def test_frames_without_a_texture_have_no_such_measure():
    colours = dict.fromkeys(("red", "green", "blue"), np.full(3, 80.0))
    assert "texture" not in measures({"texture_max": np.empty(0), **colours}, [])
    nothing = {name: np.empty(0) for name in ("texture_max", "red", "green", "blue")}
    assert "texture" in measures(nothing, [])


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_shares_outside_are_counted(below, above):
    entry = compared(texture=values(below=below, above=above))["texture"]
    assert entry["below"] == pytest.approx(below / 100)
    assert entry["above"] == pytest.approx(above / 100)
    assert bool(entry["warning"]) == (entry["below"] + entry["above"] > MOST_OUTSIDE)


def test_the_bounds_themselves_are_inside():
    entry = compared(texture=np.array([10.0, 20.0]))["texture"]
    assert (entry["below"], entry["above"], entry["warning"]) == (0.0, 0.0, "")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("texture", "smoother", "more textured"),
        ("brightness", "darker", "brighter"),
        ("redness", "less red", "redder"),
        ("blueness", "less blue", "bluer"),
        ("field", "smaller", "larger"),
    ],
)
def test_a_warning_names_the_side(name, low, high):
    assert low in compared(**{name: np.full(10, 1.0)})[name]["warning"]
    assert high in compared(**{name: np.full(10, 99.0)})[name]["warning"]


def test_if_both_sides_are_exceeded_the_larger_part_is_named():
    assert (
        "30 % of cases smoother"
        in compared(texture=values(below=30, above=20))["texture"]["warning"]
    )
    assert "more textured" in compared(texture=values(below=20, above=30))["texture"]["warning"]


def test_an_exam_has_one_warning_for_all_measures():
    outside = {name: np.full(4, 99.0) for name in MEASURES}
    (warning,) = range_warnings(compare_range(outside, REFERENCE), outside)
    for word in ("more textured", "brighter", "redder", "bluer", "larger"):
        assert word in warning
    assert range_warnings(compare_range(FITTING, REFERENCE), FITTING) == []


def test_nearly_black_frames_have_a_warning():
    black = FITTING | {"brightness": np.full(5, 0.3)}
    assert any(
        "16-bit" in text for text in range_warnings(compare_range(FITTING, REFERENCE), black)
    )


def test_the_reference_itself_has_no_warning():
    rng = np.random.default_rng(0)
    frames = {name: rng.gamma(5.0, 3.0, 2000) for name in MEASURES}
    quantiles = {
        name: (float(np.quantile(some, 0.01)), float(np.quantile(some, 0.99)))
        for name, some in frames.items()
    }
    found = compare_range(frames, ReferenceRange("itself", quantiles))["measures"]
    assert all(entry["warning"] == "" for entry in found.values())
    assert found["texture"]["below"] == pytest.approx(0.01, abs=0.002)


@pytest.mark.parametrize(
    ("factor", "warned"), [(0.7, True), (0.8, False), (1.2, False), (1.3, True)]
)
def test_the_field_may_differ_a_little_before_it_is_another_resolution(factor, warned):
    low, high = demo_range().quantiles["field"]
    diameter = factor * (low if factor < 1 else high)
    measured = {name: np.empty(0) for name in ("texture_max", "red", "green", "blue")}
    found = compare_range(measures(measured, [diameter]), demo_range())["measures"]
    assert bool(found["field"]["warning"]) == warned
    assert found["field"]["low"] < low
    assert found["field"]["high"] > high


def test_an_exam_without_a_scored_frame_has_nothing_to_compare():
    measured = {name: np.empty(0) for name in ("texture_max", "red", "green", "blue")}
    found = compare_range(measures(measured, []), demo_range())
    for entry in found["measures"].values():
        assert entry["median"] is None
        assert (entry["below"], entry["above"], entry["warning"]) == (0.0, 0.0, "")
    json.dumps(found, allow_nan=False)


def test_colours_become_brightness_and_shares():
    measured = {
        "texture_max": np.array([4.0, 5.0]),
        "red": np.array([120.0, 90.0]),
        "green": np.array([60.0, 90.0]),
        "blue": np.array([20.0, 90.0]),
    }
    found = measures(measured, [200.0, 240.0])
    assert set(found) == set(MEASURES)
    np.testing.assert_allclose(found["brightness"], [200 / 3, 90.0])
    np.testing.assert_allclose(found["redness"], [0.6, 1 / 3])
    np.testing.assert_allclose(found["blueness"], [0.1, 1 / 3])
    np.testing.assert_allclose(found["field"], [200.0, 240.0])
    np.testing.assert_allclose(found["texture"], [4.0, 5.0])


def test_frames_without_all_colours_are_left_out():
    columns = {"texture_max": [1.0, None], "red": [3.0, 4.0], "green": [1.0, None], "blue": [2, 5]}
    measured = measured_columns(pa.table(columns))
    assert [measured[name].tolist() for name in columns] == [[1.0], [3.0], [1.0], [2.0]]


def test_the_diameter_of_a_head_is_that_of_its_most_frequent_size():
    entries: list[Any] = [
        {"head": head, "radius": radius} for head, radius in [(0, 100.0), (0, 3.0), (1, 90.0)]
    ]
    assert usual_diameters(entries) == [200.0, 180.0]


def test_a_black_frame_is_dark_but_has_no_colour():
    black = {name: np.zeros(1) for name in ("texture_max", "red", "green", "blue")}
    found = measures(black, [])
    np.testing.assert_array_equal(found["brightness"], [0.0])
    assert len(found["redness"]) == len(found["blueness"]) == 0


def test_a_range_of_a_single_value_bears_rounding_and_says_what_it_is():
    grey = ReferenceRange("grey frames", {"redness": (1 / 3, 1 / 3)})
    near = float(np.float32(1 / 3)) * np.array([1 - 1e-7, 1.0, 1 + 1e-7])
    assert compare_range({"redness": near}, grey)["measures"]["redness"]["warning"] == ""
    warning = compare_range({"redness": near + 0.01}, grey)["measures"]["redness"]["warning"]
    assert "redder (0.343, tuned for 0.333)" in warning
