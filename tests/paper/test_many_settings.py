"""Many settings of one frame: equal to one run each, and shared steps computed once."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import FrameError, ParameterError
from capsieve.frames import FieldOfView
from capsieve.paper.algorithm import analyze
from capsieve.paper.many_settings import Memoised, analyze_each
from capsieve.paper.steps import STEPS, Steps
from capsieve.parameters import Parameters
from sample_frames import GOLDEN_FRAMES, golden_frame

BASE = Parameters(
    width=128, midpass_coarse=20, texture_low=0.5, texture_high=30, threshold_high=0.25
)
OTHERS = {
    "width": 120,
    "mask_radius": 0.4,
    "ball_fit": "hemisphere",
    "stencil": 2.0,
    "texture_iterations": 3,
    "texture_sigma": 4.0,
    "energy_sigma": 8.0,
    "energy_power": 0.9,
    "texture_low": 29.0,
    "texture_high": 0.6,
    "midpass_fine": 5.0,
    "midpass_coarse": 22.0,
    "threshold_low": 0.22,
    "threshold_high": 0.13,
    "size_low": 100,
    "size_high": 120,
    "eccentricity_max": 1.3,
    "radius_threshold": 20,
    "channel": "red",
    "vignetting": False,
    "extension_slope": -2.0,
}
"""Another value for every field that Algorithm 1 reads; the other fields as in BASE."""


def bumpy(seed: int, size: int = 140) -> np.ndarray:
    """Coloured bumps and grain."""
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[:size, :size]
    frame = np.full((size, size, 3), 90.0)
    for _ in range(14):
        row, col = rng.uniform(0, size, 2)
        bump = np.exp(-((rows - row) ** 2 + (cols - col) ** 2) / (2 * rng.uniform(5, 12) ** 2))
        frame += bump[:, :, None] * rng.uniform(-40, 110, 3)
    return np.clip(frame + rng.normal(0, 3, frame.shape), 0, 255).astype(np.uint8)


FRAME = bumpy(10)


class Counted(Steps):
    """The steps; counts their calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._replace_each(STEPS, self._counted)

    def _counted(self, name, step):
        def counted(*arguments):
            self.calls.append(name)
            return step(*arguments)

        return counted


@pytest.fixture
def calls(monkeypatch) -> list[str]:
    """The names of the steps that analyze_each computes."""
    counted = Counted()
    monkeypatch.setattr("capsieve.paper.many_settings.STEPS", counted)
    return counted.calls


@pytest.mark.parametrize("order", [1, -1])
def test_all_single_changes_together_equal_one_run_each(order) -> None:
    fields = {each.name for each in dataclasses.fields(Parameters)}
    assert fields == {*OTHERS}
    changed = [dataclasses.replace(BASE, **{name: OTHERS[name]}) for name in OTHERS]
    many = [BASE, *changed, BASE][::order]
    found = analyze_each(FRAME, many)
    assert found == [analyze(FRAME, each) for each in many]
    # Otherwise the frame would not distinguish the settings.
    assert sum(result != found[0] for result in found) >= len(OTHERS) - 4


random_settings = st.builds(
    Parameters,
    width=st.sampled_from([96, 128]),
    mask_radius=st.sampled_from([0.4, 0.45]),
    ball_fit=st.sampled_from(["printed", "feature", "hemisphere"]),
    stencil=st.sampled_from([1.0, 3.0]),
    texture_iterations=st.sampled_from([2, 5]),
    texture_sigma=st.sampled_from([3.0, 5.0]),
    energy_sigma=st.sampled_from([None, 6.0]),
    energy_power=st.sampled_from([0.8, 1.0]),
    texture_low=st.sampled_from([0.0, 3.0]),
    texture_high=st.sampled_from([4.0, 100.0]),
    midpass_fine=st.sampled_from([4.0, 6.5, 7.0]),
    midpass_coarse=st.sampled_from([18.0, 20.0]),
    threshold_low=st.floats(0.02, 0.11),
    threshold_high=st.floats(0.12, 0.3),
    size_low=st.sampled_from([None, 20, 60]),
    size_high=st.sampled_from([None, 900]),
    eccentricity_max=st.floats(1.0, 9.0),
    radius_threshold=st.integers(5, 40),
    channel=st.sampled_from(["gray", "red", "lab-a"]),
    vignetting=st.booleans(),
    extension_slope=st.sampled_from([0.0, 1.0]),
)


@settings(max_examples=25, deadline=None)
@given(
    many=st.lists(random_settings, min_size=1, max_size=8),
    seed=st.integers(0, 5),
    circled=st.booleans(),
)
def test_random_settings_together_equal_one_run_each(many, seed, circled) -> None:
    frame = bumpy(seed)
    circle = FieldOfView("circle", 70.0, 69.0, 62.0) if circled else None
    assert analyze_each(frame, many, circle) == [analyze(frame, each, circle) for each in many]


@pytest.mark.parametrize("name", GOLDEN_FRAMES[::3])
def test_results_are_right_for_more_settings_than_are_remembered(name) -> None:
    frame, _ = golden_frame(name)
    many = [
        Parameters(midpass_fine=fine, midpass_coarse=coarse)
        for _ in range(2)
        for fine in range(4, 14)
        for coarse in (28, 30)
    ]
    assert analyze_each(frame, many) == [analyze(frame, each) for each in many]


def test_shared_steps_are_computed_once(polyp, calls) -> None:
    paper = Parameters()
    many = [
        paper,
        Parameters(midpass_fine=8),
        Parameters(size_low=322),
        Parameters(midpass_coarse=33),
        Parameters(threshold_low=0.121),
        Parameters(eccentricity_max=7.15),
        paper,
    ]
    assert len(analyze_each(polyp, many)) == 7
    counts = {name: calls.count(name) for name in ("extend", "texture", "smooth", "midpass")}
    # Two Gaussians of each kind, in three pairs.
    assert counts == {"extend": 1, "texture": 1, "smooth": 4, "midpass": 3}


def test_geometry_of_a_rejected_frame_is_not_computed(calls) -> None:
    results = analyze_each(np.zeros((256, 256), np.uint8), [Parameters(), Parameters(size_low=300)])
    assert [result.reason for result in results] == ["texture-low"] * 2
    assert "texture" in calls
    assert "smooth" not in calls


def test_memory_compares_arrays_by_identity_and_numbers_by_value() -> None:
    counted = Counted()
    step = Memoised(counted, keep=2)
    first, second = np.ones((8, 8), np.float32), np.ones((8, 8), np.float32)
    mask = step.circular_mask(8, 8, np.inf)
    assert step.smooth(first, 1.0, 1.0, mask) is step.smooth(first, 1.0, 1.0, mask)
    assert step.smooth(first, 1.0, 1.0, mask) is not step.smooth(second, 1.0, 1.0, mask)
    assert counted.calls.count("smooth") == 2
    step.smooth(first, 2.0, 1.0, mask)
    step.smooth(first, 1.0, 1.0, mask)  # forgotten: two others were used since
    assert counted.calls.count("smooth") == 4


def test_no_settings_give_no_results() -> None:
    assert analyze_each(FRAME, []) == []


def test_analyze_each_rejects_objects_other_than_parameters(polyp) -> None:
    with pytest.raises(ParameterError) as caught:
        analyze_each(polyp, [Parameters(), 0.1])  # pyright: ignore[reportArgumentType]
    assert caught.value.field == "parameters"


def test_setting_that_does_not_fit_the_frame_is_rejected_before_any_work(calls) -> None:
    flat = np.zeros((60, 256), np.uint8)
    with pytest.raises(FrameError, match="64"):
        analyze_each(flat, [Parameters(), Parameters(midpass_coarse=64)])
    assert set(calls) == {"working_grid"}
