"""Many settings of one frame: the same as one by one, and nothing forgotten."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capsieve
from capsieve.frames import FieldOfView
from capsieve.paper import staged
from capsieve.paper.detector import analyze
from capsieve.paper.midpass import smooth_inside
from capsieve.paper.staged import STAGES, Stages, analyze_each, fields_read
from capsieve.parameters import Parameters
from sample_frames import GOLDEN_FRAMES, golden_frame

UNREAD = ("score_threshold",)
NAMES = [each.name for each in dataclasses.fields(Parameters) if each.name not in UNREAD]
"""All fields but those that the paper's detector does not read."""


BASE = Parameters(
    width=128, midpass_coarse=20, texture_low=0.5, texture_high=30, threshold_high=0.25
)
OTHERS = {
    "width": 120,
    "mask_radius": 0.4,
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
"""Another value for every field, with the other fields as in BASE."""


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


def outcomes(parameters: Parameters) -> dict[str, object]:
    """What every stage makes of the frame, without a memory of other settings."""
    stages = Stages(FRAME)
    frame, mask = stages.preprocessed(parameters)
    smoothed = {
        name: np.where(mask.mask, smooth_inside(frame, mask, sigma=sigma), 0).tolist()
        for name, sigma in (
            ("fine", parameters.midpass_fine),
            ("coarse", parameters.midpass_coarse),
        )
    }
    found = stages.geometry(parameters)
    result = stages.result(parameters)
    return {
        "placement": stages.placement(parameters),
        "pre-processing": (frame.tolist(), mask),
        "texture": stages.texture_max(parameters),
        "pre-selection": result.reason in ("texture-low", "texture-high"),
        **smoothed,
        "mid-pass": found.midpass_max,
        "segmentation": (found.threshold, [each.size for each in found.features]),
        "features": found.features,
        "decision": result,
    }


def changed(name: str) -> Parameters:
    """BASE with another value of one field."""
    return dataclasses.replace(BASE, **{name: OTHERS[name]})


def test_every_field_is_read_by_exactly_one_stage() -> None:
    read = [name for stage in STAGES.values() for name in stage.reads]
    assert sorted(read) == sorted(NAMES)
    assert sorted(OTHERS) == sorted(NAMES)


def test_stages_come_after_those_that_they_need() -> None:
    names = list(STAGES)
    for name, stage in STAGES.items():
        assert all(names.index(earlier) < names.index(name) for earlier in stage.after)
    assert set(fields_read("decision")) == set(NAMES)


@pytest.fixture(scope="module")
def base() -> dict[str, object]:
    return outcomes(BASE)


@pytest.mark.parametrize("name", NAMES)
def test_a_field_changes_only_the_stages_that_say_that_they_depend_on_it(name, base) -> None:
    other = outcomes(changed(name))
    moved = {stage for stage in STAGES if other[stage] != base[stage]}
    assert moved <= {stage for stage in STAGES if name in fields_read(stage)}
    # Were nothing moved, the other value would be too tame to prove anything.
    (own,) = (stage for stage in STAGES if name in STAGES[stage].reads)
    assert own in moved


@pytest.mark.parametrize("order", ["as they are", "reversed"])
def test_all_single_changes_together_are_those_one_by_one(order) -> None:
    many = [BASE, *map(changed, NAMES), BASE]
    many = many if order == "as they are" else many[::-1]
    assert analyze_each(FRAME, many) == [analyze(FRAME, each) for each in many]


random_settings = st.builds(
    Parameters,
    width=st.sampled_from([96, 128]),
    mask_radius=st.sampled_from([0.4, 0.45]),
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
def test_random_settings_together_are_those_one_by_one(many, seed, circled) -> None:
    frame = bumpy(seed)
    circle = FieldOfView("circle", 70.0, 69.0, 62.0) if circled else None
    assert analyze_each(frame, many, circle) == [analyze(frame, each, circle) for each in many]


@pytest.mark.parametrize("name", GOLDEN_FRAMES)
def test_more_settings_than_a_stage_keeps_are_still_right(name) -> None:
    frame, _ = golden_frame(name)
    sigmas = [(fine, coarse) for fine in range(4, 14) for coarse in (28, 30)]
    many = [Parameters(midpass_fine=fine, midpass_coarse=coarse) for fine, coarse in sigmas]
    assert len({fine for fine, _ in sigmas}) > STAGES["fine"].keeps
    assert analyze_each(frame, many) == [analyze(frame, each) for each in many]


def test_what_settings_share_is_computed_once(polyp, monkeypatch) -> None:
    calls: list[str] = []

    def counted(name: str) -> None:
        function = getattr(staged, name)

        def counting(*arguments, **options):
            calls.append(name)
            return function(*arguments, **options)

        monkeypatch.setattr(staged, name, counting)

    for name in ("preprocess", "texture_energy", "smooth_inside", "midpass"):
        counted(name)
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
    assert {name: calls.count(name) for name in set(calls)} == {
        "preprocess": 1,
        "texture_energy": 1,
        "smooth_inside": 4,  # two of each Gaussian
        "midpass": 3,
    }


def test_a_rejected_frame_needs_no_geometry(monkeypatch) -> None:
    monkeypatch.setattr(staged, "smooth_inside", None)
    results = analyze_each(np.zeros((256, 256), np.uint8), [Parameters(), Parameters(size_low=300)])
    assert [result.reason for result in results] == ["texture-low"] * 2


def test_frames_one_after_the_other_do_not_disturb_each_other() -> None:
    many = [Parameters(), Parameters(midpass_coarse=33)]
    frames = [golden_frame(name)[0] for name in GOLDEN_FRAMES[:3]]
    alone = [analyze_each(frame, many) for frame in frames]
    two = [Stages(frame) for frame in frames[:2]]  # both alive at once
    for parameters, first, second in zip(many, alone[0], alone[1], strict=True):
        assert two[0].result(parameters) == first
        assert two[1].result(parameters) == second
        assert two[0].result(parameters) == first


def test_no_settings_have_no_results() -> None:
    assert analyze_each(FRAME, []) == []


def test_what_is_no_setting_is_refused(polyp) -> None:
    with pytest.raises(capsieve.ParameterError, match="must be Parameters, not float"):
        analyze_each(polyp, [Parameters(), 0.1])  # pyright: ignore[reportArgumentType]


def test_one_setting_that_does_not_fit_the_frame_is_refused_before_any_work(monkeypatch) -> None:
    monkeypatch.setattr(staged, "preprocess", None)
    flat = np.zeros((60, 256), np.uint8)
    with pytest.raises(capsieve.FrameError, match="64 rows at the working width of 256"):
        analyze_each(flat, [Parameters(), Parameters(midpass_coarse=64)])
