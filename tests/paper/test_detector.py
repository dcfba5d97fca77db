"""The whole of Algorithm 1: golden frames, the literal transcription, real frames, odd input."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import capsieve
from capsieve.aperture import FieldOfView
from capsieve.paper.detector import analyze, explain
from capsieve.paper.resample import place_frame, resample
from reference import algorithm1
from sample_frames import CAPSULE, GOLDEN_FRAMES, golden_frame, real_frames

CLOSE = 1e-3
"""A value so near to its bound that rounding may decide."""


@pytest.mark.parametrize("name", GOLDEN_FRAMES)
def test_golden_frames_are_reproduced(name):
    pixels, golden = golden_frame(name)
    result, explanation = analyze(pixels), explain(pixels)
    assert result.label == ("polyp" if golden["polyp"] else "normal")
    assert result.radius_max == golden["R_max"]
    assert result.texture_max == pytest.approx(golden["T_max"], rel=1e-3)
    assert explanation.midpass_max == pytest.approx(golden["u_max"], abs=1e-5)
    assert explanation.threshold == pytest.approx(golden["theta"], abs=1e-5)
    assert len(explanation.features) == golden["N_C"]
    assert max((f.radius for f in explanation.features), default=0) == golden["R_geom"]
    for found, expected in zip(explanation.features, golden["features"], strict=True):
        assert (found.number, found.size) == (expected["k"], expected["S"])
        assert found.radius == expected["R_opt"]
        assert found.eccentricity == pytest.approx(expected["E"], abs=1e-4, rel=1e-4)
        assert (found.row + 1, found.col + 1) == pytest.approx(
            (expected["cy"], expected["cx"]), abs=1e-4
        )
        in_size, in_shape = bool(expected["in_KS"]), bool(expected["in_KE"])
        assert (found.rejected == "") == (in_size and in_shape)
        if "ctx" in expected:
            assert (found.ball_row + 1, found.ball_col + 1) == pytest.approx(
                (expected["cty"], expected["ctx"]), abs=1e-4
            )


def near_a_bound(literal: algorithm1.Analysis) -> bool:
    """Whether a decision of the literal transcription hangs on less than rounding."""
    values_and_bounds = [(literal.T_max, 3.0), (literal.T_max, 8.0)]
    values_and_bounds += [(feature.eccentricity, 6.5) for feature in literal.features]
    close = any(abs(value - bound) <= CLOSE * bound for value, bound in values_and_bounds)
    sizes = [feature.size for feature in literal.features]
    return close or any(abs(size - bound) <= 2 for size in sizes for bound in (292, 3237))


@pytest.mark.slow
@pytest.mark.skipif(not CAPSULE.is_dir(), reason=f"the real frames are not in {CAPSULE}")
def test_real_frames_agree_with_the_literal_transcription():
    undecided = 0
    for path in real_frames(200):
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"))
        working = resample(pixels, place_frame(*pixels.shape[:2], width=256))
        literal = algorithm1.analyze(working.astype(float))
        fast, explanation = analyze(pixels), explain(pixels)
        assert fast.texture_max == pytest.approx(literal.T_max, rel=1e-3), path.name
        assert explanation.midpass_max == pytest.approx(literal.u_max, rel=1e-4), path.name
        # A feature of a pixel or two may be there for one and not for the other.
        large = [f for f in explanation.features if f.size > 2]
        expected_large = [f for f in literal.features if f.size > 2]
        assert len(large) == len(expected_large), path.name
        for found, expected in zip(large, expected_large, strict=True):
            assert abs(found.size - expected.size) <= 2, path.name
        if near_a_bound(literal):
            undecided += 1
        else:
            assert (fast.label == "polyp") == literal.polyp, path.name
            assert fast.radius_max == literal.R_max, path.name
    assert undecided < 20, "too few frames decide anything"


@pytest.mark.parametrize("shape", [(255, 256), (200, 256), (192, 256), (256, 256), (300, 256)])
def test_frames_of_other_proportions_agree_with_the_literal_transcription(shape):
    gray = smooth_noise(shape, seed=sum(shape))
    literal, explanation = algorithm1.analyze(gray.astype(float)), explain(gray)
    assert explanation.gray.shape == shape
    for name in ("gray", "corrected", "extended"):
        fast, slow = getattr(explanation, name), getattr(literal, name)
        where = literal.mask if name == "corrected" else slice(None)
        np.testing.assert_allclose(fast[where], slow[where], atol=2e-3)
    for name in ("cartoon", "texture", "energy"):
        np.testing.assert_allclose(getattr(explanation, name), getattr(literal, name), atol=5e-3)
    np.testing.assert_allclose(explanation.midpass, literal.midpass, atol=1e-5)
    np.testing.assert_array_equal(explanation.mask, literal.mask)
    assert (explanation.segmentation != literal.segmentation).sum() <= 2
    assert explanation.texture_max == pytest.approx(literal.T_max, rel=1e-3)


def smooth_noise(shape, seed=0, size=24.0):
    """Bumps of about that size on grey, as 8 bits."""
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[: shape[0], : shape[1]]
    frame = np.full(shape, 90.0)
    for _ in range(30):
        r, c, height = rng.uniform(0, shape[0]), rng.uniform(0, shape[1]), rng.uniform(-40, 70)
        frame += height * np.exp(-((rows - r) ** 2 + (cols - c) ** 2) / (2 * (size / 2) ** 2))
    return np.clip(frame + rng.normal(0, 4, shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("width", [128, 251, 255])
def test_other_working_widths_agree_with_the_literal_transcription(width):
    gray = smooth_noise((width, width), seed=width)
    parameters = capsieve.Parameters(width=width, midpass_coarse=20)
    literal = algorithm1.analyze(gray.astype(float), midpass_coarse=20.0)
    explanation = explain(gray, parameters)
    np.testing.assert_allclose(explanation.midpass, literal.midpass, atol=1e-5)
    assert explanation.texture_max == pytest.approx(literal.T_max, rel=1e-3)
    assert [f.size for f in explanation.features] == [f.size for f in literal.features]
    assert [f.radius for f in explanation.features] == [f.R_opt for f in literal.features]


def test_explain_says_the_same_as_analyze(polyp):
    for pixels in (polyp, polyp // 4, np.zeros_like(polyp)):
        result, explanation = analyze(pixels), explain(pixels)
        for name in ("label", "reason", "score", "texture_max", "radius_max", "placement"):
            assert getattr(result, name) == getattr(explanation, name)
        if result.features:
            assert result.features == explanation.features


def test_explain_computes_the_geometry_of_a_rejected_frame():
    explanation = explain(golden_frame("polyp_R25")[0])
    assert explanation.reason == "texture-low"
    assert (explanation.radius_max, explanation.score) == (0, 0.0)
    assert [feature.radius for feature in explanation.features] == [54]


def test_the_arrays_of_an_explanation_fit_together(polyp):
    explanation = explain(polyp)
    outside = ~explanation.mask
    assert explanation.texture_max == explanation.energy.max()
    assert explanation.midpass_max == explanation.midpass.max()
    assert not explanation.energy[outside].any()
    assert not explanation.midpass[outside].any()
    above = explanation.midpass >= (explanation.threshold or 0.0)
    np.testing.assert_array_equal(explanation.segmentation, above)
    np.testing.assert_allclose(
        explanation.cartoon + explanation.texture, explanation.extended, atol=1e-4
    )
    for feature in explanation.features:
        assert (explanation.labels == feature.number).sum() == feature.size


def test_later_frames_leave_an_explanation_alone(polyp):
    explanation = explain(polyp)
    before = {name: getattr(explanation, name).copy() for name in ("gray", "energy", "midpass")}
    explain(np.zeros_like(polyp))
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(explanation, name), array)


def test_results_repeat_bit_for_bit_on_any_thread_and_in_any_order():
    frames = [golden_frame(name)[0] for name in GOLDEN_FRAMES]
    frames.append(smooth_noise((200, 256)))  # another shape in between
    alone = [analyze(frame) for frame in frames]
    assert [analyze(frame) for frame in reversed(frames)] == alone[::-1]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(analyze, frames * 5)) == alone * 5


def test_a_new_thread_has_buffers_of_its_own(polyp):
    expected, found = analyze(polyp), []
    thread = threading.Thread(target=lambda: found.append(analyze(polyp)))
    thread.start()
    thread.join()
    assert found == [expected]


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        pytest.param(np.zeros((256, 256, 3), np.uint8), "texture-low", id="black"),
        pytest.param(np.full((256, 256, 3), 255, np.uint8), "texture-low", id="white"),
        pytest.param(
            np.where(np.indices((256, 256)).sum(0)[..., None] < 256, 255, 0).astype(np.uint8)
            * np.ones(3, np.uint8),
            None,
            id="half saturated",
        ),
    ],
)
def test_black_white_and_saturated_frames_are_valid_and_normal(frame, reason):
    result = analyze(frame)
    assert result.label == "normal"
    assert np.isfinite(result.texture_max)
    if reason:
        assert (result.reason, result.texture_max) == (reason, 0.0)


def test_gray_and_rgba_and_wider_types_say_what_rgb_says(polyp):
    expected = analyze(polyp)
    alpha = np.dstack([polyp, np.zeros(polyp.shape[:2], np.uint8)])
    assert analyze(alpha) == expected
    wide = analyze(polyp.astype(np.uint16) * 257)
    unit = analyze(polyp / 255.0, value_range=(0, 1))
    shifted = analyze(polyp.astype(np.float32) - 100, value_range=(-100, 155))
    for other in (wide, unit, shifted):
        assert (other.label, other.radius_max) == (expected.label, expected.radius_max)
        assert other.texture_max == pytest.approx(expected.texture_max, rel=1e-4)
    gray = polyp @ np.array([0.2989, 0.5870, 0.1140])
    assert analyze(gray, value_range=(0, 255)).texture_max == pytest.approx(
        expected.texture_max, rel=1e-4
    )
    assert analyze(capsieve.Frame(polyp, exam="a", number=3)) == expected


@pytest.mark.parametrize("memory", ["F", "strided", "read-only", "reversed"])
def test_the_layout_in_memory_does_not_matter(polyp, memory):
    expected = analyze(polyp)
    if memory == "F":
        frame = np.asfortranarray(polyp)
    elif memory == "strided":
        frame = np.repeat(polyp, 2, axis=1)[:, ::2]
    elif memory == "reversed":
        frame = polyp[::-1].copy()[::-1]
    else:
        frame = polyp.copy()
        frame.flags.writeable = False
    assert analyze(frame) == expected


def test_the_input_is_never_written_to(polyp):
    before = polyp.copy()
    explain(polyp)
    explain(polyp.astype(np.float32), value_range=(0, 255))
    np.testing.assert_array_equal(polyp, before)


@pytest.mark.parametrize("factor", [2, 3])
def test_an_enlarged_frame_is_brought_back_to_the_same_answer(polyp, factor):
    enlarged = np.repeat(np.repeat(polyp, factor, 0), factor, 1)
    small, large = analyze(polyp), analyze(enlarged)
    assert large.texture_max == pytest.approx(small.texture_max, rel=1e-5)
    assert [f.radius for f in large.features] == [f.radius for f in small.features]
    assert small.best
    assert large.best
    row, col = large.placement.to_source(large.best.ball_row, large.best.ball_col)
    assert row == pytest.approx(factor * (small.best.ball_row + 0.5) - 0.5, abs=1e-3)
    assert col == pytest.approx(factor * (small.best.ball_col + 0.5) - 0.5, abs=1e-3)
    assert large.placement.length_to_source(large.best.radius) == factor * small.best.radius


def in_a_surround(pixels, *, above, left, size, scale=1):
    """Put a frame that fills its circle somewhere on a larger dark frame."""
    inner = np.repeat(np.repeat(pixels, scale, 0), scale, 1)
    frame = np.full((*size, 3), 12, np.uint8)
    frame[above : above + inner.shape[0], left : left + inner.shape[1]] = inner
    return frame


@pytest.mark.parametrize(("above", "left", "scale"), [(40, 90, 1), (0, 0, 1), (17, 30, 2)])
def test_a_field_of_view_brings_its_circle_to_the_papers_geometry(polyp, above, left, scale):
    # The golden frame's circle has radius Nx/2 about the paper's centre pixel (127, 127).
    size = (256 * scale + 80, 256 * scale + 120)
    frame = in_a_surround(polyp, above=above, left=left, size=size, scale=scale)
    centre = 127.5 * scale - 0.5
    circle = FieldOfView("circle", above + centre, left + centre, 128.0 * scale, 1.0)
    if above == left == 0:  # the circle reaches half a pixel beyond the frame
        circle = FieldOfView("circle", centre, centre, 128.0 * scale, 1.0)
    alone, found = analyze(polyp), analyze(frame, field_of_view=circle)
    assert found.label == alone.label
    assert found.radius_max == alone.radius_max
    row, col = found.placement.to_source(127, 127)
    assert (row, col) == pytest.approx((circle.row, circle.col))
    assert found.placement.length_to_source(128) == pytest.approx(circle.radius)


def test_a_field_of_view_of_other_frames_is_refused(polyp):
    with pytest.raises(capsieve.FrameError, match="does not fit a frame of 256 x 256"):
        analyze(polyp, field_of_view=FieldOfView("circle", 300.0, 300.0, 250.0, 1.0))


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (np.zeros((0, 0), np.uint8), "empty"),
        (np.zeros((256, 256, 2), np.uint8), "channels"),
        (np.zeros((3, 256, 256), np.uint8), "channels come last"),
        (np.zeros((2, 256, 256, 3), np.uint8), "one frame at a time"),
        (np.zeros(7, np.uint8), "rows x columns"),
        (np.full((256, 256), np.nan, np.float32), "NaN"),
        (np.full((256, 256), np.inf), "infinite"),
        (np.full((256, 256), 300.0), "outside the stated range"),
        (np.zeros((16, 16), np.uint8), "too small"),
        (np.zeros((22, 600), np.uint8), "too small"),
        (np.array([["a"] * 30] * 30), "numbers"),
        ("no-frame", "numbers"),
        (None, "numbers"),
    ],
)
def test_bad_input_gets_a_clear_error(frame, words):
    floating = isinstance(frame, np.ndarray) and frame.dtype.kind == "f"
    for function in (analyze, explain):
        with pytest.raises(capsieve.FrameError, match=words):
            function(frame, value_range=(0, 255) if floating else None)


def test_floats_need_their_range_stated():
    with pytest.raises(capsieve.FrameError, match="value_range"):
        analyze(np.zeros((256, 256)))


def test_the_channel_decides_what_is_seen():
    gray = smooth_noise((256, 256), seed=5)
    rgb = np.dstack([gray, np.full_like(gray, 60), np.full_like(gray, 60)])
    red = analyze(rgb, capsieve.Parameters(channel="red"))
    assert red == analyze(gray)
    assert analyze(gray, capsieve.Parameters(channel="lab-a")).texture_max == 0.0
    seen = explain(rgb, capsieve.Parameters(channel="lab-a")).gray
    assert np.corrcoef(seen.ravel(), gray.ravel())[0, 1] > 0.9


def test_without_vignetting_correction_the_frame_is_left_as_it_is(polyp):
    explanation = explain(polyp, capsieve.Parameters(vignetting=False))
    np.testing.assert_array_equal(explanation.corrected, explanation.gray)
    np.testing.assert_array_equal(explanation.falloff, [1.0])


@given(
    size_low=st.integers(1, 600),
    size_high=st.integers(600, 5000),
    eccentricity_max=st.floats(1.0, 20.0),
)
def test_every_feature_is_in_exactly_one_class(size_low, size_high, eccentricity_max):
    parameters = capsieve.Parameters(
        size_low=size_low, size_high=size_high, eccentricity_max=eccentricity_max
    )
    for feature in explain(golden_frame("bubbles")[0], parameters).features:
        passes = size_low <= feature.size <= size_high and (
            feature.eccentricity <= eccentricity_max
        )
        assert (feature.rejected == "") == passes
        assert (feature.radius > 0) == passes


def test_a_ball_that_passes_is_no_smaller_than_its_mass_allows():
    # S >= 292 and u >= 0.11: R_max is 0 or in about 34..85.
    radii = [
        feature.radius
        for seed in range(6)
        for feature in explain(smooth_noise((256, 256), seed=seed, size=40.0)).features
        if not feature.rejected
    ]
    assert len(radii) > 5
    assert min(radii) >= 33
    assert max(radii) <= 85


def test_what_a_frame_leaves_behind_never_reaches_the_next(polyp, monkeypatch):
    expected = explain(polyp)

    def poisoned(name, shape):
        return np.full(shape, np.nan, np.float32)

    for module in ("gaussian", "preprocessing", "staged", "texture", "vignetting"):
        monkeypatch.setattr(f"capsieve.paper.{module}.scratch", poisoned)
    monkeypatch.setattr("capsieve.paper.staged.borrow", lambda shape: poisoned("", shape))
    found = explain(polyp)
    assert found.texture_max == expected.texture_max
    assert found.features == expected.features
    np.testing.assert_array_equal(found.extended, expected.extended)
    np.testing.assert_array_equal(found.energy, expected.energy)
    np.testing.assert_array_equal(found.midpass, expected.midpass)


def test_a_field_of_view_that_found_nothing_is_none_at_all():
    frame = smooth_noise((256, 340), seed=9)
    nothing = FieldOfView("full", 127.5, 169.5, 128.0, 0.0)
    assert analyze(frame, field_of_view=nothing) == analyze(frame)


@pytest.mark.parametrize("radius", [1e-300, 1.0, 10.0])
def test_a_field_of_view_of_a_few_pixels_is_refused(polyp, radius):
    with pytest.raises(capsieve.FrameError, match="too small"):
        analyze(polyp, field_of_view=FieldOfView("circle", 127.0, 127.0, radius))


def test_a_field_of_view_that_is_only_shifted_is_not_blurred():
    # At scale 1 a shift by half a pixel is interpolated, not averaged.
    noisy = smooth_noise((300, 300), seed=4)
    whole = analyze(noisy, field_of_view=FieldOfView("circle", 150.0, 150.0, 128.0))
    half = analyze(noisy, field_of_view=FieldOfView("circle", 150.5, 150.5, 128.0))
    less = analyze(noisy, field_of_view=FieldOfView("circle", 150.5, 150.5, 127.999))
    assert half.texture_max == pytest.approx(less.texture_max, rel=1e-2)
    assert half.texture_max > 0.75 * whole.texture_max  # white noise is what a shift hurts most


def test_a_frame_like_a_ribbon_is_refused():
    with pytest.raises(capsieve.FrameError, match="times as high as wide"):
        analyze(np.zeros((4000, 40), np.uint8))


@pytest.mark.parametrize("wrong", [None, "x", {"width": 256}])
def test_parameters_of_another_kind_are_refused(polyp, wrong):
    with pytest.raises(capsieve.ParameterError, match="parameters: must be Parameters"):
        analyze(polyp, wrong)


@pytest.mark.parametrize("wrong", ["auto", (127, 127, 100)])
def test_a_field_of_view_of_another_kind_is_refused(polyp, wrong):
    with pytest.raises(capsieve.FrameError, match="must be a FieldOfView"):
        analyze(polyp, field_of_view=wrong)
