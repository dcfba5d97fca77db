"""Whether an exam looks like those that the detector was calibrated on."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.detector import MEASURES, ReferenceRange, demo_range
from capsieve.engine.range_check import MOST_OUTSIDE, compare, measures_of
from capsieve.store.record import ViewRecord

REFERENCE = ReferenceRange("some exams", dict.fromkeys(MEASURES, (10.0, 20.0)))
FITTING = dict.fromkeys(MEASURES, np.full(100, 15.0))


def compared(**measures):
    return compare(FITTING | measures, REFERENCE)["measures"]


def values(*, below=0, above=0, count=100):
    return np.array([5.0] * below + [15.0] * (count - below - above) + [25.0] * above)


def view(radius, head=0):
    return ViewRecord(
        head=head,
        rows=512,
        cols=512,
        shape="circle",
        row=255.5,
        col=255.5,
        radius=radius,
        confidence=1.0,
        found_by="search",
    )


def test_what_fits_has_no_warning():
    found = compare(FITTING, REFERENCE)
    assert found["reference"] == "some exams"
    assert list(found["measures"]) == list(MEASURES)
    assert all(entry["warning"] == "" for entry in found["measures"].values())
    assert all(entry["median"] == 15.0 for entry in found["measures"].values())


def test_what_was_not_measured_is_left_out():
    known = {name: FITTING[name] for name in MEASURES if name != "texture"}
    assert "texture" not in compare(known, REFERENCE)["measures"]


def test_frames_without_a_texture_have_no_such_measure():
    colours = dict.fromkeys(("red", "green", "blue"), np.full(3, 80.0))
    assert "texture" not in measures_of({"texture_max": np.empty(0), **colours}, [])
    nothing = {name: np.empty(0) for name in ("texture_max", "red", "green", "blue")}
    assert "texture" in measures_of(nothing, [])


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
        ("field", "of fewer pixels", "of more pixels"),
    ],
)
def test_a_warning_names_the_side(name, low, high):
    less = compared(**{name: np.full(10, 1.0)})[name]["warning"]
    more = compared(**{name: np.full(10, 99.0)})[name]["warning"]
    assert less.startswith(f"This exam is {low} than what the detector was calibrated on")
    assert more.startswith(f"This exam is {high} than what the detector was calibrated on")
    assert "100 % of the values lie below" in less
    assert "100 % of the values lie above" in more


def test_every_measure_has_its_words():
    outside = {name: np.full(4, 99.0) for name in MEASURES}
    found = compare(outside, REFERENCE)["measures"]
    assert all(entry["warning"] for entry in found.values())


def test_where_both_sides_are_left_the_larger_one_is_told():
    mostly_low = compared(texture=values(below=30, above=20))["texture"]["warning"]
    assert "smoother" in mostly_low
    assert "30 % of the values lie below 10 (median 15, calibrated for 10 to 20)" in mostly_low
    mostly_high = compared(texture=values(below=20, above=30))["texture"]["warning"]
    assert "more textured" in mostly_high
    assert "30 % of the values lie above 20" in mostly_high


def test_the_reference_itself_has_no_warning():
    rng = np.random.default_rng(0)
    frames = {name: rng.gamma(5.0, 3.0, 2000) for name in MEASURES}
    quantiles = {
        name: (float(np.quantile(some, 0.01)), float(np.quantile(some, 0.99)))
        for name, some in frames.items()
    }
    found = compare(frames, ReferenceRange("itself", quantiles))["measures"]
    assert all(entry["warning"] == "" for entry in found.values())
    assert found["texture"]["below"] == pytest.approx(0.01, abs=0.002)


@pytest.mark.parametrize(
    ("factor", "warned"), [(0.7, True), (0.8, False), (1.2, False), (1.3, True)]
)
def test_the_field_may_differ_a_little_before_it_is_another_resolution(factor, warned):
    low, high = demo_range().quantiles["field"]
    diameter = factor * (low if factor < 1 else high)
    measured = {name: np.empty(0) for name in ("texture_max", "red", "green", "blue")}
    found = compare(measures_of(measured, [view(diameter / 2)]), demo_range())["measures"]
    assert bool(found["field"]["warning"]) == warned
    assert found["field"]["low"] < low
    assert found["field"]["high"] > high


def test_an_exam_without_a_scored_frame_has_nothing_to_compare():
    measured = {name: np.empty(0) for name in ("texture_max", "red", "green", "blue")}
    found = compare(measures_of(measured, []), demo_range())
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
    found = measures_of(measured, [view(100.0), view(120.0, head=1)])
    assert set(found) == set(MEASURES)
    np.testing.assert_allclose(found["brightness"], [200 / 3, 90.0])
    np.testing.assert_allclose(found["redness"], [0.6, 1 / 3])
    np.testing.assert_allclose(found["blueness"], [0.1, 1 / 3])
    np.testing.assert_allclose(found["field"], [200.0, 240.0])
    np.testing.assert_allclose(found["texture"], [4.0, 5.0])


def test_a_black_frame_is_dark_but_has_no_colour():
    black = {name: np.zeros(1) for name in ("texture_max", "red", "green", "blue")}
    found = measures_of(black, [])
    np.testing.assert_array_equal(found["brightness"], [0.0])
    assert len(found["redness"]) == len(found["blueness"]) == 0


def test_a_range_of_a_single_value_bears_rounding_and_says_what_it_is():
    grey = ReferenceRange("grey frames", {"redness": (1 / 3, 1 / 3)})
    near = float(np.float32(1 / 3)) * np.array([1 - 1e-7, 1.0, 1 + 1e-7])
    assert compare({"redness": near}, grey)["measures"]["redness"]["warning"] == ""
    warning = compare({"redness": near + 0.01}, grey)["measures"]["redness"]["warning"]
    assert "redder" in warning
    assert "calibrated for a single value, 0.333" in warning
