"""Types, shapes, sizes and fields of view that Algorithm 1 accepts and rejects."""

import numpy as np
import pytest

import capsieve
from capsieve.frames import FieldOfView
from capsieve.paper.algorithm import analyze, explain
from sample_frames import smooth_noise


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
def test_black_white_and_saturated_frames_are_normal(frame, reason):
    result = analyze(frame)
    assert result.label == "normal"
    assert np.isfinite(result.texture_max)
    if reason:
        assert (result.reason, result.texture_max) == (reason, 0.0)


def test_grey_rgba_and_wider_types_give_the_result_of_rgb(polyp):
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


@pytest.mark.parametrize("memory", ["F", "strided", "read-only", "reversed"])
def test_result_does_not_depend_on_the_layout_in_memory(polyp, memory):
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
def test_enlarged_frame_has_the_same_result(polyp, factor):
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
def test_circle_of_a_field_of_view_gets_the_papers_geometry(polyp, above, left, scale):
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


def test_field_of_view_outside_the_frame_is_rejected(polyp):
    with pytest.raises(capsieve.FrameError):
        analyze(polyp, field_of_view=FieldOfView("circle", 300.0, 300.0, 250.0, 1.0))


@pytest.mark.parametrize(
    "frame",
    [
        np.zeros((0, 0), np.uint8),
        np.zeros((256, 256, 2), np.uint8),
        np.zeros((3, 256, 256), np.uint8),
        np.zeros((2, 256, 256, 3), np.uint8),
        np.zeros(7, np.uint8),
        np.full((256, 256), np.nan, np.float32),
        np.full((256, 256), np.inf),
        np.full((256, 256), 300.0),
        np.zeros((16, 16), np.uint8),
        np.zeros((22, 600), np.uint8),
        np.array([["a"] * 30] * 30),
        "no-frame",
        None,
    ],
)
@pytest.mark.parametrize("function", [analyze, explain])
def test_invalid_frames_are_rejected(function, frame):
    floating = isinstance(frame, np.ndarray) and frame.dtype.kind == "f"
    with pytest.raises(capsieve.FrameError):
        function(frame, value_range=(0, 255) if floating else None)


def test_float_frames_need_a_value_range():
    with pytest.raises(capsieve.FrameError):
        analyze(np.zeros((256, 256)))


def test_field_of_view_with_confidence_0_is_ignored():
    frame = smooth_noise((256, 340), seed=9)
    nothing = FieldOfView("full", 127.5, 169.5, 128.0, 0.0)
    assert analyze(frame, field_of_view=nothing) == analyze(frame)


@pytest.mark.parametrize("radius", [1e-300, 1.0, 10.0])
def test_field_of_view_of_a_few_pixels_is_rejected(polyp, radius):
    with pytest.raises(capsieve.FrameError):
        analyze(polyp, field_of_view=FieldOfView("circle", 127.0, 127.0, radius))


def test_shifted_field_of_view_is_interpolated_and_not_averaged():
    # At scale 1 a shift by half a pixel is interpolated, not averaged.
    noisy = smooth_noise((300, 300), seed=4)
    whole = analyze(noisy, field_of_view=FieldOfView("circle", 150.0, 150.0, 128.0))
    half = analyze(noisy, field_of_view=FieldOfView("circle", 150.5, 150.5, 128.0))
    less = analyze(noisy, field_of_view=FieldOfView("circle", 150.5, 150.5, 127.999))
    assert half.texture_max == pytest.approx(less.texture_max, rel=1e-2)
    assert half.texture_max > 0.75 * whole.texture_max  # white noise is what a shift hurts most


def test_frame_more_than_four_times_as_high_as_wide_is_rejected():
    with pytest.raises(capsieve.FrameError):
        analyze(np.zeros((4000, 40), np.uint8))


@pytest.mark.parametrize("wrong", [None, "x", {"width": 256}])
def test_objects_other_than_parameters_are_rejected(polyp, wrong):
    with pytest.raises(capsieve.ParameterError):
        analyze(polyp, wrong)


@pytest.mark.parametrize("wrong", ["auto", (127, 127, 100)])
def test_objects_other_than_a_field_of_view_are_rejected(polyp, wrong):
    with pytest.raises(capsieve.FrameError):
        analyze(polyp, field_of_view=wrong)
