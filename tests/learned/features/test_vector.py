"""The whole vector: finite, the paper's result beside it, and what it does not depend on."""

import numpy as np
import pytest

import capsieve
from capsieve.errors import FrameError
from capsieve.frames import FieldOfView
from capsieve.learned.features.registry import FEATURES, NAMES
from capsieve.learned.features.vector import frame_features
from learned.features.pictures import FIELD, MUCOSA, SIZE, disc_frame, measured
from support.polyp_frames import polyp_frame

_RNG = np.random.default_rng(1)
ODD_FRAMES = {
    "black": np.zeros((224, 224, 3), np.uint8),
    "white": np.full((224, 224, 3), 255, np.uint8),
    "noise": _RNG.integers(0, 256, (224, 224, 3), dtype=np.uint8),
    "tiny": _RNG.integers(0, 256, (24, 24, 3), dtype=np.uint8),
    "gray": _RNG.integers(0, 256, (100, 130), dtype=np.uint8),
    "flat": _RNG.integers(0, 256, (36, 256, 3), dtype=np.uint8),
    "tall": _RNG.integers(0, 256, (301, 151, 3), dtype=np.uint8),
    "one pixel": np.pad(np.full((1, 1, 3), 255, np.uint8), ((111, 112), (111, 112), (0, 0))),
    "red alone": np.full((224, 224, 3), (200, 0, 0), np.uint8),
}


@pytest.mark.parametrize("name", ODD_FRAMES)
def test_values_are_finite_whatever_the_frame(name: str) -> None:
    found = frame_features(ODD_FRAMES[name])
    assert found.values.shape == (len(FEATURES),)
    assert found.values.dtype == np.float32
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("name", ODD_FRAMES)
def test_the_result_is_that_of_analyze_on_odd_frames(name: str) -> None:
    assert frame_features(ODD_FRAMES[name]).result == capsieve.analyze(ODD_FRAMES[name])


@pytest.mark.parametrize("seed", range(3))
def test_the_result_is_that_of_analyze(seed: int) -> None:
    frame = polyp_frame(seed=seed, size=300)
    field = FieldOfView("circle", 149.0, 150.0, 147.0)
    found = frame_features(frame, field)
    result = capsieve.analyze(frame, field_of_view=field)
    assert found.result == result
    values = dict(zip(NAMES, found.values.tolist(), strict=True))
    assert values["bump.radius-middle"] == result.radius_max
    assert values["bump.texture"] == pytest.approx(result.texture_max)


def test_the_paper_s_quantities_do_not_wait_for_pre_selection() -> None:
    frame = disc_frame(24, 0.4)
    found = frame_features(frame, FIELD)
    told = capsieve.explain(frame, field_of_view=FIELD)
    values = dict(zip(NAMES, found.values.tolist(), strict=True))
    assert found.result.reason == "texture-low"
    assert told.best is not None
    assert values["bump.radius-middle"] == told.best.radius
    assert values["bump.max-middle"] == pytest.approx(told.midpass_max)


def test_pixels_of_another_range_give_the_same() -> None:
    frame = disc_frame(20, 0.3)
    scaled = frame_features(frame / 255.0, FIELD, value_range=(0.0, 1.0)).values
    np.testing.assert_allclose(scaled, frame_features(frame, FIELD).values, rtol=1e-3, atol=1e-3)


def test_a_frame_that_is_no_picture_is_refused() -> None:
    with pytest.raises(FrameError, match="too small"):
        frame_features(np.zeros((8, 8, 3), np.uint8))


def test_a_frame_leaves_no_trace_on_the_next() -> None:
    first, second = disc_frame(20, 0.3), polyp_frame(size=SIZE)
    before = frame_features(first).values
    frame_features(second)
    np.testing.assert_array_equal(frame_features(first).values, before)


# How far a value may move: a share of what it is, and steps of its own unit.
_STEPS = {
    "pixels": 3.0,
    "bumps": 0.0,
    "half-balls": 0.02,
    "levels": 0.1,
    "share": 0.01,
    "0..1": 0.06,
    "log": 0.05,
    "Lab a": 0.7,
}


def _assert_near(first: dict[str, float], second: dict[str, float], *, but: set[str]) -> None:
    units = {each.name: each.unit for each in FEATURES}
    for name in set(NAMES) - but:
        assert first[name] == pytest.approx(second[name], rel=0.05, abs=_STEPS[units[name]]), name


@pytest.mark.parametrize("turn", ["quarter", "half", "mirror"])
def test_turning_the_frame_changes_nothing(turn: str) -> None:
    frame = polyp_frame(seed=2, size=SIZE)
    turned = {"quarter": np.rot90(frame), "half": frame[::-1, ::-1], "mirror": frame[:, ::-1]}[turn]
    _assert_near(measured(np.ascontiguousarray(turned)), measured(frame), but=set())


def test_the_source_s_resolution_hardly_matters() -> None:
    large = polyp_frame(seed=3, size=2 * SIZE)
    # Means over 2 x 2 pixels: the same picture from a camera with a quarter of the pixels.
    small = large.reshape(SIZE, 2, SIZE, 2, 3).mean(axis=(1, 3)).round().astype(np.uint8)
    field = FieldOfView("circle", 255.5, 255.5, 255.0)
    _assert_near(measured(small), measured(large, field), but=set())


_OF_THE_LEVEL = {"bump.texture"}


def test_more_light_changes_only_what_says_so() -> None:
    bright = polyp_frame(seed=2, size=SIZE)
    dim = np.rint(0.75 * bright).astype(np.uint8)
    _assert_near(measured(bright), measured(dim), but=_OF_THE_LEVEL)


def test_a_colour_cast_leaves_colours_against_each_other() -> None:
    frame = polyp_frame(seed=2, size=SIZE).astype(np.float64)
    # The sum that the paper calls grey stays as it is on mucosa.
    gains = np.array([0.85, 1.0, 1.15])
    gains *= (MUCOSA @ [0.2989, 0.587, 0.114]) / ((MUCOSA * gains) @ [0.2989, 0.587, 0.114])
    cast = np.clip(np.rint(frame * gains), 0, 255).astype(np.uint8)
    plain, other = measured(frame.astype(np.uint8)), measured(cast)
    for name in NAMES:
        if name.startswith("colour.a"):
            assert other[name] == pytest.approx(plain[name], rel=0.1, abs=0.7), name
